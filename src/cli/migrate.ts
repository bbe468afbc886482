/** `phm migrate`: brings the schema of the ledger's database up to date. */
import type { Command } from 'commander';
import { migrateStore } from '../ledger/index.ts';
import { type CliContext, requireConfig, storeLocation, writeJson } from './context.ts';
import { requireLedger, tellStore } from './store.ts';

export function addMigrateCommand(program: Command, context: CliContext): void {
  program
    .command('migrate')
    .description('bring the schema of the database up to date; servers may run meanwhile')
    .option('--json', 'write the result as JSON')
    .action((options) => run(context, options));
}

async function run(context: CliContext, options: { json?: boolean }): Promise<void> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  await requireLedger(context, config, 'make');
  const { from, to } = await migrateStore(location);
  if (options.json) writeJson(context, { store: location.kind, from, to });
  else if (from === to) context.err(`The schema is at version ${to}: nothing to do.\n`);
  else context.err(`The schema went from version ${from} to ${to}.\n`);
}
