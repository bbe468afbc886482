/** `phm log recover`: lets a log continue after a restore of the database, or after its state file was lost. */

import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { FormatError } from '#tlog';
import type { Config } from '../../config/index.ts';
import {
  checkCopy,
  continues,
  describeCheckpoint,
  requireSeal,
  storeTiles,
  verifierKeysOf,
} from '../../inspection/index.ts';
import type { Extend, LedgerStore, LogRecord } from '../../ledger/index.ts';
import {
  extendTree,
  type LogKeys,
  openCheckpoint,
  type PublishedState,
  readState,
  signCheckpoint,
} from '../../log/index.ts';
import { commandLine } from '../../process/launcher.ts';
import {
  areKeysOf,
  describeOtherKeys,
  type EntryMaker,
  newAudit,
  sealed,
} from '../../service/offline.ts';
import { readLogKeys } from '../../setup/index.ts';
import { openMacs } from '../admin/audit-record.ts';
import { counted } from '../admin/row-counts.ts';
import { withStore } from '../admin/with-store.ts';
import type { CliContext } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { saveState, writeStateFile } from './init.ts';
import { openLogOf } from './open-log.ts';
import { readIfAny } from './seen.ts';
import { openSource } from './source.ts';

const HELP = `
A server continues a log only from the last checkpoint that it published, which its state file holds. After a restore the
database is behind that file, and the log stops.

--from PLACE takes the lost entries from a copy: the address of a log, or a folder of "phm log check --copy" or "phm log
copy". The copy must have a checkpoint that this log signed, and the database must agree with it. The entries come back;
rows and statements that this database lacks do not.

--accept takes the database as it is, for a lost state file, a new server, or a PostgreSQL that was restored or promoted.
Then copy the newest state file of all servers to this one first: the largest size, in its second line. If the database
lost published entries, the log then forks: everyone who has a later checkpoint can prove it. So the command refuses if the
state file is ahead of the database, or contradicts it. Without a copy, rotate then: phm log init --rotate

Stop the servers of this database before --from, unless the log of each has stopped. A new server may run while --accept
gives it a state file: it continues within seconds.

Examples:
  phm log recover --from https://keys.example/log
  phm log recover --accept
`;

interface RecoverOptions {
  readonly from?: string;
  readonly accept?: boolean;
  readonly json?: boolean;
}

export function addRecoverCommand(log: Command, context: CliContext): void {
  log
    .command('recover')
    .description('let a log continue after a restore, or without its state file')
    .option('--from <place>', 'take lost entries from the address or the folder of a copy')
    .addOption(new Option('--accept', 'take the database as it is').conflicts('from'))
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((options: RecoverOptions) => recover(context, options));
}

/** What the command did: entries that came back, and the head that the state file now holds. */
interface Recovery {
  readonly origin: string;
  readonly recovered: number;
  /** Entries among them whose row is in this database: they waited here. */
  readonly waited: number;
  readonly size: number;
}

async function recover(context: CliContext, options: RecoverOptions): Promise<void> {
  const { from, accept, json } = options;
  if (from === undefined && !accept) {
    throw new CommandError('give --from PLACE with a copy of the log, or --accept', 2);
  }
  const result = await withStore(context, async (store, config) => {
    const log = openLogOf(await store.logs());
    const maker = { log, ...(await openMacs(store, config)) };
    const work = { context, store, config, log, maker };
    const recovery =
      from === undefined
        ? acceptDatabase(work)
        : untilInterrupted((signal) => recoverFrom(work, from, signal));
    return recovery.finally(() => maker.macs.destroy());
  });
  if (json) {
    const { origin, recovered, waited, size } = result;
    writeJson(context, { origin, recovered, waited, size });
    return;
  }
  context.err(describe(result, from !== undefined));
}

function describe(recovery: Recovery, isCopied: boolean): string {
  const { origin, size } = recovery;
  const entries = isCopied ? describeRecovered(recovery) : '';
  return `${entries}The log ${origin} continues from ${counted(size, 'entry', 'entries')}. Start the servers; those that run continue within seconds.\n`;
}

function describeRecovered({ recovered, waited }: Recovery): string {
  if (recovered === 0) return 'The database lacks no entry of the copy. ';
  const gone = recovered - waited;
  const there =
    waited === 0
      ? ''
      : `${waited.toLocaleString('en')} of them waited here with ${waited === 1 ? 'its row' : 'their rows'}. `;
  const lost =
    gone === 0
      ? ''
      : `The rows and statements of ${counted(gone, 'entry', 'entries')} are gone: no new receipt can be made for them. ` +
        'Receipts that clients hold stay valid. ';
  return `Recovered ${counted(recovered, 'entry', 'entries')}. ${there}${lost}`;
}

interface Work {
  readonly context: CliContext;
  readonly store: LedgerStore;
  readonly config: Config;
  readonly log: LogRecord;
  /** Seals heads, and makes the audit record. */
  readonly maker: EntryMaker;
}

/** Writes a state file for the head of the database. */
async function acceptDatabase(work: Work): Promise<Recovery> {
  const { context, store, config, log, maker } = work;
  const keys = requireKeys(config, log);
  const state = await readOwnState(work);
  const known = [state?.note, log.checkpoint].filter((note) => note != null);
  for (const note of known) {
    const { checkpoint } = openCheckpoint(note, verifierKeysOf(log));
    if (await continues(storeTiles(store, log), checkpoint, log)) continue;
    throw new CommandError(
      [
        `the database does not continue a checkpoint that was published: ${describeCheckpoint(checkpoint)}, but the ` +
          `database has ${describeCheckpoint(log)}. Accepting it would fork the log`,
        `With a copy of the log: ${commandLine(context, 'log recover --from PLACE')}`,
        `Without one: ${commandLine(context, 'log init --rotate')}`,
      ],
      1,
    );
  }
  if (!(await continues(storeTiles(store, log), null, log))) {
    throw new CommandError(
      `the tiles of the log ${log.origin} do not have the stored root: restore the database, or its log from a copy`,
      1,
    );
  }
  requireSeal(maker.macs, log);
  context.err(
    `The next checkpoint will continue the ${counted(log.size, 'entry', 'entries')} of this database. If a later ` +
      'checkpoint was ever published, this forks the log, and anyone who has that checkpoint can prove it.\n',
  );
  await publish(work, keys, log);
  return { origin: log.origin, recovered: 0, waited: 0, size: log.size };
}

/** Keeps the state file of a closed log beside the new one: it may show that entries were lost. */
function keepClosedState({ context, config, log }: Work): void {
  const { stateFile } = config.log;
  const closed = readState(stateFile);
  if (closed === null || closed.checkpoint.origin === log.origin) return;
  const { note, checkpoint } = closed;
  const path = placeOf(note, `${stateFile}.closed`);
  writeStateFile(path, note);
  const size = counted(checkpoint.size, 'entry', 'entries');
  context.err(
    `The state file, of ${size} of the closed log ${checkpoint.origin}, is kept as ${path}.\n`,
  );
}

/** Returns the first of `path`, `path-2` and so on that is free or holds the note: nothing replaces evidence. */
function placeOf(note: string, path: string): string {
  for (let n = 1; ; n++) {
    const place = n === 1 ? path : `${path}-${n}`;
    const held = readIfAny(place);
    if (held === null || held === note) return place;
  }
}

/** Signs a head, keeps it in the state file, and stores it. Then servers may continue where the database is now. */
async function publish(
  work: Work,
  keys: LogKeys,
  head: { readonly size: number; readonly root: Uint8Array },
): Promise<void> {
  const { store, config, log } = work;
  keepClosedState(work);
  const note = signCheckpoint(keys, head, Math.floor(Date.now() / 1000));
  saveState(config, note);
  await store.saveCheckpoint(log.logId, head.size, note, 'checkpoint');
  await store.recordHome(log.logId);
}

function requireKeys(config: Config, log: LogRecord): LogKeys {
  const keys = readLogKeys(config.log.keys);
  if (areKeysOf(keys, log)) return keys;
  const found =
    keys === null ? ', but there are none here' : `; those here ${describeOtherKeys(keys, log)}`;
  throw new CommandError(
    `this needs the keys of the log ${log.origin}${found}: copy them from another server, or set PHM_LOG_KEY_FILE`,
    1,
  );
}

/**
 * Returns the state file if it is of the open log; null without one, and for one of a closed log of this ledger, which a
 * rotation leaves behind. Throws `CommandError` for any other.
 */
async function readOwnState({ store, config, log }: Work): Promise<PublishedState | null> {
  const { stateFile } = config.log;
  let state: PublishedState | null;
  try {
    state = readState(stateFile);
  } catch (error) {
    throw new CommandError(
      `${stateFile} cannot be used: ${(error as Error).message}; restore the file, or move it away`,
      1,
    );
  }
  if (state === null || state.checkpoint.origin === log.origin) return state;
  const logs = await store.logs();
  if (logs.some(({ origin }) => origin === state.checkpoint.origin)) return null;
  throw new CommandError(
    `the state file ${stateFile} is of the log ${state.checkpoint.origin}, which this ledger does not have: name the ` +
      'right file with PHM_LOG_STATE_FILE, or move it away',
    1,
  );
}

/** Entries in one transaction. */
const BATCH = 4_096;

async function recoverFrom(work: Work, place: string, signal: AbortSignal): Promise<Recovery> {
  const { context, store, config, log, maker } = work;
  const keys = requireKeys(config, log);
  const source = await openSource(place, signal, context);
  const { checkpoint } = openCopy(source.name, await source.checkpoint(), log);
  const state = (await readOwnState(work))?.checkpoint ?? null;
  if (state !== null && state.size > Math.max(checkpoint.size, log.size)) {
    throw new CommandError(
      `the copy has ${counted(checkpoint.size, 'entry', 'entries')}, but this server published ${state.size}: use a newer ` +
        'copy',
      1,
    );
  }
  const line = context.status;
  const order = { store, log, source, copied: checkpoint, state, signal };
  const { findings, lost } = await checkCopy({
    ...order,
    onProgress: (entries) => line.show(`entries: ${entries.toLocaleString('en')}`),
  }).finally(() => line.clear());
  tellFindings(context.err, findings.list);
  if (findings.list.length > 0) throw new CommandError('nothing was recovered', 1);
  requireSeal(maker.macs, log);
  if (lost.length > 0) await recordRecovery(work, lost.length);
  for (let first = 0; first < lost.length; first += BATCH) {
    signal.throwIfAborted();
    const batch = lost.slice(first, first + BATCH);
    await store.recoverEntries(log.logId, batch, extendAt(log.size + first, maker));
  }
  const now = (await store.logs()).find(({ logId }) => logId === log.logId) ?? log;
  for (const known of [checkpoint, ...(state === null ? [] : [state])]) {
    if (!(await continues(storeTiles(store, log), known, now))) throw hasGrown();
  }
  requireSeal(maker.macs, now);
  await publish(work, keys, now);
  const waited = await countWaited(store, log, lost.length);
  return { origin: log.origin, recovered: lost.length, waited, size: now.size };
}

/** Returns how many of the entries that followed `log` belong to a row or an audit record of this database. */
async function countWaited(store: LedgerStore, log: LogRecord, count: number): Promise<number> {
  let waited = 0;
  for (let first = 0; first < count; first += BATCH) {
    const limit = Math.min(BATCH, count - first);
    const page = await store.pageEntries(log.logId, log.size + first, limit);
    waited += page.filter(({ kind }) => kind !== 'recovered').length;
  }
  return waited;
}

/** Returns an `extend` for a tree of this size. Behind entries of someone else, those of the copy would be a fork. */
function extendAt(size: number, maker: EntryMaker): Extend {
  return (edge, entries) => {
    if (edge.size === size) return sealed(maker, extendTree(edge, entries));
    throw hasGrown();
  };
}

function hasGrown(): CommandError {
  return new CommandError(
    'a server added entries meanwhile: stop all servers of this database, restore it once more, and run this again',
    1,
  );
}

/** Writes the audit record first: the monitor accepts entries without a statement only where a record explains them. */
async function recordRecovery({ store, log, maker }: Work, count: number): Promise<void> {
  const details = { origin: log.origin, first: log.size, count };
  await store.addAudit(newAudit(maker, { atMs: Date.now(), action: 'log_recovered', details }));
}

/** Opens the checkpoint of a copy. Throws `CommandError` unless the open log has signed it. */
function openCopy(name: string, note: string, log: LogRecord) {
  try {
    return openCheckpoint(note, verifierKeysOf(log));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${name} is no copy of the log ${log.origin}: ${error.message}`, 1);
  }
}
