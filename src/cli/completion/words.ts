/** What can follow what on the command line, read from commander's own program. */
import type { Command, Option } from 'commander';

/** A word that can be typed, and what it means. */
export interface Word {
  readonly word: string;
  readonly help: string;
}

export interface ValuedOption extends Word {
  /** What its value may be; undefined: anything, as a file. */
  readonly choices: readonly string[] | undefined;
}

export interface CompletedCommand {
  /** The words that lead to it, none for the program itself. */
  readonly path: readonly string[];
  readonly help: string;
  readonly subcommands: readonly Word[];
  /** Options that stand alone. */
  readonly flags: readonly Word[];
  /** Options that take a value. */
  readonly options: readonly ValuedOption[];
  /** What its arguments may be, of those that have a list. */
  readonly choices: readonly string[];
  /** Whether an argument may be anything, as a file. */
  readonly takesFiles: boolean;
}

/** A command and all beneath it. */
export function readCommands(
  command: Command,
  path: readonly string[] = [],
): readonly CompletedCommand[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter(({ long }) => long);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const own: CompletedCommand = {
    path,
    help: command.description(),
    subcommands: command.commands.map((one) => ({ word: one.name(), help: one.description() })),
    flags: options.filter(isFlag).map(toWord),
    options: options
      .filter((option) => !isFlag(option))
      .map((option) => ({ ...toWord(option), choices: option.argChoices })),
    choices,
    takesFiles: command.registeredArguments.some(({ argChoices }) => !argChoices),
  };
  return [own, ...command.commands.flatMap((one) => readCommands(one, [...path, one.name()]))];
}

const isFlag = (option: Option): boolean => !option.required && !option.optional;

function toWord({ long, description }: Option): Word {
  return { word: long ?? '', help: description };
}
