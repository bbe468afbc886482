/** Where a key goes: to a command, or into a file. */
import { writeDurably, writeFailure } from '../../../platform/src/files/index.ts';
import { runCommand, type Words } from './command.ts';
import { type Format, formatKey } from './format.ts';
import { type Confirm, InstallError, type Installer } from './switcher.ts';

const NEVER = new AbortController().signal;

/** Gives each key to a command on its standard input. SIGTERM does not interrupt it. */
export function commandInstaller(words: Words, path: string, format: Format): Installer {
  return {
    install: async (key, id) => {
      const text = formatKey(format, key, id);
      const problem = await runCommand(words, { input: text, path, signal: NEVER });
      text.fill(0);
      if (problem !== null) throw new InstallError(`the command failed: ${problem}`);
    },
  };
}

/** Replaces a file in one step: a reader sees the old key or the new one. Only its owner may read it. */
export function fileInstaller(path: string, format: Format): Installer {
  return {
    install: async (key, id) => {
      const text = formatKey(format, key, id);
      try {
        writeDurably(path, text, { replace: true });
      } catch (error) {
        throw new InstallError(`${path} cannot be written: ${writeFailure(error)}`);
      } finally {
        text.fill(0);
      }
    },
  };
}

/** Takes exit code 0 for a yes. */
export function commandConfirm(words: Words, path: string): Confirm {
  return async (signal) => (await runCommand(words, { path, signal })) === null;
}
