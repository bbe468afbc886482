/** Moves entries that wait for closed logs to the open one. */
import { timingSafeEqual } from 'node:crypto';
import { auditEntry, keyEntry } from '../../keys/statement.ts';
import type { LedgerStore, PendingEntry } from '../../ledger/index.ts';
import { type EntryMaker, pendingEntryOf } from './audit-record.ts';

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
