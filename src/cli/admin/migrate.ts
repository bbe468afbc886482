/** `phm migrate`: migrates the schema of the ledger. */

import type { Command } from 'commander';
import { writeJson } from '#platform/commands';
import { migrateStore, storeLocation } from '../../ledger/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { requireLedger, tellStore } from './with-store.ts';

export function addMigrateCommand(program: Command, context: CliContext): void {
  program
    .command('migrate')
    .description('migrate the schema of the database; servers may run')
    .option('--json', 'write the result as JSON')
    .action((options) => run(context, options));
}

async function run(context: CliContext, options: { json?: boolean }): Promise<void> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  await requireLedger(context, config, 'make');
  const { from, to, program } = await migrateStore(location);
  if (options.json) writeJson(context, { store: location.kind, from, to, program });
  else context.err(describe(from, to, program));
}

function describe(from: number, to: number, program: number): string {
  if (from < to) return `Migrated the schema from version ${from} to ${to}.\n`;
  if (to === program) return `The schema is at version ${to}: nothing to do.\n`;
  return (
    `The schema is at version ${to}: a newer release has migrated it. This program has version ${program} and works ` +
    'with the newer schema: nothing to do.\n'
  );
}
