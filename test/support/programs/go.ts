/** Builds the Go programs of test/interop, which are or use other people's code. */
import { execFile, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Folder of the module with programs for the log. */
const INTEROP = resolve(import.meta.dirname, '../../interop');

/** Folder of the module with the program for sealed keys, which needs nothing but Go itself. */
export const SEALING: string = resolve(INTEROP, 'sealing');

/** Folder of the module with the program for encrypted files, which uses tink-go. */
export const FILES: string = resolve(INTEROP, 'files');

/** Folder of the module with the program for agents, which needs nothing but Go itself. */
export const AGENT: string = resolve(INTEROP, 'agent');

/** The first release that downloads the release of a go.mod by itself. */
const OLDEST_RELEASE = 21;

/** Time for downloads; compiling a witness with its database takes up to two minutes more. */
const DOWNLOAD_MS = 240_000;
const BUILD_MS = 600_000;

export interface Result {
  readonly code: number;
  readonly output: string;
}

export function run(
  program: string,
  args: readonly string[],
  { cwd, timeout = 60_000, input }: { cwd?: string; timeout?: number; input?: string } = {},
): Promise<Result> {
  // Go may download the release of go.mod, whatever the machine's settings say.
  const options = {
    cwd,
    timeout,
    env: { ...process.env, GOTOOLCHAIN: 'auto' },
    maxBuffer: 2 ** 26,
  };
  return new Promise((done) => {
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      done({ code: error ? 1 : 0, output: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

/** The reason why no Go program can be built, or undefined. */
export function noGo(): string | undefined {
  const { status, stdout } = spawnSync('go', ['version'], { encoding: 'utf8' });
  if (status !== 0) return 'Go is missing';
  const release = Number(/go1\.(\d+)/.exec(stdout)?.[1]);
  return release >= OLDEST_RELEASE
    ? undefined
    : `Go 1.${release} is older than 1.${OLDEST_RELEASE}`;
}

/**
 * Builds packages of a module into a folder. Returns the reason if their modules cannot be downloaded. Throws if they do
 * not compile.
 */
export async function buildGo(
  folder: string,
  packages: readonly string[],
  module: string = INTEROP,
): Promise<string | undefined> {
  const list = ['list', '-deps', ...packages];
  const found = await run('go', list, { cwd: module, timeout: DOWNLOAD_MS });
  if (found.code !== 0) return `Go's modules cannot be downloaded: ${found.output.slice(-300)}`;
  const build = ['build', '-o', `${folder}/`, ...packages];
  const built = await run('go', build, { cwd: module, timeout: BUILD_MS });
  if (built.code !== 0) throw new Error(`go ${build.join(' ')}: ${built.output}`);
  return undefined;
}
