/** `phm export` and `phm import`: move the contents of one store to another. */

import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { writeNewFile } from '../../files/new-file.ts';
import { requireOwnFile } from '../../files/own-file.ts';
import {
  exportLedger,
  importLedger,
  type MoveReport,
  openMovableStore,
} from '../../ledger/admin.ts';
import {
  openStoreToChange,
  openStoreToRead,
  refuseLostDatabase,
  storeLocation,
} from '../../ledger/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { describeContents } from './row-counts.ts';
import { INIT_HELP, requireLedger, requireMasterSecret, tellStore } from './with-store.ts';

const STANDARD_STREAM = '-';

const HELP = `
An export has accounts, hashes of API keys, usage, sums, ledger rows and the check values of the master secret, as
newline-delimited JSON. It contains no key, API key or secret. Stop the servers of the old store first, and give
the servers of the new store the same master secret.

Example, from SQLite to PostgreSQL:
  phm export | PHM_DATABASE_URL=postgres://… phm import -
`;

export function addMoveCommands(program: Command, context: CliContext): void {
  program
    .command('export [file]')
    .description('write the contents of the store to a new file, or to standard output')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: { json?: boolean }) =>
      runExport(context, file ?? STANDARD_STREAM, options),
    );
  program
    .command('import <file>')
    .description('read an export from a file or "-" (stdin) into an empty store')
    .option('--init', INIT_HELP)
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((file: string, options: ImportOptions) => runImport(context, file, options));
}

async function runExport(
  context: CliContext,
  file: string,
  { json }: { json?: boolean },
): Promise<void> {
  if (file === STANDARD_STREAM && json) {
    throw new CommandError('--json needs a file, because standard output has the export', 2);
  }
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  await requireLedger(context, config, 'read');
  // Throws on a schema that this program does not know.
  await (await openStoreToRead(location)).close();
  const store = await openMovableStore(location);
  const write = (put: (bytes: Uint8Array) => Promise<void>) =>
    untilInterrupted((signal) => exportLedger(store, Date.now(), put, signal));
  const report =
    file === STANDARD_STREAM
      ? await write(context.outBytes)
      : await writeNewFile(resolve(file), (temporary) => intoFile(temporary, write));
  tell(context, report, 'Exported', json);
}

async function intoFile<T>(
  path: string,
  write: (put: (bytes: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'a');
  try {
    return await write((bytes) => file.appendFile(bytes));
  } finally {
    await file.close();
  }
}

interface ImportOptions {
  readonly init?: boolean;
  readonly json?: boolean;
}

async function runImport(
  context: CliContext,
  file: string,
  { init, json }: ImportOptions,
): Promise<void> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  if (!init) requireMasterSecret(context, config);
  if (location.kind === 'sqlite') refuseLostDatabase(location.path);
  const source = file === STANDARD_STREAM ? process.stdin : await openFile(file);
  const report = await untilInterrupted(async (signal) => {
    // Creates the schema of a new SQLite store. Throws on an older schema, and on a missing one in PostgreSQL.
    await (await openStoreToChange(location)).close();
    const store = await openMovableStore(location);
    const chunks = chunksOf(addAbortSignal(signal, source), file);
    return importLedger(store, chunks, [...config.plans.keys()], signal);
  });
  tell(context, report, 'Imported and compared', json);
}

async function openFile(path: string): Promise<Readable> {
  requireOwnFile(path);
  const stream = createReadStream(path, { highWaterMark: 2 ** 20 });
  try {
    await once(stream, 'open');
    return stream;
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

async function* chunksOf(stream: Readable, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): unknown {
  const { syscall, message } = cause as NodeJS.ErrnoException;
  return syscall ? new CommandError(`cannot read ${path}: ${message}`, 1) : cause;
}

function tell(context: CliContext, report: MoveReport, verb: string, json = false): void {
  if (json) writeJson(context, report);
  else context.err(`${verb} ${describeContents(report.rows)}; SHA-256 ${report.sha256}\n`);
}
