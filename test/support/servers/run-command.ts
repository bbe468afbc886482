/** Runs the command line in this process, without starting Node for each command. */
import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { runCli } from '../../../src/cli/index.ts';
import type { CommandResult, Environment } from './server.ts';

/** A command's standard output, as text and as bytes. */
export interface RunResult extends CommandResult {
  readonly bytes: Buffer;
}

// Each long command adds one listener for a closed output.
process.stdout.setMaxListeners(0);

/** Runs a command to its end. It looks for no server unless `PHM_PORT` is set. */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
): Promise<RunResult> {
  return runWith(args, env, async () => {});
}

/** Runs a command whose standard output has no reader any more. */
export function runCommandUnread(
  args: readonly string[],
  env: Environment = {},
): Promise<RunResult> {
  return runWith(args, env, () => Promise.reject(new Error('write EPIPE')));
}

/** Runs a command whose standard output is closed, or ignored by the process that started it. */
export function runCommandUnheard(
  state: 'ignored' | 'closed',
  args: readonly string[],
  env: Environment = {},
): Promise<RunResult> {
  return runWith(args, env, async () => {}, state);
}

/** Runs a command. `written` settles when its bytes are, or fail to be, written. */
async function runWith(
  args: readonly string[],
  env: Environment,
  written: () => Promise<void>,
  outputState: 'open' | 'ignored' | 'closed' = 'open',
): Promise<RunResult> {
  const output: Buffer[] = [];
  let stderr = '';
  const code = await runCli(args, {
    env: { PHM_PORT: '0', ...env },
    launcher: 'bin/phm',
    umask: 0o022,
    out: (text) => output.push(Buffer.from(text)),
    // A copy, because the bytes are wiped after they are written.
    outBytes: async (bytes) => {
      await written();
      output.push(Buffer.from(bytes));
    },
    leaveOutput: () => {},
    onVerdict: () => {},
    outputIsShared: () => false,
    outputState: () => outputState,
    err: (text) => {
      stderr += text;
    },
    log: null,
    serve: () => Promise.reject(new Error('no server was asked for')),
  });
  const bytes = Buffer.concat(output);
  return { code, bytes, stdout: bytes.toString(), stderr };
}

/** Runs a command with `--json` and parses its data. Throws with standard error if it fails. */
export async function commandJson<T = Record<string, unknown>>(
  args: readonly string[],
  env: Environment = {},
): Promise<T> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], env);
  if (code !== 0) throw new Error(`phm ${args.join(' ')} ended with ${code}: ${stderr}`);
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
