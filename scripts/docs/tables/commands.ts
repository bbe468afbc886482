/** The commands and options of `docs/cli.md`: a table in the section of each command, and one of the others. */
import type { Argument, Command, Help, Option } from 'commander';
import { addCommands } from '../../../src/cli/commands.ts';
import { type CliProcess, contextOf } from '../../../src/cli/context.ts';
import { buildProgram } from '../../../src/cli/index.ts';
import { type Part, partOfPage, tableText } from './part.ts';

/** Commands with a section of their own, some of which share one. */
const SECTIONS = [
  ['generate'],
  ['open'],
  ['encrypt', 'decrypt', 'reseal'],
  ['recipient'],
  ['validate'],
  ['receipt'],
  ['keys'],
  ['deliveries'],
  ['metrics'],
  ['stream'],
  ['testbench'],
  ['doctor'],
  ['api-key'],
  ['account'],
  ['secret'],
  ['ledger'],
  ['log'],
  ['audit'],
];

/** Options of many commands, which stand beside the command. The page describes them once. */
const COMMON = ['--json', '--url'];

const unused = (): never => {
  throw new Error('no command runs');
};

/** A process for the definitions alone: no command runs in it. */
const NO_PROCESS: CliProcess = {
  env: {},
  launcher: 'phm',
  umask: 0o077,
  out: unused,
  err: unused,
  outBytes: unused,
  leaveOutput: unused,
  outputIsShared: unused,
  log: null,
  outputState: () => 'open',
  onVerdict: unused,
  serve: unused,
};

async function readProgram(): Promise<Command> {
  const context = contextOf(NO_PROCESS, unused);
  const program = buildProgram(context, unused);
  await addCommands(program, context, unused);
  return program;
}

const code = (text: string) => `\`${text}\``;
const text = (words: string) => words.replace(/[<|]/g, '\\$&');
const isCommon = ({ long }: Option) => COMMON.includes(long ?? '');

/** Returns the rows of a command, its arguments and its options, or of its subcommands. */
function rowsOf(command: Command, path: string, help: Help): string[][] {
  const words = `${path} ${command.name()}`;
  const children = command.commands.flatMap((one) => rowsOf(one, words, help));
  const isGroup = children.length > 0 && command.options.length === 0;
  return isGroup ? children : [...ownRows(command, words, help), ...children];
}

function ownRows(command: Command, words: string, help: Help): string[][] {
  const options = command.options.filter(({ hidden }) => !hidden);
  const usage = [
    words,
    ...command.registeredArguments.map(usageOf),
    ...options.filter(isCommon).map(({ flags }) => `[${flags}]`),
  ];
  return [
    [`**${code(usage.join(' '))}**`, text(command.description())],
    ...command.registeredArguments
      .filter(({ description }) => description !== '')
      .map((one) => [code(usageOf(one)), text(help.argumentDescription(one))]),
    ...options
      .filter((one) => !isCommon(one))
      .map((one) => [code(one.flags), text(help.optionDescription(one))]),
  ];
}

function usageOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

export async function commandParts(): Promise<Part[]> {
  const program = await readProgram();
  const help = program.createHelp();
  const named = SECTIONS.flat();
  const others = program.commands.map((one) => one.name()).filter((name) => !named.includes(name));
  const partOf = (title: string, names: readonly string[]) => {
    const commands = program.commands.filter((one) => names.includes(one.name()));
    const rows = commands.flatMap((one) => rowsOf(one, 'phm', help));
    const table = tableText(['Command, argument, option', 'Meaning'], rows);
    return partOfPage('docs/cli.md', title, table);
  };
  return [
    ...SECTIONS.map((names) => partOf(`phm ${names.join(', ')}`, names)),
    partOf('other commands', others),
  ];
}
