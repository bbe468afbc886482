/** An image keeps the compiled code of its program: a server and a command that find it load no compiler of types, in no thread. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  type Environment,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Notes in a file, at the end of each thread, whether it has loaded Node's compiler. Each thread passes it to those it starts. */
const noting = (file: string) => `
  import { appendFileSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import threads from 'node:worker_threads';
  threads.Worker = class extends threads.Worker {
    constructor(url, options) {
      super(url, { ...options, execArgv: ['--import', import.meta.url] });
    }
  };
  syncBuiltinESMExports();
  process.on('exit', () => {
    const compiles = process.moduleLoadList.some((name) => name.includes('amaro'));
    appendFileSync(${JSON.stringify(file)}, (threads.threadName || 'main') + ' ' + compiles + '\\n');
  });`;

describe('the compiled code that scripts/keep-compiled.ts leaves', () => {
  let folder = '';
  let dataDir = '';

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-compiled-'));
    dataDir = makeDataDir();
  });
  after(() => {
    rmSync(folder, { recursive: true });
    removeDataDir(dataDir);
  });

  /** Runs a program whose threads note what they load, and returns the lines. */
  async function notesOf(work: (env: Environment) => Promise<unknown>): Promise<string[]> {
    const file = join(folder, 'notes');
    const url = `data:text/javascript,${encodeURIComponent(noting(file))}`;
    await work({ NODE_COMPILE_CACHE: join(folder, 'cache'), NODE_OPTIONS: `--import=${url}` });
    const notes = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    rmSync(file);
    return [...new Set(notes)].sort();
  }

  const useServer = async (env: Environment) => {
    const server = await Server.start(dataDir, { ...env, PHM_ENTROPY_SOURCES: 'os,jitter' });
    const answers = [
      await server.request('/api/v2/openapi.json'),
      await server.generate({ security_level: 256, enable_nist_validation: true }),
      await server.metrics(),
    ];
    assert.equal(await server.stop(), 0);
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 200]);
  };

  const useCommand = async (env: Environment) => {
    const { code, stderr } = await runPhm(['account', 'list'], dataDir, env);
    assert.equal(code, 0, stderr);
  };

  it('is all that a server and a command need', async () => {
    const compiling = await notesOf(useServer);
    assert.ok(
      compiling.includes('main true') && compiling.includes('phm-keys true'),
      `${compiling}`,
    );
    rmSync(join(folder, 'cache'), { recursive: true });

    const args = [join(ROOT, 'scripts/keep-compiled.ts'), ROOT];
    const { PATH, TMPDIR } = process.env;
    const env = { PATH, TMPDIR, NODE_COMPILE_CACHE: join(folder, 'cache') };
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);

    assert.deepEqual(await notesOf(useCommand), ['main false']);
    const threads = await notesOf(useServer);
    for (const name of ['main', 'phm-keys', 'phm-log', 'phm-stats', 'phm-suite']) {
      assert.ok(threads.includes(`${name} false`), `${name}: ${threads}`);
    }
    assert.deepEqual(
      threads.filter((line) => line.endsWith('true')),
      [],
    );
  });
});
