/**
 * A copy of the checkout in which mutants are tried: a git worktree below `build/mutants/`, with its packages (hard links, or
 * installed where the commit has others) and built anew. The checkout itself is never changed.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Mutant, mutated } from './list.ts';

/** What a change below a path must build anew, as scripts of package.json. */
export const BUILDS: readonly (readonly [RegExp, 'kernels' | 'pages', string])[] = [
  [/^(packages\/sp800-22\/kernels|src\/modulation\/kernel)\//, 'kernels', 'digests'],
  [/^packages\/(lab|ais-20-31|sp800-22|sp800-90b)\/(src|testbench)\//, 'pages', 'build:testbench'],
  [/^(dashboard\/docs-page|scripts\/docs)\//, 'pages', 'build:docs'],
  [/^(dashboard\/(src|public|index)|sdk\/src|packages\/tlog\/src)/, 'pages', 'build:dashboard'],
];

/** Returns the project of the compiler that a file is in. */
export function projectOf(file: string): string {
  const [project = '.'] =
    /^(packages\/lab\/testbench|dashboard(\/docs-page)?)(?=\/.*src\/)/.exec(file) ?? [];
  return project;
}

/** Unused names are no defect, and a mutant may leave some. */
const TYPES = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];

/** How a program ended, with what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly tooLong: boolean;
}

export class Site {
  readonly root: string;
  readonly #checkout: string;
  readonly #stale = new Set<string>();

  private constructor(checkout: string, root: string) {
    this.#checkout = checkout;
    this.root = root;
  }

  /** Makes the copy of a commit, or takes the one that an earlier run has left. */
  static open(checkout: string, commit: string, number: number): Site {
    const root = join(checkout, 'build/mutants', `${commit.slice(0, 8)}-${number}`);
    const site = new Site(checkout, root);
    if (existsSync(join(root, 'build/dashboard'))) site.#clean();
    else {
      rmSync(root, { recursive: true, force: true });
      site.#make(commit);
    }
    // An interrupted run may have left pages with a mutant.
    site.#npm('build');
    return site;
  }

  #make(commit: string): void {
    mkdirSync(dirname(this.root), { recursive: true });
    const git = (...args: string[]) => execFileSync('git', ['-C', this.#checkout, ...args]);
    git('worktree', 'prune');
    git('worktree', 'add', '--quiet', '--detach', this.root, commit);
    if (this.#hasSamePackages()) this.#linkPackages();
    else execFileSync('npm', ['ci', '--silent'], { cwd: this.root, stdio: 'pipe' });
    const python = join(this.#checkout, 'build/python');
    mkdirSync(python, { recursive: true });
    mkdirSync(join(this.root, 'build'), { recursive: true });
    if (!existsSync(join(this.root, 'build/python')))
      symlinkSync(python, join(this.root, 'build/python'));
  }

  #hasSamePackages(): boolean {
    const [here, there] = [this.#checkout, this.root].map((folder) =>
      readFileSync(join(folder, 'package-lock.json'), 'utf8'),
    );
    return here === there;
  }

  #linkPackages(): void {
    for (const folder of globSync('{,sdk/,dashboard/,packages/*/}node_modules', {
      cwd: this.#checkout,
    })) {
      const [from, to] = [join(this.#checkout, folder), join(this.root, folder)];
      execFileSync('cp', ['-al', from, to]);
    }
  }

  /** Writes a mutant into the copy. */
  apply(mutant: Mutant): void {
    writeFileSync(join(this.root, mutant.file), mutated(mutant, this.root));
    for (const [path, , script] of BUILDS) if (path.test(mutant.file)) this.#stale.add(script);
    this.#build('kernels');
  }

  /** Builds the pages that the mutant is in. Tests in a browser need them, and the server does. */
  buildPages(): void {
    this.#build('pages');
  }

  /** Takes the mutant out again, with all that its tests left in the folder. */
  restore(mutant: Mutant): void {
    this.#clean();
    const scripts = BUILDS.filter(([path]) => path.test(mutant.file)).map(([, , script]) => script);
    const built = scripts.filter((script) => !this.#stale.delete(script));
    for (const script of built) this.#npm(script);
  }

  #clean(): void {
    this.#git('checkout', '--quiet', '--force', 'HEAD');
    this.#git('clean', '--quiet', '--force', '-d');
  }

  #build(what: 'kernels' | 'pages'): void {
    for (const [, kind, script] of BUILDS) {
      if (kind === what && this.#stale.has(script)) {
        // Before the build: one that fails must be done again without the mutant.
        this.#stale.delete(script);
        this.#npm(script);
      }
    }
  }

  /** Compiles a project. */
  types(project: string): Promise<Ended> {
    return this.run(join(this.root, 'node_modules/.bin/tsc'), ['-p', project, ...TYPES], 300_000);
  }

  /** Runs a test file. It is stopped, with all that it started, after `limitMs`. */
  async test(path: string, limitMs: number): Promise<Ended> {
    // The whole path: a test may change its folder, and threads that it then starts take the option as it is.
    const cache = join(this.root, 'test/support/run/compile-cache.mjs');
    const flags = ['--import', cache, '--test-reporter=tap'];
    return this.run(process.execPath, ['--test', ...flags, path], limitMs);
  }

  /** Runs a program in a group of processes, and with a folder for temporary files of its own. */
  async run(program: string, args: readonly string[], limitMs: number): Promise<Ended> {
    const temporary = mkdtempSync(join(tmpdir(), 'phm-mutant-'));
    // Servers for tests may run as another user, who must get through.
    chmodSync(temporary, 0o755);
    const PATH = [join(this.root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH, TMPDIR: temporary };
    const child = spawn(program, args, {
      cwd: this.root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const endGroup = () => endProcesses(child.pid ?? 0);
    process.once('exit', endGroup);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    let tooLong = false;
    const timer = setTimeout(() => {
      tooLong = true;
      endGroup();
    }, limitMs);
    const code = await new Promise<number | null>((done) => child.once('exit', done));
    clearTimeout(timer);
    process.off('exit', endGroup);
    endGroup();
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
    return { code, output, tooLong };
  }

  #npm(script: string): void {
    const options = { cwd: this.root, stdio: 'pipe' } as const;
    execFileSync('npm', ['run', '--silent', script], options);
  }

  #git(...args: readonly string[]): void {
    execFileSync('git', ['-C', this.root, ...args]);
  }

  /** Removes the copy. */
  remove(): void {
    const args = ['-C', this.#checkout, 'worktree', 'remove', '--force', this.root];
    execFileSync('git', args);
  }
}

/** Ends a group of processes, if there are any left. */
function endProcesses(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
