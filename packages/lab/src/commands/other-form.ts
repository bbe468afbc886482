/** What the commands that assess say of an input that holds its bits in another form. */

import { CommandError } from '../../../platform/src/commands/index.ts';
import { quote } from '../../../platform/src/terminal/index.ts';
import type { RecognisedForm, Remedy } from '../input/input-format.ts';
import { inputName, STANDARD_INPUT } from './input-name.ts';

/** The command that reads the input, as the user calls it. */
export interface InputUse {
  /** What starts the program, such as `npx phm-lab`. */
  readonly launcher: string;
  /** The command and what it needs, such as `assess`. */
  readonly words: string;
  /** True if it reads samples, one a byte, so that it has no formats of text. */
  readonly samples?: boolean;
}

/** Returns the refusal, which is no verdict. `asText`: the user said that the input is a text of digits. */
export function otherFormError(
  file: string,
  form: RecognisedForm,
  use: InputUse,
  asText = false,
): CommandError {
  const asItIs = asText ? '' : '; --format binary reads it as it is';
  return new CommandError(
    `${inputName(file)} ${form.says}. No verdict: ${remedyFor(form, file, use)}${asItIs}`,
    2,
  );
}

function remedyFor({ name, remedy }: RecognisedForm, file: string, use: InputUse): string {
  const { launcher, samples = false } = use;
  if (remedy.kind === 'command') return `use ${pipeline(remedy, file, use)}`;
  if (samples && (remedy.kind === 'format' || name === 'listing')) {
    return 'write one sample a byte first';
  }
  if (remedy.kind === 'format') return `use --format ${remedy.format}`;
  if (name === 'listing') return `${remedy.advice}, for --format hex`;
  if (samples || !(name === 'decimal' || name === 'text')) return remedy.advice;
  return `${remedy.advice}, or use "${launcher} testbench", which reads numbers, CSV and base64`;
}

/** Returns the commands that read the bits of the input. */
function pipeline(
  { command, format }: Extract<Remedy, { kind: 'command' }>,
  file: string,
  { launcher, words, samples = false }: InputUse,
): string {
  const reader = `${launcher} ${words}`;
  // A word that begins with a dash would be an option.
  const path = file.startsWith('-') ? `./${file}` : file;
  const name = file === STANDARD_INPUT ? '' : ` ${quote(path)}`;
  const writes = command.replace(' FILE', () => name);
  if (format === 'binary') return `${writes} | ${reader} -`;
  if (samples) return `${writes} | tr -d ' \\n' | tr 01 '\\000\\001' | ${reader} -`;
  return `${writes} | ${reader} --format ${format} -`;
}
