/** The option `--format` of the commands that assess, from the table of the forms. */
import { InvalidArgumentError, Option } from 'commander';
import { FORMS, parseFormat } from '../input/readers/table.ts';

/** What `--help` says of the forms, one in each line. */
export const FORMS_HELP: string = [
  'Forms of the input (--format), where capitals stand for numbers and brackets for what may be left out:',
  ...FORMS.map(({ syntax, reads }) => `  ${syntax}\n      ${reads}`),
].join('\n');

export function formatOption(): Option {
  return new Option(
    '--format <form>',
    'how the input holds its bits, such as u16le, csv:2 or ihex: listed below; default: the form that it names itself, else binary, but what looks like another form is refused',
  ).argParser((text: string) => {
    try {
      parseFormat(text);
      return text;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new InvalidArgumentError(
        'use one of the forms that --help lists, such as u16le, csv:2 or ihex.',
      );
    }
  });
}
