/**
 * Starts the server of an installation on an empty data directory, and ends it, so that Node keeps the code that it compiled. It is
 * the last step of an image's build: a container cannot write it, and each thread of its server would load Node's compiler.
 *
 *   node scripts/keep-compiled.ts [FOLDER]
 *
 * Node keeps compiled code for one user ID, so run it as the user that runs the server. That user must be able to write
 * build/compile-cache of the folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** After it is ready, a server compiles what checks requests. */
const AFTER_READY_MS = 2_000;

const root = resolve(process.argv[2] ?? '.');
const folder = mkdtempSync(join(tmpdir(), 'phm-keep-compiled-'));
try {
  process.exitCode = await runServer(join(root, 'src/main.mjs'), join(folder, 'data'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts a server, ends it once it is ready, and returns its exit code. */
async function runServer(program: string, dataDir: string): Promise<number> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH,
    NODE_COMPILE_CACHE,
    PHM_DATA_DIR: dataDir,
    PHM_PORT: '0',
    PHM_DRAIN_SECONDS: '0',
  };
  const server = spawn(process.execPath, [program, 'serve', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  createInterface(server.stdout).once('line', async () => {
    await delay(AFTER_READY_MS);
    server.kill('SIGTERM');
  });
  const [code] = await ended;
  return code ?? 1;
}
