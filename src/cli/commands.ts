/** All commands but `serve`. Each is loaded only when it is wanted: together they take five times as long to start. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { LabContext } from '#lab/commands';
import { PROJECT_VERSION, softwareName } from '../process/version.ts';
import type { CliContext } from './context.ts';

/** Adds commands to the program. `onExitCode` receives the exit code of those that report a finding by it. */
type Add = (program: Command, context: CliContext, onExitCode: (exitCode: number) => void) => void;

interface Entry {
  /** First words of the commands that it adds. */
  readonly words: readonly string[];
  readonly load: () => Promise<Add>;
}

/** In the order of the help. */
const COMMANDS: readonly Entry[] = [
  {
    words: ['generate'],
    load: async () => (await import('./client/generate.ts')).addGenerateCommand,
  },
  {
    words: ['open'],
    load: async () => (await import('./client/open.ts')).addOpenCommand,
  },
  {
    words: ['encrypt', 'decrypt', 'reseal'],
    load: async () => (await import('./client/files.ts')).addFileCommands,
  },
  {
    words: ['validate'],
    load: async () => (await import('./client/validate.ts')).addValidateCommand,
  },
  {
    words: ['receipt'],
    load: async () => (await import('./client/receipt.ts')).addReceiptCommands,
  },
  {
    words: ['keys'],
    load: async () => (await import('./client/keys.ts')).addKeysCommands,
  },
  {
    words: ['deliveries'],
    load: async () => (await import('./client/deliveries.ts')).addDeliveriesCommands,
  },
  {
    words: ['metrics'],
    load: async () => (await import('./client/metrics.ts')).addMetricsCommand,
  },
  {
    words: ['account'],
    load: async () => (await import('./admin/account.ts')).addAccountCommands,
  },
  {
    words: ['api-key'],
    load: async () => (await import('./admin/api-key.ts')).addApiKeyCommands,
  },
  {
    words: ['recipient'],
    load: async () => (await import('./admin/recipient.ts')).addRecipientCommands,
  },
  {
    words: ['secret'],
    load: async () => (await import('./admin/secret.ts')).addSecretCommands,
  },
  {
    words: ['migrate'],
    load: async () => (await import('./admin/migrate.ts')).addMigrateCommand,
  },
  {
    words: ['ledger'],
    load: async () => (await import('./admin/ledger.ts')).addLedgerCommands,
  },
  {
    words: ['log'],
    load: async () => (await import('./log/command.ts')).addLogCommands,
  },
  {
    words: ['audit'],
    load: async () => (await import('./admin/audit.ts')).addAuditCommands,
  },
  {
    words: ['assess', 'assess-entropy', 'assess-conditioning', 'assess-ais31'],
    load: async () => {
      const { addAssessCommands } = await import('#lab/commands');
      return (program, context, onExitCode) =>
        addAssessCommands(program, ofLab(context), onExitCode);
    },
  },
  {
    words: ['sources'],
    load: async () => (await import('./noise/command.ts')).addSourcesCommands,
  },
  {
    words: ['stream'],
    load: async () => (await import('./stream.ts')).addStreamCommand,
  },
  {
    words: ['testbench'],
    load: async () => {
      const { addTestbenchCommand } = await import('#lab/commands');
      return (program, context) => addTestbenchCommand(program, ofLab(context));
    },
  },
  {
    words: ['selftest'],
    load: async () => (await import('./selftest/command.ts')).addSelfTestCommand,
  },
  {
    words: ['doctor'],
    load: async () => (await import('./doctor/command.ts')).addDoctorCommand,
  },
  {
    words: ['export', 'import'],
    load: async () => (await import('./admin/move.ts')).addMoveCommands,
  },
  {
    words: ['completion'],
    load: async () => (await import('./completion/command.ts')).addCompletionCommand,
  },
  {
    words: ['help'],
    load: async () => (await import('./help.ts')).addHelpCommand,
  },
];

/** These show all commands. */
const OF_ALL = ['completion', 'help'];

/** Built by `npm run build`. */
const TESTBENCH = fileURLToPath(new URL('../../build/testbench/index.html', import.meta.url));

/**
 * Adds the command whose first word is `word`, or all commands if there is none: its absence, or the help of the program,
 * names others.
 */
export async function addCommands(
  program: Command,
  context: CliContext,
  onExitCode: (exitCode: number) => void,
  word = '',
): Promise<void> {
  const named = COMMANDS.filter(({ words }) => words.includes(word) && !OF_ALL.includes(word));
  const wanted = named.length > 0 ? named : COMMANDS;
  const adds = await Promise.all(wanted.map(({ load }) => load()));
  for (const add of adds) add(program, context, onExitCode);
}

function ofLab(context: CliContext): LabContext {
  return { ...context, name: 'phm', page: TESTBENCH, software };
}

function software(): { program: string; build: string } {
  return { program: `phm ${PROJECT_VERSION}`, build: softwareName() };
}
