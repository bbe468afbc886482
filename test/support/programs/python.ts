/** Python for tests: a virtual environment with pinned packages, created once and kept in build/. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'build/python');

/** The environments that tests share, each with the file that pins its packages. */
const REQUIREMENTS = {
  agent: 'test/slow/clients/agent-requirements.txt',
  client: 'sdk/python/tests/requirements.txt',
  forms: 'test/slow/lab/requirements.txt',
  generated: 'test/generated/requirements.txt',
  release: 'test/release/requirements.txt',
} as const;

type SharedName = keyof typeof REQUIREMENTS;

export const SHARED_PYTHON = Object.keys(REQUIREMENTS) as SharedName[];

/** The oldest Python that the pinned packages run on. */
const OLDEST = [3, 10] as const;

const NO_PYTHON = `there is no python3 of version ${OLDEST.join('.')} or newer with venv here`;

/** Another run may still be creating or using an environment younger than this. */
const LEFTOVER_MS = 3_600_000;

const INSTALL_TIMEOUT_MS = 600_000;

interface PythonEnvironment {
  /** The environment's interpreter. Call programs as `-m <module>`, never by their scripts. */
  readonly python: string;
  /** The reason why there is no environment, or false, as `node:test` expects in `skip`. */
  readonly skip: string | false;
}

/**
 * Returns a virtual environment with the exactly pinned packages of a requirements file. The first call creates
 * it; later calls and other processes use it until the file or the interpreter changes. pip takes its index
 * from the machine's own configuration.
 */
export async function pythonEnvironment(
  name: string,
  requirementsFile: string,
): Promise<PythonEnvironment> {
  const base = await findPython();
  if (base === undefined) return lacking(NO_PYTHON);
  const target = placeOf(name, requirementsFile, base);
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  removeLeftovers(folder, target);
  const python = interpreterOf(target);
  if ((await runPython(python, ['-c', ''])).ok) return { python, skip: false };
  const skip = await makeEnvironment(base.path, target, requirementsFile);
  return skip === false ? { python, skip } : lacking(skip);
}

/** Returns an environment that tests share, as `pythonEnvironment` does. */
export function sharedPython(name: SharedName): Promise<PythonEnvironment> {
  return pythonEnvironment(name, join(ROOT, REQUIREMENTS[name]));
}

function placeOf(name: string, requirementsFile: string, base: BasePython): string {
  const pins = readFileSync(requirementsFile, 'utf8');
  const digest = createHash('sha256').update(`${pins}\n${base.path}\n${base.version}`);
  return join(CACHE, name, digest.digest('hex').slice(0, 16));
}

function lacking(skip: string): PythonEnvironment {
  return { python: '', skip };
}

function interpreterOf(environment: string): string {
  return join(environment, 'bin/python');
}

interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Python without the user's own packages and PYTHON… variables. */
function runPython(python: string, args: readonly string[]): Promise<Outcome> {
  // pip may be configured to install for the user, which an environment refuses.
  const env = { ...process.env, PIP_USER: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  return new Promise((done) => {
    execFile(
      python,
      ['-I', ...args],
      { env, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 2 ** 24 },
      (error, stdout, stderr) => done({ ok: error === null, stdout, stderr }),
    );
  });
}

interface BasePython {
  readonly path: string;
  readonly version: string;
}

const ABOUT = `
import ensurepip, json, sys, venv
print(json.dumps({"path": sys.executable, "release": sys.version_info[:2], "version": sys.version}))
`;

/** Returns the first `python3` on PATH that is new enough and can create environments. */
async function findPython(): Promise<BasePython | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const path of folders.map((folder) => join(folder, 'python3')).filter(existsSync)) {
    const { ok, stdout } = await runPython(path, ['-c', ABOUT]);
    if (!ok) continue;
    const about = JSON.parse(stdout) as { path: string; release: number[]; version: string };
    const [major = 0, minor = 0] = about.release;
    if (major === OLDEST[0] && minor >= OLDEST[1]) return about;
  }
  return undefined;
}

/** Creates the environment beside its place and then renames it, so that the place always holds a complete one. */
async function makeEnvironment(
  base: string,
  target: string,
  requirementsFile: string,
): Promise<string | false> {
  const partial = mkdtempSync(`${target}.`);
  try {
    const made = await runPython(base, ['-m', 'venv', partial]);
    if (!made.ok) return `python3 cannot make a virtual environment: ${lastLine(made)}`;
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--retries', '2'];
    // The files pin all packages, also those that others bring.
    const wheels = ['--only-binary', ':all:', '--no-deps', '--requirement', requirementsFile];
    const installed = await runPython(interpreterOf(partial), [...pip, ...wheels]);
    if (!installed.ok) return `pip cannot install what is pinned: ${lastLine(installed)}`;
    moveInto(partial, target);
    return false;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Another process may have been faster. Its environment is as good, unless its interpreter is gone. */
function moveInto(partial: string, target: string): void {
  if (!existsSync(interpreterOf(target))) rmSync(target, { recursive: true, force: true });
  try {
    renameSync(partial, target);
  } catch (error) {
    if (!existsSync(interpreterOf(target))) throw error;
  }
}

function lastLine({ stdout, stderr }: Outcome): string {
  return `${stdout}\n${stderr}`.trim().split('\n').at(-1)?.trim() ?? '';
}

/** Removes what interrupted runs and earlier pins have left. */
function removeLeftovers(folder: string, target: string): void {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    if (path === target) continue;
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LEFTOVER_MS) rmSync(path, { recursive: true, force: true });
  }
}
