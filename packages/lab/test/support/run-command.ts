/** Runs the command line of `phm-lab` in this process, without starting Node for each command. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { runLab } from '../../src/commands/program.ts';

type Environment = Readonly<Record<string, string>>;

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the reports say of the program. */
export const SOFTWARE = {
  program: 'phm-lab 1.2.3',
  build: 'phm-lab/1.2.3+0123456789abcdef',
} as const;

// Each long command adds one listener for a closed output.
process.stdout.setMaxListeners(0);

/** Runs a command to its end. */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
  launcher = 'bin/phm-lab',
): Promise<RunResult> {
  let stdout = '';
  let stderr = '';
  const code = await runLab(args, {
    env,
    name: 'phm-lab',
    version: '1.2.3',
    launcher,
    umask: 0o022,
    page: join(tmpdir(), 'none.html'),
    software: () => SOFTWARE,
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
  });
  return { code, stdout, stderr };
}

/** Runs a command with `--json` and parses its data. Throws with standard error if it fails. */
export async function commandJson<T = Record<string, unknown>>(
  args: readonly string[],
  env: Environment = {},
): Promise<T> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], env);
  if (code !== 0) throw new Error(`phm-lab ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Runs a command that reads `input` from standard input. */
export async function runCommandOn(
  input: string | Uint8Array,
  args: readonly string[],
  env: Environment = {},
): Promise<RunResult> {
  const stdin = Readable.from([Buffer.from(input)], { objectMode: false });
  const stub = mock.getter(process, 'stdin', () => stdin);
  try {
    return await runCommand(args, env);
  } finally {
    stub.mock.restore();
  }
}

/** Makes an empty folder, which the caller removes. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'phm-lab-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
