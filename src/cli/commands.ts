/** All commands but `serve`, in the order of the help. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { addAssessCommands, addTestbenchCommand } from '#lab/commands';
import { PROJECT_VERSION, softwareName } from '../process/version.ts';
import { addAccountCommands } from './admin/account.ts';
import { addApiKeyCommands } from './admin/api-key.ts';
import { addAuditCommands } from './admin/audit.ts';
import { addLedgerCommands } from './admin/ledger.ts';
import { addMigrateCommand } from './admin/migrate.ts';
import { addMoveCommands } from './admin/move.ts';
import { addRecipientCommands } from './admin/recipient.ts';
import { addSecretCommands } from './admin/secret.ts';
import { addDeliveriesCommands } from './client/deliveries.ts';
import { addFileCommands } from './client/files.ts';
import { addGenerateCommand } from './client/generate.ts';
import { addKeysCommands } from './client/keys.ts';
import { addMetricsCommand } from './client/metrics.ts';
import { addOpenCommand } from './client/open.ts';
import { addReceiptCommands } from './client/receipt.ts';
import { addValidateCommand } from './client/validate.ts';
import { addCompletionCommand } from './completion/command.ts';
import type { CliContext } from './context.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { addHelpCommand } from './help.ts';
import { addLogCommands } from './log/command.ts';
import { addSourcesCommands } from './noise/command.ts';
import { addSelfTestCommand } from './selftest/command.ts';
import { addStreamCommand } from './stream.ts';

/** Built by `npm run build`. */
const TESTBENCH = fileURLToPath(new URL('../../build/testbench/index.html', import.meta.url));

/** Adds the commands to the program. `onExitCode` receives the exit code of those that report a finding by it. */
export function addCommands(
  program: Command,
  context: CliContext,
  onExitCode: (exitCode: number) => void,
): void {
  const lab = { ...context, name: 'phm', page: TESTBENCH, software };
  addGenerateCommand(program, context);
  addOpenCommand(program, context);
  addFileCommands(program, context);
  addValidateCommand(program, context, onExitCode);
  addReceiptCommands(program, context, onExitCode);
  addKeysCommands(program, context);
  addDeliveriesCommands(program, context);
  addMetricsCommand(program, context);
  addAccountCommands(program, context);
  addApiKeyCommands(program, context);
  addRecipientCommands(program, context);
  addSecretCommands(program, context);
  addMigrateCommand(program, context);
  addLedgerCommands(program, context);
  addLogCommands(program, context);
  addAuditCommands(program, context);
  addAssessCommands(program, lab, onExitCode);
  addSourcesCommands(program, context);
  addStreamCommand(program, context);
  addTestbenchCommand(program, lab);
  addSelfTestCommand(program, context);
  addDoctorCommand(program, context, onExitCode);
  addMoveCommands(program, context);
  addCompletionCommand(program, context);
  addHelpCommand(program, context);
}

function software(): { program: string; build: string } {
  return { program: `phm ${PROJECT_VERSION}`, build: softwareName() };
}
