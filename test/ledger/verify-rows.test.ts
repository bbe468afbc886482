/** How `phm ledger verify` names a row, also one whose key is damaged. `verify-contract.ts` holds what it finds in rows. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RawRow } from '../../src/ledger/move/movable-store.ts';
import type { TableName } from '../../src/ledger/tables.ts';
import { Findings } from '../../src/ledger/verify/findings.ts';
import { RowChecks } from '../../src/ledger/verify/rows.ts';
import { makeKeyId } from './contract.ts';

/** Checks a row that lacks all columns but the first ones, and returns what is found first: the problem, and the row's name. */
function found(table: TableName, ...first: RawRow): readonly (string | undefined)[] {
  const findings = new Findings();
  assert.equal(new RowChecks(findings).check(table, first), undefined);
  const [finding] = findings.list;
  return [finding?.problem.replace(/ is not .*/, ''), finding?.examples[0]];
}

it('names a row by its key, and a key ID as clients see it', () => {
  const keyId = makeKeyId();
  const hex = Buffer.from(keyId).toString('hex');
  assert.deepEqual(found('ledger', keyId), ['ledger: commitment', `phm_${BigInt(`0x${hex}`)}`]);
  // Only key IDs are shown as numbers.
  assert.deepEqual(found('accounts', hex), ['accounts: name', hex]);
  assert.deepEqual(found('recipients', hex, 'a\u001b[2J'), ['recipients: name', `${hex} a?[2J`]);
});

it('names a row whose key ID is damaged by what stands there', () => {
  const short = Buffer.alloc(15, 0xab);
  assert.deepEqual(found('ledger', short), ['ledger: key_id', 'ab'.repeat(15)]);
  assert.deepEqual(found('ledger', null), ['ledger: key_id', 'null']);
  assert.deepEqual(found('ledger', 'phm_\n'), ['ledger: key_id', 'phm_?']);
  assert.deepEqual(found('ledger', Buffer.alloc(99)), ['ledger: key_id', '0'.repeat(80)]);
});
