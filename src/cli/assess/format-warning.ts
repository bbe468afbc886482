/** The warning for an input that is read as binary and does not look like it. */
import type { Command } from 'commander';
import { guessFormat } from '#sp800-22';
import type { CliContext } from '../context.ts';
import { inputName } from './input.ts';

/** Warns if `command` has no `--format` and the first bytes of its input are hardly binary. */
export function warnOfFormat(
  file: string,
  head: Uint8Array,
  command: Command,
  context: CliContext,
): void {
  const guess = command.getOptionValueSource('format') === 'default' ? guessFormat(head) : null;
  if (guess === null) return;
  const name = inputName(file);
  const what =
    guess === 'gzip'
      ? `${name} looks like gzip: decompress it first`
      : `${name} looks like ${guess === 'hex' ? 'hexadecimal digits' : 'digits 0 and 1'}: use --format ${guess}`;
  context.err(`warning: ${what}. It is read as binary; --format binary omits this warning.\n`);
}
