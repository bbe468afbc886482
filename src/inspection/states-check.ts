/**
 * Compares the states of keys with the rows and audit records that explain them, in both directions. The log vouches for
 * both: for the expiry by the digest of the row, for a revocation by the entry of its audit record.
 */
import { formatKeyId, parseKeyId } from '../keys/terms.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import type { AuditRecord, KeyStateRecord, LedgerStore, RecordedRow } from '../ledger/index.ts';
import { detailsOf } from '../ledger/index.ts';

interface StatesOrder {
  readonly store: LedgerStore;
  readonly findings: Findings;
  readonly signal: AbortSignal;
  readonly onProgress: (part: string, count: number) => void;
}

const PAGE = 1_000;

const RESTORE = 'The states were changed in the database. Restore them from a backup.';

const EXPIRY_REMOVED: FindingKind = {
  problem: 'keys that expire but have no state',
  remedy: RESTORE,
};
const STATE_CHANGED: FindingKind = {
  problem: 'states of keys that differ from the row of the key',
  remedy: RESTORE,
};
const REVOCATION_INSERTED: FindingKind = {
  problem: 'revocations that differ from their audit record, or have none',
  remedy: RESTORE,
};
const REVOCATION_REMOVED: FindingKind = {
  problem: 'revocations that are no state of their key any more',
  remedy: RESTORE,
};

/** Checks that each of these rows whose key expires has a state. */
export async function checkExpiries(
  { store, findings }: Pick<StatesOrder, 'store' | 'findings'>,
  rows: readonly RecordedRow[],
): Promise<void> {
  const keyIds = rows.filter(({ expiresMs }) => expiresMs !== null).map(({ keyId }) => keyId);
  if (keyIds.length === 0) return;
  const states = await store.findKeyStates(keyIds);
  for (const [i, keyId] of keyIds.entries()) {
    if (!states[i]) findings.add(EXPIRY_REMOVED, formatKeyId(keyId));
  }
}

/** Checks every state against the row of its key, unless that was pruned, and against its audit record. */
export async function checkStates(order: StatesOrder): Promise<void> {
  const { store, findings, signal, onProgress } = order;
  let after: Uint8Array | null = null;
  for (let checked = 0; ; ) {
    signal.throwIfAborted();
    const page: KeyStateRecord[] = await store.pageKeyStates(after, PAGE);
    for (const state of page) {
      if (differsFromRow(state)) findings.add(STATE_CHANGED, formatKeyId(state.keyId));
      if (differsFromAudit(state)) findings.add(REVOCATION_INSERTED, formatKeyId(state.keyId));
    }
    checked += page.length;
    onProgress('states of keys', checked);
    if (page.length < PAGE) return;
    after = page[page.length - 1].keyId;
  }
}

function differsFromRow({ row, accountId, commitment, expiresMs }: KeyStateRecord): boolean {
  if (row === null) return false;
  const { version, digest } = row.commitment;
  return (
    row.accountId !== accountId ||
    row.expiresMs !== expiresMs ||
    version !== commitment.version ||
    !digest.equals(commitment.digest)
  );
}

function differsFromAudit({ keyId, accountId, revocation, audit }: KeyStateRecord): boolean {
  if (revocation === null) return false;
  const stated = audit && statedRevocation(audit);
  return (
    !stated ||
    stated.key_id !== formatKeyId(keyId) ||
    stated.account_id !== accountId ||
    stated.state !== revocation.state ||
    stated.reason !== revocation.reason ||
    audit.atMs !== revocation.revokedMs
  );
}

/** Checks that each revocation among these audit records, which the log confirms, is a state of its key. */
export async function checkRevocations(
  { store, findings }: Pick<StatesOrder, 'store' | 'findings'>,
  audits: readonly AuditRecord[],
): Promise<void> {
  const revocations = audits.flatMap((audit) => {
    const stated = statedRevocation(audit);
    const keyId = parseKeyId(String(stated?.key_id));
    return stated && keyId ? [{ audit, keyId, stated }] : [];
  });
  if (revocations.length === 0) return;
  const states = await store.findKeyStates(revocations.map(({ keyId }) => keyId));
  for (const [i, { audit, keyId, stated }] of revocations.entries()) {
    const found = states[i];
    const isKept = found?.audit && Buffer.compare(found.audit.auditId, audit.auditId) === 0;
    const isFollowed = stated.state === 'deactivated' && found?.revocation?.state === 'compromised';
    if (!isKept && !isFollowed) findings.add(REVOCATION_REMOVED, formatKeyId(keyId));
  }
}

/** Returns the details of a revocation; null for another action. */
function statedRevocation({
  action,
  details,
}: AuditRecord): Readonly<Record<string, unknown>> | null {
  return action === 'key_revoked' ? detailsOf(details) : null;
}
