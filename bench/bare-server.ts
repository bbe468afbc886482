/**
 * The yardstick of `bench/http.ts`: one Fastify route that parses a JSON body and returns an object like
 * the answer of a plain generate. It has no key, no ledger, no authentication and no log.
 */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';

const app = Fastify();

app.post('/api/v2/generate', async () => ({
  success: true,
  key_id: 'phm_2170337194742181684178339021441767381',
  key: 'bb75d3eed9e5fdc383ee025944c6c878b547a7c965e956c67d5fe53c45d5d367',
  security_level: 256,
  entropy_bits: 254.78,
  latency_ms: 1.019,
  timestamp: '2026-11-21T11:34:10.194+00:00',
}));

await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
