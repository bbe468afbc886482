/**
 * Starts the server of an installation on an empty data directory, ends it, and lists the commands, so that Node keeps the code that it
 * compiled. It is the last step of an image's build: a container cannot write it, and each thread and command would load Node's
 * compiler.
 *
 *   node scripts/keep-compiled.ts [FOLDER]
 *
 * Node keeps compiled code for one user ID, so run it as the user that runs the server. That user must be able to write
 * build/compile-cache of the folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** After it is ready, a server compiles what checks requests. */
const AFTER_READY_MS = 2_000;

const program = join(resolve(process.argv[2] ?? '.'), 'src/main.mjs');
const folder = mkdtempSync(join(tmpdir(), 'phm-keep-compiled-'));
try {
  await runServer(join(folder, 'data'));
  // The help of the program loads the files of all commands.
  await succeeded(start(['--help']));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts a server, and ends it once it is ready. */
async function runServer(dataDir: string): Promise<void> {
  const settings = { PHM_DATA_DIR: dataDir, PHM_PORT: '0', PHM_DRAIN_SECONDS: '0' };
  const server = start(['serve', '--json'], settings);
  createInterface(server.stdout).once('line', async () => {
    await delay(AFTER_READY_MS);
    server.kill('SIGTERM');
  });
  await succeeded(server);
}

function start(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings };
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  return child;
}

/** Resolves when the program has ended. Throws if it failed. */
async function succeeded(child: ChildProcess): Promise<void> {
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code ?? signal}`);
}
