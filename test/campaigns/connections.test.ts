/**
 * A client opens connections without end, over TLS, to a server with the default limit and the memory of
 * deploy/compose. Six tricks, each until 5,000 connections (500 in a sample) or 20 s; one to two and a half minutes in
 * full, no seed.
 *
 * Expected: memory stays below the limit, so the server is not killed; after each trick 20 of 20 honest clients get a key;
 * in full, never six failed probes in a row, which would restart it in a cluster.
 */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readYaml } from '../deploy/files.ts';
import { Hostile, TRICKS, type Trick } from '../support/clients/hostile.ts';
import { reportTime, sized } from '../support/run/campaign.ts';
import { MemoryGroup } from '../support/run/memory-group.ts';
import { PATIENCE_MS } from '../support/run/until.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import {
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  Server,
} from '../support/servers/server.ts';

const HELD = sized({ sample: 500, full: 8_000 });
/** Twice the connections that the server serves and lets wait. */
const MADE = sized({ sample: 500, full: 5_000 });
const TRICK_MS = 20_000;
const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 5_000;
const HONEST = 20;
/** Some handshakes of the flood precede those of the clients. */
const ANSWER_MS = sized({ sample: PATIENCE_MS, full: 30_000 });

const [compose] = readYaml('deploy/compose/compose.yaml');
const [statefulSet] = readYaml('deploy/kubernetes/base/statefulset.yaml');
const limitBytes = Number.parseInt(compose.services['replica-a'].mem_limit, 10) * 2 ** 20;
const { failureThreshold } = statefulSet.spec.template.spec.containers[0].livenessProbe;

const group = MemoryGroup.make(limitBytes);

describe('a flood of connections', { skip: !group && 'no control group can be made here' }, () => {
  const dataDir = makeDataDir();
  const tls = { PHM_TLS_CERT_FILE: join(dataDir, 'cert'), PHM_TLS_KEY_FILE: join(dataDir, 'key') };
  let server: Server;

  before(async () => {
    makeCertificate(tls.PHM_TLS_CERT_FILE, tls.PHM_TLS_KEY_FILE);
    const env = { ...tls, PHM_METRICS_PORT: '0', PHM_RATE_LIMITS: 'off' };
    const begin = () => Server.start(dataDir, env);
    server = await (group ? group.start(begin) : begin());
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await group?.remove();
    removeDataDir(dataDir);
  });

  /** Returns the status of a response on a connection of its own; 0 if there is none. */
  const ask = (path: string, timeout: number, body?: string): Promise<number> =>
    new Promise((resolve) => {
      const headers = { 'x-api-key': DEMO_PROFESSIONAL_KEY, 'content-type': 'application/json' };
      const method = body === undefined ? 'GET' : 'POST';
      const options = { agent: false, rejectUnauthorized: false, method, headers };
      const sent = request(`${server.address}${path}`, options, (answer) => {
        answer.on('error', () => {}).resume();
        resolve(answer.statusCode ?? 0);
      });
      const timer = setTimeout(() => sent.destroy(), timeout);
      sent.on('error', () => resolve(0)).on('close', () => clearTimeout(timer));
      sent.end(body);
    });

  /** Probes until stopped. Resolves with the longest run of failures and the number of probes. */
  const probe = async (signal: AbortSignal) => {
    let [probes, run, longest] = [0, 0, 0];
    while (!signal.aborted) {
      const ok = (await ask('/livez', PROBE_TIMEOUT_MS)) === 200;
      probes += 1;
      run = ok ? 0 : run + 1;
      longest = Math.max(longest, run);
      await delay(PROBE_EVERY_MS);
    }
    return { probes, longest };
  };

  for (const trick of Object.keys(TRICKS) as Trick[]) {
    it(`does not stop the server: ${trick}`, async (test) => {
      const hostile = new Hostile(server.address, trick, DEMO_PROFESSIONAL_KEY);
      const end = new AbortController();
      const probing = probe(end.signal);
      let page: string;
      try {
        hostile.hold(HELD);
        await hostile.made(MADE, TRICK_MS);
        page = await server.scrape();
      } finally {
        // Also after a failure: connections that are replaced for ever would keep this process running.
        end.abort();
        hostile.end();
      }
      const { probes, longest } = await probing;
      const { connected, closed, most } = hostile;
      const answers = await Promise.all(
        Array.from({ length: HONEST }, () =>
          ask('/api/v2/generate', ANSWER_MS, '{"security_level":256}'),
        ),
      );
      const mib = Math.round((group?.peakBytes ?? 0) / 2 ** 20);
      process.stdout.write(
        `# ${trick}: ${connected} connections, at most ${most} at a time, ${closed} closed by the server; ${probes} probes; ` +
          `peak ${mib} MiB of ${limitBytes / 2 ** 20}\n`,
      );
      assert.match(page, /^phm_http_connections\{state="waiting"\} \d+$/m);
      assert.deepEqual(answers, Array(HONEST).fill(200));
      assert.ok((group?.peakBytes ?? 0) < limitBytes);
      const name = `probes that failed in a row, with ${trick}`;
      reportTime(test, { name, value: longest, atMost: failureThreshold - 1, unit: 'probes' });
    });
  }
});
