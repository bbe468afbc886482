/** Warnings of an input that is read as binary and does not look like it. */
import type { Command } from 'commander';
import { guessFormat } from '#sp800-22';
import type { CliContext } from '../context.ts';

/** Warns if `command` has no `--format` and the first bytes of its input are hardly binary. */
export function warnOfFormat(
  name: string,
  head: Uint8Array,
  command: Command,
  context: CliContext,
): void {
  const guess = command.getOptionValueSource('format') === 'default' ? guessFormat(head) : null;
  if (guess === null) return;
  const remedy = guess === 'gzip' ? 'decompress it first' : `use --format ${guess}`;
  const what = `${name} looks like ${LOOKS[guess]}: ${remedy}`;
  context.err(`warning: ${what}. It is read as binary; --format binary omits this warning.\n`);
}

const LOOKS = { ascii: 'digits 0 and 1', hex: 'hexadecimal digits', gzip: 'gzip' } as const;

/** Returns the warning that samples are text or gzip, by a guess on their first bytes. The page writes it too. */
export function textWarning(
  name: string,
  guess: NonNullable<ReturnType<typeof guessFormat>>,
  packed: boolean,
): string {
  const what = `${name} looks like ${LOOKS[guess]}`;
  const how = packed ? 'Each bit of it' : 'Each byte';
  const remedy =
    guess === 'gzip'
      ? 'estimate is of the compressed data: decompress it first'
      : 'estimate is of the text: convert it first';
  return `warning: ${what}. ${how} is read as a sample, so the ${remedy}\n`;
}
