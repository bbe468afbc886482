/**
 * Compiles the program, so that Node keeps the compiled code: the last step of an image's build. A container cannot write it, and each
 * thread and command would load Node's compiler of types.
 *
 *   node scripts/keep-compiled.ts [FOLDER]
 *
 * Node keeps compiled code for one user ID, one version of V8 and the kind of processor that V8 found, and looks for no other. So run it as
 * the user that runs the server, who must be able to write build/compile-cache of the folder, or NODE_COMPILE_CACHE.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { DEMO_ACCOUNTS } from '../src/accounts/index.ts';

/** No server takes so long to start and to make a key, on a slow builder either. */
const LIMIT_MS = 300_000;

/** Files that the program loads when it needs them, and the first files of threads and processes. */
const LOADED_LATER = /\bimport\('(\.[^']+)'\)|\bnew URL\('([^']+\.ts)', import\.meta\.url\)/g;

const root = resolve(process.argv[2] ?? '.');
const folder = mkdtempSync(join(tmpdir(), 'phm-keep-compiled-'));
try {
  const { NODE_COMPILE_CACHE = join(root, 'build/compile-cache') } = process.env;
  enableCompileCache(NODE_COMPILE_CACHE);
  if (getCompileCacheDir() === undefined) throw new Error(`cannot write ${NODE_COMPILE_CACHE}`);
  await compileServer();
  await compileRest();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts a server on an empty data directory, uses it, and ends it. Node also keeps the functions that ran. */
async function compileServer(): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const settings = { PHM_DATA_DIR: join(folder, 'data'), PHM_PORT: '0', PHM_DRAIN_SECONDS: '0' };
  const server = spawn(process.execPath, [join(root, 'src/main.mjs'), 'serve', '--json'], {
    env: { PATH, NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  });
  const ended = once(server, 'exit');
  await use(server).finally(() => {
    server.kill('SIGTERM');
    return ended;
  });
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`the server ended with ${code ?? signal}`);
}

/** Makes a key and asks for its account's sums, for which the server starts a thread. */
async function use({ stdout }: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  const [line] = await once(createInterface(stdout), 'line', {
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const { address } = JSON.parse(line) as { address: string };
  const [{ apiKey } = { apiKey: '' }] = DEMO_ACCOUNTS;
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ security_level: 256, enable_nist_validation: true });
  await requireOk(`${address}/api/v2/generate`, { method: 'POST', headers, body });
  await requireOk(`${address}/api/v2/metrics`, { headers });
}

async function requireOk(url: string, init: RequestInit): Promise<void> {
  const { status } = await fetch(url, init);
  if (status !== 200) throw new Error(`${url} answered ${status}`);
}

/** Compiles what such a server did not load: the other ledger, the other sources, the commands. It runs none of it. */
async function compileRest(): Promise<void> {
  const stop = 'compiled';
  writeFileSync(join(folder, 'stop.mjs'), `throw new Error('${stop}');\n`);
  const all = join(folder, 'all.mjs');
  // All are compiled before the first of them runs, and that one throws.
  const imports = ['./stop.mjs', ...filesLoadedLater()].map((file) => `import '${file}';\n`);
  writeFileSync(all, imports.join(''));
  await import(pathToFileURL(all).href).catch(({ message }: Error) => {
    if (message !== stop) throw new Error(message);
  });
}

function filesLoadedLater(): Set<string> {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(root, 'src', path));
  const found = paths.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(LOADED_LATER)].map(([, file, first]) =>
      join(dirname(path), file ?? first ?? ''),
    ),
  );
  return new Set(found.map((path) => pathToFileURL(path).href));
}
