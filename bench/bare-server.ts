/**
 * The yardstick of `bench/http.ts` and `bench/scale.ts`: one Fastify route that parses a JSON body and returns an object.
 * It has no key, no ledger, no authentication and no log.
 *
 * Its first argument is the object: an answer of the real server, so that both send the same fields. The second is a number
 * of threads that it starts and that do nothing.
 */
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import Fastify from 'fastify';

const answer: object = JSON.parse(process.argv[2] ?? '{}');

const threads = Number(process.argv[3] ?? 0);

const app = Fastify();

app.post('/api/v2/generate', async () => answer);

await app.listen({ host: '127.0.0.1', port: 0 });
for (let i = 0; i < threads; i++) new Worker('setInterval(() => {}, 2 ** 30)', { eval: true });
const { port } = app.server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
