/** The findings of `phm ledger verify` in either store: it reports each change, and nothing else. */
import assert from 'node:assert/strict';
import { verifyLedger } from '../../src/ledger/admin.ts';
import type { StoreLocation } from '../../src/ledger/location.ts';
import { NOW } from './contract.ts';

/**
 * A change that no program of the service makes, in SQL that both databases understand, and the expected
 * finding.
 */
const CHANGES: readonly (readonly [sql: string, problem: RegExp, count: number])[] = [
  [
    "UPDATE usage SET used = used + 1 WHERE account_id = 'acct_a' AND month = 24322",
    /^usage: an account's counters do not equal/,
    1,
  ],
  [
    `UPDATE usage SET used = used + CASE month WHEN 24321 THEN 1 ELSE -1 END
     WHERE account_id = 'acct_b' AND month IN (24321, 24322)`,
    /^usage: the counter of a month does not equal/,
    2,
  ],
  [
    "UPDATE rollup_hour SET failures = failures + 1 WHERE account_id = 'acct_b' AND failures > 0",
    /^rollup_hour: an hour does not equal the sum of its minutes/,
    1,
  ],
  [
    'UPDATE rollup_minute SET streams_passed = 9 WHERE failures > 0',
    /^rollup_minute: streams_passed exceed/,
    1,
  ],
  ['DELETE FROM ledger WHERE latency_us = 250', /^ledger: the rows of an hour do not match/, 1],
  ['UPDATE ledger SET latency_us = 7 WHERE latency_us = 301', /^ledger: the rows of an hour/, 1],
  [
    'UPDATE ledger SET fingerprint = fingerprint + 1 WHERE latency_us = 302',
    /^ledger: fingerprint is not/,
    1,
  ],
  [
    'UPDATE ledger SET secret_version = 7 WHERE latency_us = 303',
    /^ledger: secret_version is not a/,
    1,
  ],
  [
    "UPDATE ledger SET account_id = 'acct_x' WHERE latency_us = 304",
    /^ledger: account_id names no/,
    1,
  ],
  [
    'UPDATE ledger SET created_ms = created_ms + 901000 WHERE latency_us = 305',
    /^ledger: created_ms differs from the time/,
    1,
  ],
  [
    "UPDATE ledger SET api_key_id = 'key_acct_x' WHERE latency_us = 306",
    /^ledger: api_key_id names no/,
    1,
  ],
  [
    "UPDATE ledger SET modulation = '' WHERE latency_us = 307",
    /^ledger: modulation is not 1 to 100/,
    1,
  ],
  [
    'UPDATE ledger SET latency_us = -5 WHERE latency_us = 308',
    /^ledger: latency_us is not a whole number/,
    1,
  ],
  [
    'UPDATE ledger SET tests_passed = 16 WHERE latency_us = 310',
    /^ledger: tests_passed exceeds/,
    1,
  ],
  [
    'UPDATE ledger SET sealed_to = commitment WHERE latency_us = 311',
    /^ledger: only one of sealed_to and sealed_digest is set/,
    1,
  ],
  ['UPDATE ledger SET gate_p = NULL WHERE latency_us = 313', /^ledger: only some of gate_p/, 1],
  [
    'UPDATE ledger SET commitment = (SELECT commitment FROM ledger WHERE latency_us = 101), ' +
      'fingerprint = (SELECT fingerprint FROM ledger WHERE latency_us = 101) WHERE latency_us = 315',
    /^ledger: two rows have the same commitment/,
    1,
  ],
  [
    'DELETE FROM validated_keys WHERE key_id = (SELECT key_id FROM ledger WHERE latency_us = 316)',
    /^ledger: a validated key has no p-values/,
    1,
  ],
  [
    `UPDATE validated_keys SET account_id = 'acct_a'
     WHERE key_id = (SELECT key_id FROM ledger WHERE latency_us = 319)`,
    /^validated_keys: the ledger has no validated key with this account/,
    1,
  ],
];

/**
 * Verifies, changes and verifies again. `change` runs a statement on the store. `location` names a store
 * that `fillStore` has filled with 300 rows.
 */
export async function verifyContract(
  location: StoreLocation,
  change: (sql: string) => Promise<void> | void,
): Promise<void> {
  const verify = async () => {
    const signal = new AbortController().signal;
    return verifyLedger(location, { nowMs: NOW, signal, onProgress: () => {} });
  };
  const sound = await verify();
  assert.deepEqual(sound.findings, []);
  assert.deepEqual([sound.rows.ledger, sound.keysWithoutRow], [300, 0]);
  for (const [sql] of CHANGES) await change(sql);
  const { findings } = await verify();
  for (const [sql, problem] of CHANGES) {
    assert.ok(
      findings.some((finding) => problem.test(finding.problem)),
      sql,
    );
  }
  const unexpected = findings.filter(
    (finding) => !CHANGES.some(([, problem]) => problem.test(finding.problem)),
  );
  // Rows that moved to another account leave their old account and their p-values behind.
  assert.deepEqual(unexpected, []);
}
