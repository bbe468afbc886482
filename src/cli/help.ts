/** `phm help`: the help of a command, and the table of variables, which would bury the commands in `phm --help`. */

import { type Command, Help } from 'commander';
import { CommandError } from '#platform/commands';
import { ENVIRONMENT } from '../config/index.ts';
import type { CliContext } from './context.ts';

/** The end of `phm --help`. */
export const HELP_HINT =
  '\nThe variables that configure the server and the commands on its data are listed by: phm help environment';

const OTHER_VARIABLES =
  'The commands generate, validate, receipt get, keys and metrics list their variables in their own --help.';

export function addHelpCommand(program: Command, { outText }: CliContext): void {
  const help = program
    .command('help')
    .argument('[command...]', 'words of a command')
    .description('show the help of a command, or the variables')
    .action((words: readonly string[]) => findCommand(program, words).outputHelp());
  help
    .command('environment')
    .description('list the variables of the server and of the commands on its data')
    .action(() => outText(environmentTable()));
}

/** Formats a help text with the commands above the options: nobody looks for --version first. */
export function commandsFirst(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper).trimEnd();
  const sections = text.split('\n\n');
  const at = sections.findIndex((section) => section.startsWith('Options:'));
  const isGroup = sections[at + 1]?.startsWith('Commands:');
  if (isGroup) sections.push(...sections.splice(at, 1));
  return `${sections.join('\n\n')}\n`;
}

function findCommand(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((one) => one.name() === word);
    if (found) return found;
    throw new CommandError(`there is no command ${words.join(' ')}. To list them: phm --help`, 2);
  }, program);
}

function environmentTable(): string {
  const width = Math.max(...Object.keys(ENVIRONMENT).map((name) => name.length));
  const rows = Object.entries(ENVIRONMENT).map(([name, { default: value, help }]) => {
    const given = value === '' ? '' : ` (${value})`;
    return `  ${name.padEnd(width)}  ${help}${given}`;
  });
  return `Environment of the server and the commands on its data:\n${rows.join('\n')}\n\n${OTHER_VARIABLES}\n`;
}
