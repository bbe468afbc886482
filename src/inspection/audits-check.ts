/** Compares audit records with their entries, and collects what they say about rows and entries. */
import { formatTimestamp } from '../clock.ts';
import { auditEntry } from '../keys/terms.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import { ApiKeyHistories, detailsOf, type LedgerStore, type LogRecord } from '../ledger/index.ts';
import { AccountChains, checkAccounts } from './accounts-check.ts';
import { checkApiKeys } from './api-keys-check.ts';
import { type EntryReader, makes } from './entry-reader.ts';
import { checkRevocations } from './states-check.ts';
import { MADE_UP, type WaitingEntries } from './waiting-entries.ts';

/** Entries of one log. */
export interface EntryRange {
  readonly first: number;
  readonly count: number;
}

/** What the audit record of a log's start states. */
export interface LogStartFacts {
  readonly atMs: number;
  /** As the row has them. */
  readonly verifierKeys: string;
}

/** What the audit records state. */
interface AuditFacts {
  /** IDs of all records, in hexadecimal. */
  readonly ids: Set<string>;
  /** Records whose entry was compared. */
  verified: number;
  /** The time up to which rows were pruned. */
  prunedBeforeMs: number;
  /** Entries that were recovered from a copy, for each log. */
  readonly recoveries: Map<number, EntryRange[]>;
  /** The last checkpoint of the log before, without signatures, for each log that follows another. */
  readonly follows: Map<number, string>;
  /** The start of each log that has such a record. */
  readonly starts: Map<number, LogStartFacts>;
}

interface AuditsOrder {
  readonly store: LedgerStore;
  readonly logs: readonly LogRecord[];
  readonly findings: Findings;
}

type Audit = Awaited<ReturnType<LedgerStore['audits']>>[number];

const PAGE = 1_000;

const AUDIT_CHANGED: FindingKind = {
  problem: 'audit records that differ from their entry in the log',
  remedy: 'These records were changed. Restore them from a backup.',
};
const AUDIT_INSERTED: FindingKind = {
  problem: 'audit records without an entry in the log',
  remedy: 'These records were inserted, or the log set their entries aside.',
};

/** Where the entries of the records are. */
interface Places {
  readonly entries: EntryReader;
  readonly waiting: WaitingEntries;
}

/** Checks every audit record. A record counts if its entry confirms it. While the entry waits, its MAC must be right. */
export async function checkAudits(order: AuditsOrder, places: Places): Promise<AuditFacts> {
  const facts: AuditFacts = {
    ids: new Set(),
    verified: 0,
    prunedBeforeMs: 0,
    recoveries: new Map(),
    follows: new Map(),
    starts: new Map(),
  };
  const chains = new AccountChains();
  const apiKeys = new ApiKeyHistories();
  for (let after: Uint8Array | null = null; ; ) {
    const page: Audit[] = await order.store.audits(after, PAGE);
    const confirmed: Audit[] = [];
    for (const record of page) {
      chains.note(record);
      apiKeys.note(record);
      facts.ids.add(Buffer.from(record.auditId).toString('hex'));
      if (await isConfirmed(order, places, record, facts)) confirmed.push(record);
    }
    for (const record of confirmed) note(order, record, facts);
    await checkRevocations(order, confirmed);
    if (page.length < PAGE) break;
    after = page[page.length - 1].auditId;
  }
  await checkAccounts(order, chains);
  await checkApiKeys(order, apiKeys);
  return facts;
}

async function isConfirmed(
  { store, logs, findings }: AuditsOrder,
  { entries, waiting }: Places,
  record: Audit,
  facts: AuditFacts,
): Promise<boolean> {
  const logged = await store.findLogged(record.auditId);
  if (logged === 'pending') {
    const verdict = waiting.judge(record.auditId, (origin) => auditEntry(record, origin));
    if (verdict === 'bad') findings.add(MADE_UP, describe(record));
    return verdict === 'good';
  }
  if (logged === null) {
    // Records from before the log have no entry.
    if (record.atMs >= (logs[0]?.startedMs ?? 0)) findings.add(AUDIT_INSERTED, describe(record));
    return false;
  }
  const entry = await entries.read(logged);
  const log = logs.find(({ logId }) => logId === logged.logId);
  const isRight = entry && log && makes(entry, () => auditEntry(record, log.origin));
  if (isRight) facts.verified++;
  else findings.add(AUDIT_CHANGED, describe(record));
  return isRight ?? false;
}

const describe = ({ action, atMs }: Audit): string => `${action} ${formatTimestamp(atMs)}`;

/** Collects what a confirmed record states about rows and entries. */
function note({ logs }: AuditsOrder, { action, atMs, details }: Audit, facts: AuditFacts): void {
  const { before, origin, first, count, follows, verifier_keys: keys } = detailsOf(details);
  const log = logs.find((one) => one.origin === origin);
  if (action === 'pruned' && typeof before === 'string') {
    facts.prunedBeforeMs = Math.max(facts.prunedBeforeMs, Date.parse(before) || 0);
  }
  if (action === 'log_started' && log && typeof follows === 'string') {
    facts.follows.set(log.logId, follows);
  }
  if (action === 'log_started' && log && Array.isArray(keys)) {
    facts.starts.set(log.logId, { atMs, verifierKeys: keys.map((key) => `${key}\n`).join('') });
  }
  if (action === 'log_recovered' && log && typeof first === 'number' && typeof count === 'number') {
    const ranges = facts.recoveries.get(log.logId) ?? [];
    facts.recoveries.set(log.logId, [...ranges, { first, count }]);
  }
}
