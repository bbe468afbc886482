/** The programs of docs/examples/sealed/ in three languages, as they are there, against a real server. 15 s. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { buildGo, noGo, SEALING } from '../../support/programs/go.ts';
import { sharedPython } from '../../support/programs/python.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';
import { ROOT } from '../../support/texts/imports.ts';

const EXAMPLES = join(ROOT, 'docs/examples/sealed');
const CLIENT_SOURCES = join(ROOT, 'test/support/clients/client-sources.ts');

const folder = makeDataDir();
const python = await sharedPython('client');
const withoutGo = noGo() ?? (await buildGo(folder, [join(EXAMPLES, 'new-sealed-key.go')], SEALING));
for (const [name, reason] of [
  ['Python', python.skip],
  ['Go', withoutGo],
]) {
  if (reason) process.stderr.write(`sealed-key-examples in ${name}: skipped: ${reason}\n`);
}

describe('the example of a sealed key', () => {
  let server: Server;

  before(async () => {
    server = await Server.start(join(folder, 'data'));
  });
  after(async () => {
    await server?.stop();
    removeDataDir(folder);
  });

  async function run(program: string, args: readonly string[], apiKey = DEMO_KEY): Promise<string> {
    const env = {
      ...process.env,
      PHM_URL: server.address,
      PHM_API_KEY: apiKey,
      PYTHONPATH: join(ROOT, 'sdk/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '127.0.0.1',
    };
    return (await promisify(execFile)(program, args, { env, timeout: 60_000 })).stdout;
  }

  it('runs in TypeScript', async () => {
    const program = join(EXAMPLES, 'new-sealed-key.ts');
    const printed = await run(process.execPath, ['--import', CLIENT_SOURCES, program]);
    assert.match(printed, /^phm_\d+: 256 bits, receipt valid\n$/);
  });

  it('runs in Python', { skip: python.skip }, async () => {
    const printed = await run(python.python, [join(EXAMPLES, 'new-sealed-key.py')]);
    assert.match(printed, /^phm_\d+: 256 bits, receipt valid\n$/);
  });

  it('runs in Go, with its standard library alone', { skip: withoutGo ?? false }, async () => {
    const program = join(folder, 'new-sealed-key');
    assert.match(await run(program, []), /^phm_\d+: 256 bits, receipt not checked\n$/);
    await assert.rejects(run(program, [], 'wrong'), /Check the API key/);
  });
});
