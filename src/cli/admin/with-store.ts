/**
 * Opens the store of a command and names it on standard error. A command that only reads creates nothing, and only
 * `phm migrate` changes the schema. A data directory without a server is refused, because no server would see the
 * changes.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '#platform/commands';
import { wipe } from '../../bytes.ts';
import type { Config } from '../../config/index.ts';
import { AppError, SetupError } from '../../errors.ts';
import {
  describeStore,
  type LedgerStore,
  openStoreToChange,
  openStoreToRead,
  refuseLostDatabase,
  type StoreLocation,
  storeLocation,
} from '../../ledger/index.ts';
import { asStarted, commandLine } from '../../process/launcher.ts';
import { checkMasterSecret, loadMasterSecret } from '../../setup/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { reasonOf } from '../read-bounded.ts';
import { describeOtherServer } from './other-server.ts';

/** What a command does with the store: it reads it, changes it, or may also create its database. */
type Use = 'read' | 'change' | 'make';

/** Work on a store, with the configuration that names it. */
type Work<T> = (store: LedgerStore, config: Config) => Promise<T>;

/** Runs work that only reads the store, then closes it. */
export function withStoreToRead<T>(context: CliContext, work: Work<T>): Promise<T> {
  return withServersStore(context, 'read', work);
}

/** Runs work that changes the store, then closes it. */
export function withStore<T>(context: CliContext, work: Work<T>): Promise<T> {
  return withServersStore(context, 'change', work);
}

/** Like `withStore`, but creates a missing database if the data directory has a master secret. */
export function withStoreToMake<T>(context: CliContext, work: Work<T>): Promise<T> {
  return withServersStore(context, 'make', work);
}

/**
 * Runs work on a data directory that may be missing. Creates the directory, database and master secret, as the first
 * start of a server does.
 */
export async function withInitializedStore<T>(context: CliContext, work: Work<T>): Promise<T> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  if (location.kind === 'postgres') {
    throw new CommandError(
      '--init needs a data directory, but the ledger is in PostgreSQL: leave it out',
      2,
    );
  }
  tellStore(context, location);
  refuseLostDatabase(location.path);
  const store = await openStoreToChange(location);
  try {
    if ((await store.secretChecks()).size === 0) await registerSecret(config, store);
    await noteOtherServer(context, config);
    return await work(store, config);
  } finally {
    await store.close();
  }
}

async function registerSecret(config: Config, store: LedgerStore): Promise<void> {
  const secret = await loadMasterSecret(config.masterSecret);
  try {
    await checkMasterSecret(store, secret, Date.now());
  } finally {
    wipe(...secret.versions.map((one) => one.secret));
  }
}

async function withServersStore<T>(context: CliContext, use: Use, work: Work<T>): Promise<T> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  const belongsToServer = await requireLedger(context, config, use);
  const open = use === 'read' ? openStoreToRead : openStoreToChange;
  const store = await open(location);
  try {
    if (!belongsToServer && (await store.secretChecks()).size === 0) {
      throw await refusal(context, config, 'no server has started on the ledger');
    }
    await noteOtherServer(context, config);
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/**
 * Runs work that reads the store, for a command that can do without it. Resolves with undefined if there is no store
 * yet, or, with a warning, if it cannot be read.
 */
export async function readStoreIfAny<T>(
  context: CliContext,
  config: Config,
  work: (store: LedgerStore) => Promise<T>,
): Promise<T | undefined> {
  const location = storeLocation(config);
  if (location.kind === 'sqlite' && !isThere(location.path)) return undefined;
  tellStore(context, location);
  try {
    const store = await openStoreToRead(location);
    return await work(store).finally(() => store.close());
  } catch (error) {
    if (!(error instanceof SetupError || error instanceof AppError)) throw error;
    context.err(`warning: the ledger cannot be read: ${asStarted(error.message, context)}\n`);
    return undefined;
  }
}

/** Names the store that a command opens. */
export function tellStore({ err }: CliContext, location: StoreLocation): void {
  err(`Ledger: ${describeStore(location)}\n`);
}

/**
 * Throws `CommandError` if there is no ledger. Resolves with true if the store certainly belongs to a server: it is in
 * PostgreSQL, or its directory has a master secret.
 */
export async function requireLedger(
  context: CliContext,
  config: Config,
  use: Use,
): Promise<boolean> {
  const location = storeLocation(config);
  if (location.kind === 'postgres') return true;
  const hasSecret = isThere(join(config.dataDir, 'master.key'));
  refuseLostDatabase(location.path);
  if (isThere(location.path) || (use === 'make' && hasSecret)) return hasSecret;
  throw await refusal(
    context,
    config,
    hasSecret ? 'no server has started yet, so there is no ledger' : 'there is no ledger',
  );
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return false;
    throw new CommandError(
      `cannot access ${path}: ${reasonOf(error)}; run this command as the user of the server`,
      1,
    );
  }
}

/** Help text of `--init`. */
export const INIT_HELP = 'accept a data directory that has no master secret yet';

/**
 * Throws `CommandError` if the target of a restore or import has no master secret: the directory is probably wrong, and
 * no server starts on a filled ledger without its secret.
 */
export function requireMasterSecret(context: CliContext, config: Config): void {
  const { masterSecret: origin, databaseUrl } = config;
  if (databaseUrl !== null || !('path' in origin) || isThere(origin.path)) return;
  throw noMasterSecret(
    context,
    origin.path,
    'If the directory is right, first put the master secret that belongs to this data there, or use --init.',
  );
}

/** Throws `CommandError` if the data directory lacks its master secret. */
export function requireSecretFile(context: CliContext, config: Config): void {
  const { masterSecret: origin } = config;
  if (origin.kind !== 'managed' || isThere(origin.path)) return;
  const location = storeLocation(config);
  const hasLedger = location.kind === 'postgres' || isThere(location.path);
  const fix = hasLedger
    ? 'If the directory is right, restore the file from its backup.'
    : 'If this is a new installation, generate one: phm secret new';
  throw noMasterSecret(context, origin.path, fix);
}

function noMasterSecret(context: CliContext, path: string, fix: string): CommandError {
  return new CommandError([`there is no master secret ${path}`, whereFrom(context), fix], 1);
}

/** Returns the error for a missing ledger: what is missing, where the command looked, and what to do. */
async function refusal(
  context: CliContext,
  config: Config,
  problem: string,
): Promise<CommandError> {
  const make = commandLine(context, 'account create --init --name "My team" --plan research');
  const other = await describeOtherServer(config);
  const isDirectory = statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory() ?? true;
  const lines = [
    `${problem} in ${config.dataDir}${isDirectory ? '' : ', which is not a directory'}`,
    whereFrom(context),
    `To create a ledger here, start a server or run: ${make}`,
    ...(other === null ? [] : [other]),
  ];
  return new CommandError(lines, 1);
}

/** Returns the line that says where the data directory comes from, and how to name another. */
function whereFrom({ env }: CliContext): string {
  return env.PHM_DATA_DIR?.trim()
    ? 'PHM_DATA_DIR names this data directory. If your server uses another one, correct the variable.'
    : 'PHM_DATA_DIR is not set, so this is ./data in the working directory. If your server uses another one, set ' +
        'the variable.';
}

/** Notes a server on this machine that uses another store and so does not see the changes. */
async function noteOtherServer({ err }: CliContext, config: Config): Promise<void> {
  if (config.databaseUrl !== null) return;
  const other = await describeOtherServer(config);
  if (other !== null) err(`note: ${other}\n`);
}
