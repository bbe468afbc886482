/** The words that can follow each other on the command line, read from commander's definition. */
import type { Command, Option } from 'commander';

/** A word of the command line and its help. */
export interface Word {
  readonly word: string;
  readonly help: string;
}

interface ValuedOption extends Word {
  /** Allowed values; undefined for any value, such as a file. */
  readonly choices: readonly string[] | undefined;
}

export interface CompletedCommand {
  /** The words of the command; empty for the program itself. */
  readonly path: readonly string[];
  readonly help: string;
  readonly subcommands: readonly Word[];
  /** Options without a value. */
  readonly flags: readonly Word[];
  /** Options with a value. */
  readonly options: readonly ValuedOption[];
  /** Allowed values of the arguments that have a list. */
  readonly choices: readonly string[];
  /** True if an argument takes any value, such as a file. */
  readonly takesFiles: boolean;
}

/** Returns a command and all its subcommands. */
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
