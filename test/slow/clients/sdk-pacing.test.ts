/** 100 concurrent calls with a Research key (10 per second, bucket of 20) against the real service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { PhmClient } from '../../../sdk/src/index.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/server.ts';
import { PATIENCE_MS } from '../../support/until.ts';

/** A process that prints how many of 100 calls succeeded, and exits by itself. */
const PROGRAM = `
import { PhmClient } from ${JSON.stringify(new URL('../../../sdk/src/index.ts', import.meta.url).href)};
const [baseUrl, apiKey] = process.argv.slice(1);
const phm = new PhmClient({ baseUrl, apiKey, timeoutMs: ${PATIENCE_MS} });
const call = () => phm.generate({ security_level: 256 });
const ends = await Promise.allSettled(Array.from({ length: 100 }, call));
const keys = new Set(ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value.key] : [])));
process.stdout.write(String(keys.size));
`;

describe('100 concurrent calls on a Research key', () => {
  let server: Server;
  let dataDir: string;

  before(async () => {
    dataDir = makeDataDir();
    server = await Server.start(dataDir);
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  for (const removed of [false, true]) {
    const where = removed ? 'behind a proxy that removes the headers' : 'with a single client';
    it(`all succeed ${where}`, async () => {
      const bare = async (url: string, init: RequestInit) => {
        const { status, body, headers } = await fetch(url, init);
        const named = { 'x-request-id': headers.get('x-request-id') ?? '' };
        return new Response(body, { status, headers: named });
      };
      const options = { baseUrl: server.address, apiKey: DEMO_KEY, timeoutMs: PATIENCE_MS };
      const phm = new PhmClient(removed ? { ...options, fetch: bare } : options);
      const startedMs = performance.now();
      const call = () => phm.generate({ security_level: 256 });
      const answers = await Promise.all(Array.from({ length: 100 }, call));
      assert.equal(new Set(answers.map(({ key }) => key)).size, 100);
      assert.ok(performance.now() - startedMs > 7_000, 'the limit was not in force');
    });
  }

  it('all succeed in two processes with the same key', async () => {
    const args = ['--input-type=module', '--eval', PROGRAM, server.address, DEMO_KEY];
    const run = () => promisify(execFile)(process.execPath, args);
    const ends = await Promise.all([run(), run()]);
    assert.deepEqual(
      ends.map(({ stdout }) => stdout),
      ['100', '100'],
    );
  });
});
