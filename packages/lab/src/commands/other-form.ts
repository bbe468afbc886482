/** What the commands that assess say of an input that holds its bits in another form. */

import { CommandError } from '../../../platform/src/commands/index.ts';
import { quote } from '../../../platform/src/terminal/index.ts';
import type { AssessFigures } from '../assess/errors.ts';
import type { RecognisedForm } from '../input/recognised-form.ts';
import { formatWithin, OF_ITS_OWN, saysWithin } from '../input/recognising.ts';
import { inputName, STANDARD_INPUT } from './input-name.ts';

/** The command that reads the input, as the user calls it. */
export interface InputUse {
  /** What starts the program, such as `npx phm-lab`. */
  readonly launcher: string;
  /** The command and what it needs, such as `assess`. */
  readonly words: string;
  /** True if it reads samples. */
  readonly samples?: boolean;
}

/** Returns the refusal, which is no verdict. `isChosen`: the user named the form of the input. */
export function otherFormError(
  file: string,
  { form, within = 'binary' }: AssessFigures,
  use: InputUse,
  isChosen = false,
): CommandError {
  const name = inputName(file);
  const says = form?.says ?? '';
  if (form && within !== 'binary') {
    const format = formatWithin(form, within);
    const how = format ? `use --format ${format}` : OF_ITS_OWN;
    return new CommandError(
      `${name} is read as ${within}, and what it holds ${saysWithin(form, within)}. No verdict: ${how}`,
      2,
    );
  }
  const asItIs = isChosen ? '' : '; --format binary reads it as it is';
  return new CommandError(
    `${name} ${says}. No verdict: ${form && remedyFor(form, file, use)}${asItIs}`,
    2,
  );
}

function remedyFor({ remedy }: RecognisedForm, file: string, use: InputUse): string {
  switch (remedy.kind) {
    case 'command':
      return `use ${pipeline(remedy.command, file, use)}`;
    case 'advice':
      return remedy.advice;
    default:
      return `use --format ${remedy.format}`;
  }
}

/** Returns the commands that read the bits of the input. */
function pipeline(command: string, file: string, { launcher, words }: InputUse): string {
  // A word that begins with a dash would be an option.
  const path = file.startsWith('-') ? `./${file}` : file;
  const name = file === STANDARD_INPUT ? '' : ` ${quote(path)}`;
  const writes = command.replace(' FILE', () => name);
  return `${writes} | ${launcher} ${words} -`;
}
