/** The names of an input in messages and reports. */

import { basename } from 'node:path';
import { visible } from '../../../platform/src/terminal/index.ts';

/** The file name that means standard input. */
export const STANDARD_INPUT = '-';

/** Returns the name of the input for messages. A line end in a name could forge lines of a report. */
export function inputName(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : visible(file);
}

/** Returns the name of the input for reports, without the folders, which are the operator's own. */
export function itemName(file: string): string {
  return inputName(file === STANDARD_INPUT ? file : basename(file));
}
