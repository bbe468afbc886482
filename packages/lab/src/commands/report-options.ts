/** The options of `phm assess` and `phm assess-entropy` that name a report: who made it, for whom, of what. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { checkFields, type ReportFields } from '../report/identity.ts';

const OPTIONS: readonly (readonly [flag: `--${keyof ReportFields}`, description: string])[] = [
  ['--laboratory', 'the laboratory that makes the report'],
  ['--customer', 'the customer who gets it'],
  ['--reference', 'number of the order, or another reference'],
  ['--device', 'the device under test'],
  ['--received', 'when the item was received'],
  ['--operator', 'the person who runs the tests'],
  ['--note', 'a remark, such as the conditions of the sample'],
];

/** Adds the options to the command, in a group of their own. */
export function addReportOptions(command: Command): void {
  for (const [flag, description] of OPTIONS) {
    const option = new Option(`${flag} <text>`, description);
    command.addOption(option.helpGroup('Texts in the report:').argParser(parserOf(option)));
  }
}

function parserOf(option: Option): (text: string) => string {
  return (text) => {
    try {
      checkFields({ [option.attributeName()]: text });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new InvalidArgumentError(`${error.message}.`);
    }
    return text;
  };
}
