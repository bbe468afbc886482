/**
 * Checks the states of accounts against the audit records of their changes. Each record names the one before it, so the
 * records of an account form a chain that does not depend on clocks, and the account names its end.
 */
import { formatAuditId } from '../keys/terms.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import type { Account, AuditAction, AuditRecord, LedgerStore } from '../ledger/index.ts';
import { accountState, detailsOf } from '../ledger/index.ts';

const STATE_CHANGED: FindingKind = {
  problem: 'accounts whose state is not that of their last audit record',
  remedy:
    'The states were changed in the database: a suspended or deleted account may have been served. Restore them from a ' +
    'backup, or suspend or delete the accounts again.',
};

/** The state that each action leads to. */
const STATES: Partial<Record<AuditAction, string>> = {
  account_suspended: 'suspended',
  account_resumed: 'active',
  account_deleted: 'deleted',
};

/** The records of one account. */
interface Chain {
  readonly records: Map<string, AuditRecord>;
  /** IDs of the records that another one names as the one before it. */
  readonly followed: Set<string>;
}

/** The records of changes, by account. */
export class AccountChains {
  readonly #chains = new Map<string, Chain>();

  note(record: AuditRecord): void {
    if (STATES[record.action] === undefined) return;
    const { account_id, after } = detailsOf(record.details);
    const accountId = String(account_id);
    const chain = this.#chains.get(accountId) ?? { records: new Map(), followed: new Set() };
    this.#chains.set(accountId, chain);
    chain.records.set(formatAuditId(record.auditId), record);
    if (typeof after === 'string') chain.followed.add(after);
  }

  get accountIds(): string[] {
    return [...this.#chains.keys()];
  }

  /** Reports whether the account is in the state that its records lead to. */
  explains({ accountId, ...account }: Account): boolean {
    const { records, followed } = this.#chains.get(accountId) ?? NONE;
    const ends = [...records.keys()].filter((id) => !followed.has(id));
    if (account.stateAudit === null) return records.size === 0 && isUnmarked(account);
    const [end] = ends;
    const record = end === undefined ? undefined : records.get(end);
    return (
      ends.length === 1 &&
      record !== undefined &&
      end === formatAuditId(account.stateAudit) &&
      STATES[record.action] === accountState(account) &&
      [account.suspendedMs ?? record.atMs, account.deletedMs ?? record.atMs].every(
        (ms) => ms === record.atMs,
      )
    );
  }
}

const NONE: Chain = { records: new Map(), followed: new Set() };

const isUnmarked = ({ suspendedMs, deletedMs }: Omit<Account, 'accountId'>): boolean =>
  suspendedMs === null && deletedMs === null;

/** Checks every account, and that each account with records is there. */
export async function checkAccounts(
  { store, findings }: { readonly store: LedgerStore; readonly findings: Findings },
  chains: AccountChains,
): Promise<void> {
  const wrong = await unexplained(store, chains);
  if (wrong.length === 0) return;
  // A command may have changed a state since the records were read.
  const again = new AccountChains();
  for await (const record of allAudits(store)) again.note(record);
  for (const accountId of await unexplained(store, again)) findings.add(STATE_CHANGED, accountId);
}

/** Returns the accounts that their records do not explain. */
async function unexplained(store: LedgerStore, chains: AccountChains): Promise<string[]> {
  const accounts = await store.listAccounts();
  const known = new Set(accounts.map(({ accountId }) => accountId));
  return [
    ...accounts.filter((one) => !chains.explains(one)).map(({ accountId }) => accountId),
    ...chains.accountIds.filter((accountId) => !known.has(accountId)),
  ];
}

const PAGE = 1_000;

/** Yields all audit records, in the order of their IDs. */
export async function* allAudits(store: LedgerStore): AsyncGenerator<AuditRecord> {
  for (let after: Uint8Array | null = null; ; ) {
    const page: AuditRecord[] = await store.audits(after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page[page.length - 1].auditId;
  }
}
