/** `phm ledger backup` and `phm ledger restore`: copy the SQLite database. */

import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import type { Config } from '../../config/index.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { type CopyReport, copyDatabase } from '../../ledger/admin.ts';
import { storeLocation } from '../../ledger/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { requireFittingSecret } from './restored-secret.ts';
import { describeRows } from './row-counts.ts';
import { INIT_HELP, requireLedger, requireMasterSecret, tellStore } from './with-store.ts';

const BACKUP_HELP = `
FILE becomes one complete database, readable by its owner only. It must not exist yet. Keep the master secret
apart from it. For PostgreSQL use pg_dump.

Example:
  phm ledger backup /backup/phm-monday.db
`;

const RESTORE_HELP = `
Stop the server first and move the old database away: phm.db, phm.db-wal and phm.db-shm belong together. The
command overwrites nothing.

On a new machine, first put the master secret of the backup in its place, and restore before the first start.

Example:
  mkdir /var/lib/phm/before && mv /var/lib/phm/phm.db* /var/lib/phm/before/
  phm ledger restore /backup/phm-monday.db
  phm ledger verify
`;

/** Adds the commands to `phm ledger`. */
export function addBackupCommands(ledger: Command, context: CliContext): void {
  ledger
    .command('backup <file>')
    .description('copy the SQLite database to a new file and check the copy; the server may run')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string, options: { json?: boolean }) => {
      const { config, path } = embeddedDatabase(context, 'back it up with: pg_dump -Fc');
      await requireLedger(context, config, 'read');
      const copied = await copy(path, file, 'database');
      tellCopied(context, copied, options, 'Backed up to');
    });
  ledger
    .command('restore <file>')
    .description('copy a backup to the place of the database; the server must not run')
    .option('--init', INIT_HELP)
    .option('--json', 'write the result as JSON')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, options: { init?: boolean; json?: boolean }) => {
      const { config, path } = embeddedDatabase(context, 'restore it with: pg_restore');
      if (!options.init) requireMasterSecret(context, config);
      makeDataDirectory(config);
      const copied = await copy(file, path, 'backup');
      tellCopied(context, copied, options, 'Restored to');
      await requireFittingSecret(context, config);
    });
}

/** Creates the data directory, which a new machine lacks if its master secret is elsewhere. */
function makeDataDirectory({ dataDir }: Config): void {
  try {
    makeDirectory(dataDir);
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(
      `cannot create the directory ${dataDir}: ${message}; check PHM_DATA_DIR`,
      1,
    );
  }
}

function embeddedDatabase(context: CliContext, instead: string): { config: Config; path: string } {
  const config = requireConfig(context);
  const location = storeLocation(config);
  if (location.kind === 'sqlite') {
    tellStore(context, location);
    return { config, path: location.path };
  }
  throw new CommandError(
    `the ledger is in PostgreSQL: ${instead} (docs/operations.md, "Backup and restore")`,
    1,
  );
}

interface Copied {
  readonly file: string;
  readonly report: CopyReport;
}

async function copy(from: string, to: string, source: 'database' | 'backup'): Promise<Copied> {
  const file = resolve(to);
  const report = await untilInterrupted((signal) => copyDatabase(from, file, signal, source));
  return { file, report };
}

function tellCopied(
  context: CliContext,
  { file, report }: Copied,
  { json }: { json?: boolean },
  verb: string,
): void {
  if (json) writeJson(context, { file, checked: true, ...report });
  else context.err(`${verb} ${file}: ${describe(report)}. The copy was checked.\n`);
}

function describe({ bytes, rows }: CopyReport): string {
  return `${bytes.toLocaleString('en')} bytes, ${describeRows(rows)}`;
}
