/** `phm log init`: generates the keys of the log and starts it, or rotates to a new one. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { CommandError, unwritable, writeJson } from '#platform/commands';
import { FormatError, formatCheckpoint, parseNote } from '#tlog';
import type { Config, LogKeyOrigin } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import { continues, requireSeal, storeTiles, verifierKeysOf } from '../../inspection/index.ts';
import type { LedgerStore, LogRecord } from '../../ledger/index.ts';
import {
  checkOrigin,
  type LogKeys,
  newLogKeysText,
  newOrigin,
  openCheckpoint,
  readState,
  signCheckpoint,
  withStateLock,
  writeState,
} from '../../log/index.ts';
import { commandLine } from '../../process/launcher.ts';
import type { LogMacKeys } from '../../proof/index.ts';
import { areKeysOf, describeOtherKeys, judgeSeal } from '../../service/offline.ts';
import { createLogKeys, type NewLog, readLogKeys, startLog } from '../../setup/index.ts';
import { openMacs } from '../admin/audit-record.ts';
import { withStoreToMake } from '../admin/with-store.ts';
import { type CliContext, requireReader } from '../context.ts';
import { requireSoundRows } from './open-log.ts';

const HELP = `
NAME is the origin of the log: the address at which it is public, without https://, such as keys.example/log. It cannot be
changed later. Without --origin it is phm.invalid and 16 hexadecimal digits, which suits tests and closed groups.

With SQLite the first start of a server does this itself. With PostgreSQL run the command once, then give the keys to every
server of the database.

--rotate closes the open log for good and starts a new one, with new keys and a new origin. Its first entry is the hash of
the last checkpoint of the old log. Old receipts stay valid under the old policy: keep it.

Examples:
  phm log init --origin keys.example/log
  phm log init --rotate --origin keys.example/log2
`;

interface InitOptions {
  readonly origin?: string;
  readonly rotate?: boolean;
  readonly print?: boolean;
  readonly json?: boolean;
}

export function addInitCommand(log: Command, context: CliContext): void {
  log
    .command('init')
    .description('generate the keys of the log in their file, and start the log')
    .option(
      '--origin <name>',
      'name of the log; default: phm.invalid/ and random digits',
      parseOrigin,
    )
    .option('--rotate', 'close the open log and start a new one')
    .option('--print', 'only print new keys, for PHM_LOG_KEY')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((options: InitOptions) =>
      options.print ? print(context, options) : init(context, options),
    );
}

function parseOrigin(text: string): string {
  try {
    return checkOrigin(text);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new InvalidArgumentError(`${error.message}.`);
  }
}

function print(context: CliContext, { origin = newOrigin(), json, rotate }: InitOptions): void {
  if (rotate) throw new CommandError('--print only writes keys: leave out --rotate', 2);
  requireReader(context);
  const text = newLogKeysText(origin);
  if (json) writeJson(context, { origin, log_key: text });
  else context.outText(text);
}

async function init(context: CliContext, options: InitOptions): Promise<void> {
  const result = await withStoreToMake(context, async (store, config) => {
    const logs = await store.logs();
    requireSoundRows(logs);
    const open = logs.find(({ closedMs }) => closedMs === null) ?? null;
    const { macs, version } = await openMacs(store, config);
    try {
      const oldKeys = keysInPlace(config.log.keys);
      refuseWrongState(config, logs);
      if (open && !options.rotate) throw isOpen(open, oldKeys);
      // Before the old keys are replaced: nothing may be wrong with the old log.
      if (open) await lastCheckpoint({ store, config, oldKeys, macs }, open);
      const keys = chooseKeys(config.log.keys, oldKeys, logs, options);
      const log = await startBehind({ store, config, oldKeys, macs }, { keys, version });
      if (open) {
        requireSeal(macs, log);
        await publishFirst(store, config, keys, log);
      }
      return { log, isRotation: open !== null, config };
    } finally {
      macs.destroy();
    }
  });
  report(context, result.config, result.log, result.isRotation, options.json);
}

/** Returns the log's keys; null if their file is missing, so that this command writes it. */
function keysInPlace(origin: LogKeyOrigin): LogKeys | null {
  const isMissing = origin.kind !== 'environment' && !existsSync(origin.path);
  return isMissing ? null : readLogKeys(origin);
}

interface Place {
  readonly store: LedgerStore;
  readonly config: Config;
  /** The keys of the open log, which may be replaced in their file already; null without. */
  readonly oldKeys: LogKeys | null;
  readonly macs: LogMacKeys;
}

/** Attempts to close a log that grows: a server takes at most ten turns a second. */
const MAX_ATTEMPTS = 20;

/** Starts a log behind the last checkpoint of the open one. Servers may run: if the open log grows meanwhile, it begins again. */
async function startBehind(
  place: Place,
  start: Pick<NewLog, 'keys' | 'version'>,
): Promise<LogRecord> {
  const { store, macs } = place;
  for (let attempt = 1; ; attempt++) {
    const open = (await store.logs()).find(({ closedMs }) => closedMs === null);
    const follows = open && {
      logId: open.logId,
      size: open.size,
      checkpointText: await lastCheckpoint(place, open),
    };
    try {
      return await startLog(store, { ...start, macs, nowMs: Date.now(), follows: follows ?? null });
    } catch (error) {
      if (!(error instanceof SetupError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Returns the keys of the new log: those in their place if the database does not know them yet, otherwise new ones. Throws
 * `CommandError` if the command cannot change where the keys are.
 */
function chooseKeys(
  place: LogKeyOrigin,
  present: LogKeys | null,
  logs: readonly LogRecord[],
  { origin }: InitOptions,
): LogKeys {
  const isNew = present !== null && !logs.some((log) => log.origin === present.origin);
  if (isNew && (origin === undefined || origin === present.origin)) return present;
  if (logs.some((log) => log.origin === origin)) {
    throw new CommandError(`the origin ${origin} belongs to an earlier log: name a new one`, 1);
  }
  if (place.kind === 'environment') {
    throw new CommandError(
      'the keys of the log come from PHM_LOG_KEY, which this command cannot change: set it to new keys from ' +
        '"phm log init --print", then run this again',
      1,
    );
  }
  if (isNew) {
    throw new CommandError(
      `${place.path} has keys for ${present.origin}, which is not in use: leave out --origin, or move the file away`,
      1,
    );
  }
  return createLogKeys(place.path, origin, { replace: present !== null });
}

function isOpen(log: LogRecord, keys: LogKeys | null): CommandError {
  const { origin } = log;
  const rotate = 'To close it and start another: phm log init --rotate';
  if (areKeysOf(keys, log)) {
    return new CommandError([`the log ${origin} is open, and its keys are in place`, rotate], 1);
  }
  const others = keys ? ` (those here ${describeOtherKeys(keys, log)})` : '';
  return new CommandError(
    [
      `the log ${origin} is open, but its keys are not here${others}: copy them from another server or a backup`,
      rotate,
    ],
    1,
  );
}

/** Throws `CommandError` if the state file belongs to a log of another database: its server would lose its memory. */
function refuseWrongState(config: Config, logs: readonly LogRecord[]): void {
  const state = readStateFile(config);
  if (state === null || logs.some(({ origin }) => origin === state.checkpoint.origin)) return;
  throw new CommandError(
    `the state file ${config.log.stateFile} is of the log ${state.checkpoint.origin}, which this ledger does not have: ` +
      'move the file away, or name another with PHM_LOG_STATE_FILE',
    1,
  );
}

function readStateFile({ log: { stateFile } }: Config) {
  try {
    return readState(stateFile);
  } catch (error) {
    throw new CommandError(`${stateFile} cannot be used: ${(error as Error).message}`, 1);
  }
}

/**
 * Returns the text of the last checkpoint of the open log: the newest that anyone may have seen. If its keys are here and
 * the state file fits, every entry gets under a checkpoint first, so that each has its receipt. A head that no server
 * sealed gets none, and closes the log at its last checkpoint; without one, throws `CommandError`.
 */
async function lastCheckpoint(
  { store, config, oldKeys: keys, macs }: Place,
  open: LogRecord,
): Promise<string> {
  const published = [open.checkpoint, stateNoteOf(config, open)]
    .filter((note) => note !== null)
    .map((note) => ({ note, ...openCheckpoint(note, verifierKeysOf(open)).checkpoint }))
    .sort((a, b) => b.size - a.size);
  const [newest] = published;
  const isBehind = newest === undefined || newest.size < open.size;
  const isSealed = judgeSeal(macs, open.origin, open) === 'valid';
  // A database that was restored may hold other entries than were published.
  const isSound = isSealed && !open.isMoved;
  const maySign = areKeysOf(keys, open) && isBehind && isSound;
  if (!maySign || !(await continues(storeTiles(store, open), newest ?? null, open))) {
    if (newest !== undefined) return parseNote(newest.note).text;
    requireSeal(macs, open);
    return formatCheckpoint({
      origin: open.origin,
      size: open.size,
      root: open.root,
      extensions: [],
    });
  }
  const note = signCheckpoint(keys, open, Math.floor(Date.now() / 1000));
  saveState(config, note);
  await store.saveCheckpoint(open.logId, open.size, note, 'checkpoint');
  return parseNote(note).text;
}

/** Returns the note in the state file if it is of the open log. */
function stateNoteOf(config: Config, open: LogRecord): string | null {
  const state = readStateFile(config);
  return state?.checkpoint.origin === open.origin ? state.note : null;
}

/** Signs the first head of a log that follows another, because a server continues only from a state file. */
async function publishFirst(
  store: LedgerStore,
  config: Config,
  keys: LogKeys,
  { logId, size, root }: LogRecord,
): Promise<void> {
  const note = signCheckpoint(keys, { size, root }, Math.floor(Date.now() / 1000));
  saveState(config, note);
  await store.saveCheckpoint(logId, size, note, 'checkpoint');
}

export function saveState({ log: { stateFile } }: Config, note: string): void {
  writeStateFile(stateFile, note);
}

/** Writes a checkpoint as a state file. Throws `CommandError`. */
export function writeStateFile(path: string, note: string): void {
  try {
    withStateLock(path, () => writeState(path, note));
  } catch (error) {
    throw unwritable(path, error);
  }
}

function report(
  context: CliContext,
  { log: { keys, stateFile } }: Config,
  { origin, verifierKeys }: LogRecord,
  isRotation: boolean,
  json = false,
): void {
  const path = keys.kind === 'environment' ? null : keys.path;
  if (json) {
    const verifier_keys = verifierKeys.split('\n').filter((line) => line !== '');
    writeJson(context, { origin, verifier_keys, path, state_file: stateFile, rotated: isRotation });
    return;
  }
  context.out(`${origin}\n`);
  const where = path === null ? 'in PHM_LOG_KEY' : `in ${path}`;
  context.err(
    `Started the log ${origin}${isRotation ? ' and closed the one before it' : ''}. Its keys are ${where}: keep a copy in a ` +
      'safe place.',
    ...nextSteps(context, isRotation),
  );
}

function nextSteps(context: CliContext, isRotation: boolean): string[] {
  const policy = commandLine(context, 'log show --policy');
  const meanwhile = isRotation
    ? 'Until then, entries wait.'
    : 'Keys from servers without the log have no receipt.';
  return [
    'One server: restart it.',
    'Several servers on one database:',
    '  1. Give every server the same keys (PHM_LOG_KEY_FILE) and a state file of its own (PHM_LOG_STATE_FILE).',
    `  2. Restart all servers, one at a time. ${meanwhile}`,
    `Publish the policy, which verifiers of receipts pin: ${policy}`,
  ];
}
