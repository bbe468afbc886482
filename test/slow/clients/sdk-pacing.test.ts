/** 100 concurrent calls with a Research key (10 per second, bucket of 20) against the real service. Each test has its own key. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { PhmClient } from '../../../sdk/src/index.ts';
import { PATIENCE_MS } from '../../support/run/until.ts';
import { makeDataDir, phmJson, removeDataDir, Server } from '../../support/servers/server.ts';

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

describe('100 concurrent calls on a Research key', { concurrency: true }, () => {
  const dataDir = makeDataDir();
  const apiKeys: string[] = [];
  let server: Server;

  before(async () => {
    server = await Server.start(dataDir);
    const create = ['account', 'create', '--name', 'pacing', '--plan', 'research'];
    const { account_id } = await phmJson<{ account_id: string }>(create, dataDir);
    for (let i = 0; i < 3; i += 1) {
      const issue = ['api-key', 'issue', '--account', account_id];
      apiKeys.push((await phmJson<{ api_key: string }>(issue, dataDir)).api_key);
    }
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  for (const [i, removed] of [false, true].entries()) {
    const where = removed ? 'behind a proxy that removes the headers' : 'with a single client';
    it(`all succeed ${where}`, async () => {
      const bare = async (url: string, init: RequestInit) => {
        const { status, body, headers } = await fetch(url, init);
        const named = { 'x-request-id': headers.get('x-request-id') ?? '' };
        return new Response(body, { status, headers: named });
      };
      const options = { baseUrl: server.address, apiKey: apiKeys[i] ?? '', timeoutMs: PATIENCE_MS };
      const phm = new PhmClient(removed ? { ...options, fetch: bare } : options);
      const startedMs = performance.now();
      const call = () => phm.generate({ security_level: 256 });
      const answers = await Promise.all(Array.from({ length: 100 }, call));
      assert.equal(new Set(answers.map(({ key }) => key)).size, 100);
      assert.ok(performance.now() - startedMs > 7_000, 'the limit was not in force');
    });
  }

  it('all succeed in two processes with the same key', async () => {
    const args = ['--input-type=module', '--eval', PROGRAM, server.address, apiKeys[2] ?? ''];
    const run = () => promisify(execFile)(process.execPath, args);
    const ends = await Promise.all([run(), run()]);
    assert.deepEqual(
      ends.map(({ stdout }) => stdout),
      ['100', '100'],
    );
  });
});
