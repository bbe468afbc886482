/**
 * The signing keys of the transparency log and the start of a log in the database, for the first start of a server and
 * for `phm log init`.
 */
import { timingSafeEqual } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { FormatError } from '#tlog';
import type { LogKeyOrigin } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import { writeDurably, writeFailure } from '../files/durable-file.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { requireOwnFile } from '../files/ownership.ts';
import { readFailure } from '../files/read-failure.ts';
import { plainText, readTextFile } from '../files/text-file.ts';
import { auditEntry, keyEntry } from '../keys/statement.ts';
import type { LedgerStore, LogRecord, PendingEntry } from '../ledger/index.ts';
import {
  EMPTY_ROOT,
  extendTree,
  type LogKeys,
  newLogKeysText,
  newOrigin,
  openVerifierKey,
  parseLogKeys,
  sha256,
} from '../log/index.ts';
import { type EntryMaker, newAudit, pendingEntryOf } from './log/audit-record.ts';
import { sealed } from './log/head-seal.ts';

/** Reads the log's keys; null if the managed file does not exist. Throws `SetupError`. */
export function readLogKeys(origin: LogKeyOrigin): LogKeys | null {
  if (origin.kind === 'managed' && !existsSync(origin.path)) return null;
  if (origin.kind !== 'environment') requireOwnFile(origin.path);
  const name = origin.kind === 'environment' ? 'PHM_LOG_KEY' : origin.path;
  try {
    return parseLogKeys(
      origin.kind === 'environment' ? plainText(origin.text) : readTextFile(origin.path),
    );
  } catch (error) {
    // The message of a `FormatError` quotes no key.
    const reason = error instanceof FormatError ? error.message : readFailure(error);
    throw new SetupError(`cannot use the keys of the log in ${name}: ${reason}; ${remedy(error)}`);
  }
}

function remedy(error: unknown): string {
  if (error instanceof FormatError) {
    return 'restore them from a backup, or move the file away and rotate the log: phm log init --rotate';
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return 'copy the file from another server or a backup, or generate it once for all servers: phm log init';
  }
  return code === 'EACCES' || code === 'EPERM'
    ? 'the user of the server must be able to read it, and run this'
    : 'restore the file from its backup';
}

/**
 * Generates the keys of a new log and writes them to a file with mode 0600. Throws `SetupError` if the file exists,
 * unless `replace` is set.
 */
export function createLogKeys(
  path: string,
  origin: string = newOrigin(),
  { replace }: { readonly replace: boolean } = { replace: false },
): LogKeys {
  const text = newLogKeysText(origin);
  try {
    makeDirectory(dirname(path));
    // Keeps a symbolic link and replaces the file that it names.
    const target = replace && existsSync(path) ? realpathSync(path) : path;
    writeDurably(target, text, { replace });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new SetupError(`${path} exists: it holds the keys of a log, which nothing can replace`);
    }
    throw new SetupError(`cannot write ${path}: ${writeFailure(cause)}`, { cause });
  }
  return parseLogKeys(text);
}

/** Returns the verifier keys as the database stores them: two lines, Ed25519 first. */
function verifierKeysText({ verifierKeys }: LogKeys): string {
  return `${verifierKeys.ed25519}\n${verifierKeys.mlDsa44}\n`;
}

/** Returns true if these are the keys of the log. Logs of other databases can have the same origin. */
export function areKeysOf(keys: LogKeys | null, { verifierKeys }: LogRecord): keys is LogKeys {
  return keys !== null && verifierKeysText(keys).trim() === verifierKeys.trim();
}

/** Says what tells these keys from those of the log, to follow their subject. Origins alone may be equal. */
export function describeOtherKeys(keys: LogKeys, { origin, verifierKeys }: LogRecord): string {
  return keys.origin === origin
    ? `have the key IDs ${keyIds(verifierKeysText(keys))}, but those of the open log ${origin} are ${keyIds(verifierKeys)}`
    : `belong to the log ${keys.origin}, but the open log of this database is ${origin}`;
}

function keyIds(verifierKeys: string): string {
  try {
    const keys = verifierKeys.trim().split('\n').map(openVerifierKey);
    return keys.map(({ keyId }) => keyId.toString(16).padStart(8, '0')).join(' and ');
  } catch (error) {
    // A row that no server wrote can hold any text.
    if (!(error instanceof FormatError)) throw error;
    return 'unreadable';
  }
}

export interface NewLog {
  readonly keys: LogKeys;
  /** MACs of pending entries, and the version of the master secret for new ones. */
  readonly macs: EntryMaker['macs'];
  readonly version: number;
  readonly nowMs: number;
  /**
   * The log that this one follows: its last checkpoint, without signatures, whose SHA-256 is entry 0, and its size in
   * the database. Null for the first log.
   */
  readonly follows: {
    readonly logId: number;
    readonly size: number;
    readonly checkpointText: string;
  } | null;
}

/**
 * Starts a log in the database and closes the open one. Writes the audit record, and moves entries that wait for a
 * closed log to the new one. Throws `SetupError` if the origin belongs to another log of this database.
 */
export async function startLog(store: LedgerStore, start: NewLog): Promise<LogRecord> {
  const { keys, macs, version, nowMs, follows } = start;
  const first = follows && followingEntry(follows.checkpointText);
  const log = await store.startLog({
    origin: keys.origin,
    verifierKeys: verifierKeysText(keys),
    startedMs: nowMs,
    first,
    tree: sealed(
      { log: keys, macs, version },
      extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, first ? [first] : []),
    ),
    ...(follows && { closes: { logId: follows.logId, size: follows.size } }),
  });
  const maker = { log, macs, version };
  // Another server may have started the same log a moment ago, with the record.
  if (log.startedMs === nowMs) {
    const { ed25519, mlDsa44 } = keys.verifierKeys;
    const details = {
      origin: keys.origin,
      verifier_keys: [ed25519, mlDsa44],
      follows: follows?.checkpointText ?? null,
    };
    await store.addAudit(newAudit(maker, { atMs: nowMs, action: 'log_started', details }));
  }
  await restampStranded(store, maker);
  return log;
}

/**
 * Returns the first entry of a log that follows another: the hash of the other's last checkpoint, without its signatures,
 * so that later cosignatures do not change it.
 */
export function followingEntry(checkpointText: string): Buffer {
  return sha256(checkpointText);
}

/** Stranded entries in one transaction. */
const RESTAMP_BATCH = 500;

/**
 * Moves entries that wait for other logs to the open one, and returns how many. An entry with a wrong MAC, or whose
 * row was changed, moves with a MAC that no turn accepts, so that the turn sets it aside. An entry under a registered
 * version of the master secret that this process lacks stays for a server that has the version.
 */
export async function restampStranded(store: LedgerStore, maker: EntryMaker): Promise<number> {
  const origins = new Map((await store.logs()).map(({ logId, origin }) => [logId, origin]));
  let moved = 0;
  for (;;) {
    const stranded = await store.strandedEntries(maker.log.logId, RESTAMP_BATCH);
    if (stranded.length === 0) return moved;
    const judgeable = await withKnownVersions(store, maker, stranded);
    const restamped: PendingEntry[] = [];
    for (const entry of judgeable) {
      restamped.push(await restamp(store, maker, entry, origins.get(entry.logId)));
    }
    await store.restamp(restamped);
    moved += restamped.length;
    if (judgeable.length < stranded.length) return moved;
  }
}

/** Leaves out entries whose MAC this process cannot judge although it may be right. */
async function withKnownVersions(
  store: LedgerStore,
  { macs }: EntryMaker,
  entries: readonly PendingEntry[],
): Promise<readonly PendingEntry[]> {
  const isHeld = ({ secretVersion }: PendingEntry) => macs.versions.includes(secretVersion);
  if (entries.every(isHeld)) return entries;
  // After the entries were read: servers register a version before they make entries under it.
  const registered = await store.secretChecks();
  return entries.filter((entry) => isHeld(entry) || !registered.has(entry.secretVersion));
}

async function restamp(
  store: LedgerStore,
  maker: EntryMaker,
  old: PendingEntry,
  oldOrigin: string | undefined,
): Promise<PendingEntry> {
  const { entryId, kind, entry, mac, secretVersion } = old;
  const refused = { ...old, logId: maker.log.logId, mac: Buffer.alloc(mac.length) };
  if (oldOrigin === undefined) return refused;
  if (!maker.macs.verifies(secretVersion, entryId, entry, mac)) return refused;
  const entryIn = await entryBuilder(store, old);
  if (!entryIn || !timingSafeEqual(entryIn(oldOrigin), entry)) return refused;
  return pendingEntryOf(maker, kind, entryId, entryIn(maker.log.origin));
}

/** Returns a function from an origin to the entry of this key or audit record; null if its row is gone. */
async function entryBuilder(
  store: LedgerStore,
  { kind, entryId }: PendingEntry,
): Promise<((origin: string) => Buffer) | null> {
  if (kind === 'audit') {
    const record = await findAudit(store, entryId);
    return record && ((origin) => auditEntry(record, origin));
  }
  const record = await store.findRecord(entryId);
  if (!record?.receipt) return null;
  return (origin) => keyEntry(record, origin);
}

async function findAudit(store: LedgerStore, auditId: Uint8Array) {
  const [record] = await store.audits(predecessor(auditId), 1);
  return record && Buffer.compare(record.auditId, auditId) === 0 ? record : null;
}

/** Returns the ID before this one in the order of IDs. */
function predecessor(id: Uint8Array): Uint8Array {
  const before = Uint8Array.from(id);
  let i = before.length - 1;
  while (i > 0 && before[i] === 0) before[i--] = 0xff;
  before[i]--;
  return before;
}
