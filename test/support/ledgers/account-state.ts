/** Changes the state of an account without a command, as an operator does. */
import assert from 'node:assert/strict';
import type { AccountState, LedgerStore } from '../../../src/ledger/index.ts';
import { auditRecord } from '../../ledger/log-contract.ts';

const ACTIONS = {
  active: 'account_resumed',
  suspended: 'account_suspended',
  deleted: 'account_deleted',
} as const;

/** Brings an account to a state, with a reason that no caller may see. */
export async function changeState(
  store: LedgerStore,
  accountId: string,
  to: AccountState,
): Promise<void> {
  const after = (await store.findAccount(accountId))?.stateAudit ?? null;
  const details = '{"reason":"a secret reason"}';
  const audit = auditRecord(null, { action: ACTIONS[to], details });
  const order = { accountId, to, after, atMs: Date.now() };
  assert.equal(await store.changeAccountState(order, audit), 'changed');
}
