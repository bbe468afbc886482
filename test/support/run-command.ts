/** The command line in this process, without a start of Node for each command. */
import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { runCli } from '../../src/cli/index.ts';
import type { CommandResult, Environment } from './server.ts';

/** What a command wrote to standard output, as text and as it came. */
export interface RunResult extends CommandResult {
  readonly bytes: Buffer;
}

// Each long command adds one listener for an output whose reader has gone.
process.stdout.setMaxListeners(0);

/** Runs a command to its end. It looks for no server unless `PHM_PORT` says where. */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
): Promise<RunResult> {
  const output: Buffer[] = [];
  let stderr = '';
  const code = await runCli(args, {
    env: { PHM_PORT: '0', ...env },
    launcher: 'bin/phm',
    out: (text) => output.push(Buffer.from(text)),
    // A copy: the bytes are wiped when they are written.
    outBytes: async (bytes) => {
      output.push(Buffer.from(bytes));
    },
    outputIsShared: () => false,
    err: (text) => {
      stderr += text;
    },
    serve: () => Promise.reject(new Error('no server was asked for')),
  });
  const bytes = Buffer.concat(output);
  return { code, bytes, stdout: bytes.toString(), stderr };
}

/** Runs a command with `--json` and parses its data. Throws the words of the command if it fails. */
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
