/** Makes releases of this checkout's commit for tests, and installs and starts what is in them. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Environment, environment } from '../servers/server.ts';
import { ROOT } from '../texts/imports.ts';

/** The environment without what `npm run` sets for this project, and without this project's programs. */
export const OWN_ENVIRONMENT: Environment = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ||
      /^(?:PHM_|NODE_|npm_(?!config_(?:registry|userconfig|cache)$))/i.test(name)
        ? []
        : [[name, value]],
    ),
  ),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
  // `npm ci` of this project has filled the cache.
  npm_config_prefer_offline: 'true',
};

/** Runs a program and resolves with its standard output. A failure names both outputs. */
export async function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  env: Environment = OWN_ENVIRONMENT,
): Promise<string> {
  const options = { cwd: folder, env, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const command = `${program} ${args.join(' ')}`;
    throw new Error(`${command}\n${stdout}${stderr}`, { cause: error });
  }
}

/** The reason why no release can be made here, or false. */
export const noRelease: string | false = existsSync(join(ROOT, '.git'))
  ? false
  : 'this is a copy without git history';

/** Clones a commit, this checkout's by default, into a folder, and dates its changelog if that is still to do. */
export function cloneDated(folder: string, source: string = ROOT): void {
  mkdirSync(dirname(folder), { recursive: true });
  execFileSync('git', ['clone', '--quiet', source, folder]);
  const text = execFileSync('git', ['show', 'HEAD:CHANGELOG.md'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (!/^## Unreleased/m.test(text)) return;
  const set = ['scripts/release-version.ts', '--date', '2026-11-24'];
  execFileSync(process.execPath, set, { cwd: folder });
  const identity = ['-c', 'user.name=Release', '-c', 'user.email=release@example.org'];
  const commit = [
    'commit',
    '--quiet',
    '--all',
    '--no-verify',
    '--message=release',
    '--no-gpg-sign',
  ];
  execFileSync('git', [...identity, ...commit], { cwd: folder });
}

/** Makes a release in a clone. `wrapper` is a shell prefix such as `umask 077;`. */
export function makeRelease(
  clone: string,
  out: string,
  wrapper = '',
  env: Environment = {},
): Promise<string> {
  const script = `${wrapper} "$@"`;
  const args = ['-ec', script, 'sh', process.execPath, 'scripts/release.ts', '--out', out];
  return runIn(clone, 'sh', args, { ...OWN_ENVIRONMENT, ...env });
}

/** The plain files below a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export interface Started {
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the service of an installed folder by its own launcher, and waits until it listens. */
export async function startInstalled(folder: string, dataDir: string): Promise<Started> {
  const { PATH = '' } = OWN_ENVIRONMENT;
  const child = spawn(join(folder, 'bin/phm'), ['serve', '--json'], {
    cwd: dataDir,
    env: environment(dataDir, { PATH, PHM_PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  };
  const line = await new Promise<string>((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done);
    child.once('close', () => fail(new Error(`the service in ${folder} did not start:\n${log}`)));
  });
  return { address: (JSON.parse(line) as { address: string }).address, stop };
}
