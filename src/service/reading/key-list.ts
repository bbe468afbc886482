/**
 * Lists the keys of an account. The ledger has them by account and time; all other filters are applied here, to a bounded
 * number of rows and for a bounded time, so that no filter makes a call long.
 */
import { monotonicMs } from '../../clock.ts';
import type { KeyStatus } from '../../keys/key-status.ts';
import { keyStatus } from '../../keys/key-status.ts';
import type { KeyPage, KeyQuery, KeyRecord, KeyRecordStore } from '../../ledger/index.ts';

/** Rows that one call reads at most. */
const MAX_READ = 1_000;

/** Rows of one query, if a filter may leave most of them out. */
const READ_AT_ONCE = 100;

/** Milliseconds after which a call starts no further query: rows that lie far apart may each need a read of the disk. */
const MAX_SEARCH_MS = 20;

/**
 * Time between the acceptance of a request, which is the key's time, and its key ID. The longest request takes twenty
 * seconds.
 */
const LONGEST_MS = 60_000;

const KEY_ID_BYTES = 16;

/** What a listed key must be; null: anything. */
export interface KeyFilter {
  /** Time of the key in milliseconds since the epoch: this or later. */
  readonly fromMs: number | null;
  /** Earlier than this. */
  readonly beforeMs: number | null;
  readonly securityLevel: number | null;
  readonly source: string | null;
  readonly apiKeyId: string | null;
  readonly status: KeyStatus | null;
  /** Keys whose expiry is earlier than this; null also has those without one. */
  readonly expiresBeforeMs: number | null;
  /** True for revoked keys, whatever the reason; false for all others. */
  readonly isRevoked: boolean | null;
  /** True for validated keys, false for plain ones. */
  readonly hasEvidence: boolean | null;
  /** Names and values, all of which the key has. */
  readonly labels: readonly (readonly [name: string, value: string])[];
}

export interface KeyListQuery {
  readonly accountId: string;
  readonly filter: KeyFilter;
  /** Position of an earlier page, its `next`; null: from the newest key on. */
  readonly after: Uint8Array | null;
  /** Most keys of the page, 1 to 100. */
  readonly limit: number;
  /** Time at which the status is judged. */
  readonly nowMs: number;
}

/** Returns a page. It may have fewer keys than `limit`, also none, although `next` says that more may follow. */
export async function listKeys(
  store: Pick<KeyRecordStore, 'listKeys'>,
  query: KeyListQuery,
  clockMs: () => number = monotonicMs,
): Promise<KeyPage> {
  const endMs = clockMs() + MAX_SEARCH_MS;
  const { accountId, filter, limit } = query;
  const found: KeyRecord[] = [];
  let position = start(query);
  for (let read = 0; read < MAX_READ; ) {
    const asked: KeyQuery = {
      accountId,
      beforeKeyId: position,
      fromKeyId: filter.fromMs === null ? null : lowestKeyId(filter.fromMs),
      limit: matchesAll(filter) ? limit - found.length : READ_AT_ONCE,
    };
    const page = await store.listKeys(asked);
    for (const record of page.keys) {
      if (matches(record, query)) found.push(record);
      if (found.length === limit) return { keys: found, next: record.keyId };
    }
    if (page.next === null) return { keys: found, next: null };
    position = page.next;
    // A page may be empty while the index by account is built.
    read += Math.max(page.keys.length, READ_AT_ONCE);
    if (clockMs() >= endMs) break;
  }
  return { keys: found, next: position };
}

/** Returns the key ID below which the page begins: the position, or the end of the period if that is earlier. */
function start({ after, filter: { beforeMs } }: KeyListQuery): Uint8Array | null {
  if (beforeMs === null) return after;
  const end = lowestKeyId(beforeMs + LONGEST_MS);
  return after !== null && Buffer.compare(after, end) < 0 ? after : end;
}

/** Returns the lowest key ID of a time: its first 48 bits are milliseconds (RFC 9562 §5.7). */
function lowestKeyId(atMs: number): Uint8Array {
  const keyId = Buffer.alloc(KEY_ID_BYTES);
  keyId.writeUIntBE(Math.min(Math.max(atMs, 0), 2 ** 48 - 1), 0, 6);
  return keyId;
}

/** Reports whether every key meets the filter. The bounds of a period are those of key IDs, and so wider than the period. */
function matchesAll({ labels, ...others }: KeyFilter): boolean {
  return labels.length === 0 && Object.values(others).every((one) => one === null);
}

function matches(record: KeyRecord, { filter, nowMs }: KeyListQuery): boolean {
  const is = <T>(wanted: T | null, value: T) => wanted === null || wanted === value;
  return (
    (filter.fromMs === null || record.createdMs >= filter.fromMs) &&
    (filter.beforeMs === null || record.createdMs < filter.beforeMs) &&
    is(filter.securityLevel, record.securityLevel) &&
    is(filter.source, record.source) &&
    is(filter.apiKeyId, record.apiKeyId) &&
    is(filter.hasEvidence, record.evidence !== null) &&
    is(filter.isRevoked, record.revocation !== null) &&
    expiresBefore(record, filter.expiresBeforeMs) &&
    is(filter.status, keyStatus(record, nowMs)) &&
    hasLabels(record.labels, filter.labels)
  );
}

function expiresBefore({ expiresMs }: KeyRecord, wantedMs: number | null): boolean {
  return wantedMs === null || (expiresMs !== null && expiresMs < wantedMs);
}

function hasLabels(labels: string | null, wanted: KeyFilter['labels']): boolean {
  if (wanted.length === 0) return true;
  const all: Record<string, string> = labels === null ? {} : JSON.parse(labels);
  return wanted.every(([name, value]) => Object.hasOwn(all, name) && all[name] === value);
}
