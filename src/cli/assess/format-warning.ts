/** Warnings of an input that is read as binary and does not look like it. */
import type { Command } from 'commander';
import { type FormatGuess, guessFormat } from '#sp800-22';
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
  const what = `${name} looks like ${LOOKS[guess]}: ${remedyFor(guess, context)}`;
  context.err(`warning: ${what}. It is read as binary; --format binary omits this warning.\n`);
}

const LOOKS: Readonly<Record<FormatGuess, string>> = {
  ascii: 'digits 0 and 1',
  hex: 'hexadecimal digits',
  gzip: 'gzip',
  decimal: 'decimal numbers',
  text: 'text',
};

function remedyFor(guess: FormatGuess, { launcher }: CliContext): string {
  switch (guess) {
    case 'gzip':
      return 'decompress it first';
    case 'decimal':
    case 'text':
      return `convert it to binary first, or use "${launcher} testbench", which reads numbers, CSV and base64`;
    default:
      return `use --format ${guess}`;
  }
}

/** Returns the warning that samples are text or gzip, by a guess on their first bytes. The page writes it too. */
export function textWarning(name: string, guess: FormatGuess, packed: boolean): string {
  const what = `${name} looks like ${LOOKS[guess]}`;
  const how = packed ? 'Each bit of it' : 'Each byte';
  const remedy =
    guess === 'gzip'
      ? 'estimate is of the compressed data: decompress it first'
      : 'estimate is of the text: convert it first';
  return `warning: ${what}. ${how} is read as a sample, so the ${remedy}\n`;
}
