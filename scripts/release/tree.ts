/** The tree that a release is made in: the committed files alone, installed by the lock file and built. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export interface Tree {
  readonly folder: string;
  readonly commit: string;
  /** Time of the commit in seconds since 1970: the time of everything in a release. */
  readonly time: number;
  /** Paths of the committed files. */
  readonly files: readonly string[];
  readonly programs: ReadonlySet<string>;
  /** Runs a program in a folder of the tree and returns what it prints. */
  run(program: string, args: readonly string[], folder?: string): string;
  remove(): void;
}

/** npm names the folder in an SBOM, so it has one name. */
const NAME = 'phm-key-service';

/** These change what npm installs, or how programs work. */
const UNWANTED =
  /^(?:NODE_ENV|NODE_OPTIONS|NODE_PATH|PYTHON.*|npm_config_(?:omit|include|only|production|workspaces?))$/i;

/** Clones the commit of a checkout, installs what the lock file names, and so builds it. */
export function makeTree(checkout: string): Tree {
  const parent = mkdtempSync(join(tmpdir(), 'phm-release-'));
  const folder = join(parent, NAME);
  const git = (at: string, ...args: string[]): string =>
    execFileSync('git', ['-C', at, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const remove = (): void => rmSync(parent, { recursive: true, force: true });
  try {
    git(checkout, 'clone', '--quiet', '--shared', '.', folder);
    const time = Number(git(folder, 'log', '-1', '--format=%ct'));
    const staged = git(folder, 'ls-files', '--stage', '-z').split('\0').filter(Boolean);
    const modes = staged.map((line): [string, string] => [
      line.slice(line.indexOf('\t') + 1),
      line.slice(0, 6),
    ]);
    const env = environment(time);
    const tree: Tree = {
      folder,
      commit: git(folder, 'rev-parse', 'HEAD').trim(),
      time,
      files: modes.map(([file]) => file),
      programs: new Set(modes.filter(([, mode]) => mode === '100755').map(([file]) => file)),
      run: (program, args, at = '.') =>
        execFileSync(program, args, {
          cwd: join(folder, at),
          env,
          encoding: 'utf8',
          maxBuffer: 2 ** 26,
          shell: process.platform === 'win32',
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      remove,
    };
    tree.run('npm', ['ci', '--include=dev', '--include=optional', '--no-audit']);
    return tree;
  } catch (error) {
    remove();
    throw error;
  }
}

/** The environment of all programs: this Node first, one time, zone and language. */
function environment(time: number): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !UNWANTED.test(name));
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  return {
    ...Object.fromEntries(kept),
    PATH: path,
    LC_ALL: 'C',
    TZ: 'UTC',
    SOURCE_DATE_EPOCH: String(time),
  };
}

/** Reads a file of the tree. */
export function readTree(tree: Tree, file: string): Buffer {
  return readFileSync(join(tree.folder, file));
}
