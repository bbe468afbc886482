/** Refuses file names that a shell should have changed, as in `--output=~/key`: a new folder `~` would get the key. */

import type { Command } from 'commander';
import { formProblem } from '../terminal/value-form.ts';
import { CommandError } from './command-error.ts';

/** Placeholders of options and names of arguments that stand for files. */
const FILES: readonly string[] = ['file', 'dir', 'folder', 'place'];

/** Options whose placeholder says something else. */
const FILE_OPTIONS: readonly string[] = ['--output'];

/** Checks the command line of a command before its action. Throws `CommandError`. */
export function checkPaths(command: Command): void {
  for (const option of command.options) {
    const [, placeholder = ''] = /<(\w+)>/.exec(option.flags) ?? [];
    const name = option.long ?? option.flags;
    if (!FILES.includes(placeholder) && !FILE_OPTIONS.includes(name)) continue;
    check(name, command.getOptionValue(option.attributeName()));
  }
  for (const [i, argument] of command.registeredArguments.entries()) {
    if (FILES.includes(argument.name())) check(argument.name(), command.processedArgs[i]);
  }
}

function check(name: string, value: unknown): void {
  for (const one of [value].flat()) {
    // A file of such a name may exist, unlike a line end in a variable, which comes from the file that set it.
    const text = typeof one === 'string' ? one.replaceAll(/\p{Cc}/gu, '') : '';
    const problem = formProblem(text, 'path');
    if (problem !== null) throw new CommandError(`${name} ${problem}`, 2);
  }
}
