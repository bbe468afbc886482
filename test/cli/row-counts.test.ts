/** The words for what an export or an import moves. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeContents } from '../../src/cli/admin/row-counts.ts';
import { TABLE_NAMES } from '../../src/ledger/tables.ts';

const rows = (given: object) =>
  describeContents({
    ...Object.fromEntries(TABLE_NAMES.map((name) => [name, 0])),
    ...given,
  } as never);

it('an export names recipients, records of retries and logs if there are any', () => {
  const ledger = { accounts: 2, api_keys: 1, ledger: 1_200 };
  assert.equal(rows(ledger), '2 accounts, 1 API key, 1,200 ledger rows');
  assert.equal(
    rows({ ...ledger, recipients: 1, idempotency: 2, logs: 1, log_entries: 3 }),
    '2 accounts, 1 API key, 1,200 ledger rows, 1 recipient, 2 records of retries, 1 log, 3 log entries',
  );
});
