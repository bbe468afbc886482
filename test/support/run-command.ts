/** The command line in this process, without a start of Node for each command. */
import { runCli } from '../../src/cli/index.ts';
import type { CommandResult, Environment } from './server.ts';

/** Runs a command that writes text. It looks for no server unless `PHM_PORT` says where. */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
): Promise<CommandResult> {
  let [stdout, stderr] = ['', ''];
  const code = await runCli(args, {
    env: { PHM_PORT: '0', ...env },
    launcher: 'bin/phm',
    out: (text) => {
      stdout += text;
    },
    outBytes: async (bytes) => {
      stdout += Buffer.from(bytes).toString();
    },
    outputIsShared: () => false,
    err: (text) => {
      stderr += text;
    },
    serve: () => Promise.reject(new Error('no server was asked for')),
  });
  return { code, stdout, stderr };
}
