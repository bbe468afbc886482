/** The findings of `phm ledger verify` in either store: it reports each change, and nothing else. */
import assert from 'node:assert/strict';
import { verifyLedger } from '../../src/ledger/admin.ts';
import type { StoreLocation } from '../../src/ledger/location.ts';
import { NOW } from './contract.ts';

/**
 * A change that no program of the service makes, in SQL that both databases understand, and the expected
 * finding.
 */
const CHANGES: readonly (readonly [sql: string, problem: RegExp])[] = [
  [
    "UPDATE usage SET used = used + 1 WHERE account_id = 'acct_a' AND month = 24322",
    /^usage: an account's counters do not equal/,
  ],
  [
    `UPDATE usage SET used = used + CASE month WHEN 24321 THEN 1 ELSE -1 END
     WHERE account_id = 'acct_b' AND month IN (24321, 24322)`,
    /^usage: the counter of a month does not equal/,
  ],
  [
    "UPDATE rollup_hour SET failures = failures + 1 WHERE account_id = 'acct_b' AND failures > 0",
    /^rollup_hour: an hour does not equal the sum of its minutes/,
  ],
  [
    'UPDATE rollup_minute SET streams_passed = 9 WHERE failures > 0',
    /^rollup_minute: streams_passed exceed/,
  ],
  [
    'UPDATE rollup_minute SET metered = keys - 1 WHERE failures = 0 AND keys > 0',
    /^rollup_minute: keys exceed metered/,
  ],
  [
    "UPDATE rollup_hour SET latency_counts = '0,999' WHERE account_id = 'acct_b' AND failures > 0",
    /^rollup_hour: latency_counts exceed keys/,
  ],
  [
    "INSERT INTO api_key_usage (api_key_id, month, used) VALUES ('key_lost', 24322, 1)",
    /^api_key_usage: api_key_id names no API key/,
  ],
  ['DELETE FROM ledger WHERE latency_us = 250', /^ledger: the rows of an hour do not match/],
  ['UPDATE ledger SET latency_us = 7 WHERE latency_us = 301', /^ledger: the rows of an hour/],
  [
    'UPDATE ledger SET fingerprint = fingerprint + 1 WHERE latency_us = 302',
    /^ledger: fingerprint is not/,
  ],
  [
    'UPDATE ledger SET secret_version = 7 WHERE latency_us = 303',
    /^ledger: secret_version is not a/,
  ],
  [
    "UPDATE ledger SET account_id = 'acct_x' WHERE latency_us = 304",
    /^ledger: account_id names no/,
  ],
  [
    'UPDATE ledger SET created_ms = created_ms + 901000 WHERE latency_us = 305',
    /^ledger: created_ms differs from the time/,
  ],
  [
    "UPDATE ledger SET api_key_id = 'key_acct_x' WHERE latency_us = 306",
    /^ledger: api_key_id names no/,
  ],
  [
    "UPDATE ledger SET modulation = '' WHERE latency_us = 307",
    /^ledger: modulation is not 1 to 100/,
  ],
  [
    'UPDATE ledger SET latency_us = -5 WHERE latency_us = 308',
    /^ledger: latency_us is not a whole number/,
  ],
  ['UPDATE ledger SET tests_passed = 16 WHERE latency_us = 310', /^ledger: tests_passed exceeds/],
  [
    'UPDATE ledger SET sealed_to = commitment WHERE latency_us = 311',
    /^ledger: only one of sealed_to and sealed_digest is set/,
  ],
  [
    'UPDATE ledger SET further_seals = commitment WHERE latency_us = 326',
    /^ledger: further_seals is not 1 to 7 times 128 hexadecimal digits/,
  ],
  [
    `UPDATE ledger SET further_seals = (SELECT substr(p_values, 1, 64) FROM validated_keys LIMIT 1)
     WHERE latency_us = 327`,
    /^ledger: further_seals is set without sealed_to/,
  ],
  [
    'UPDATE ledger SET delivery_id = key_id WHERE latency_us = 329',
    /^ledger: delivery_id is set without sealed_to/,
  ],
  [
    'UPDATE ledger SET delivery_context = commitment WHERE latency_us = 330',
    /^ledger: delivery_context is set without delivery_id/,
  ],
  ['UPDATE ledger SET gate_p = NULL WHERE latency_us = 313', /^ledger: only some of gate_p/],
  [
    'UPDATE ledger SET commitment = (SELECT commitment FROM ledger WHERE latency_us = 101), ' +
      'fingerprint = (SELECT fingerprint FROM ledger WHERE latency_us = 101) WHERE latency_us = 315',
    /^ledger: two rows have the same commitment/,
  ],
  [
    'DELETE FROM validated_keys WHERE key_id = (SELECT key_id FROM ledger WHERE latency_us = 316)',
    /^ledger: a validated key has no p-values/,
  ],
  [
    `UPDATE validated_keys SET account_id = 'acct_a'
     WHERE key_id = (SELECT key_id FROM ledger WHERE latency_us = 319)`,
    /^validated_keys: the ledger has no validated key with this account/,
  ],
  [
    'UPDATE ledger SET labels = \'{"a":1}\' WHERE latency_us = 320',
    /^ledger: labels is not a JSON object of strings/,
  ],
  [
    'UPDATE ledger SET expires_ms = 7 WHERE latency_us = 321',
    /^ledger: a key that expires has no state/,
  ],
  [
    insertState('322', 'k.fingerprint, 2, 7, NULL, NULL, NULL, NULL'),
    /^key_states: a state differs/,
  ],
  [
    insertState('323', 'k.fingerprint + 1, 1, 7, NULL, NULL, NULL, NULL'),
    /^key_states: fingerprint is/,
  ],
  [
    insertState('325', "k.fingerprint, 1, NULL, 'compromised', 'unspecified', 7, k.key_id"),
    /^key_states: a revocation has no audit record/,
  ],
  [
    insertState('326', "k.fingerprint, 1, NULL, 'compromised', 'boredom', 7, k.key_id"),
    /^key_states: reason is not one of key_compromise, /,
  ],
  [
    "UPDATE accounts SET suspended_ms = 7 WHERE account_id = 'acct_a'",
    /^accounts: state_audit_id is missing/,
  ],
  [
    `UPDATE accounts SET deleted_ms = 7, state_audit_id = (SELECT key_id FROM ledger WHERE latency_us = 327)
     WHERE account_id = 'acct_b'`,
    /^accounts: the state of an account differs from its audit record/,
  ],
  [
    "UPDATE accounts SET name = 'Ben' WHERE account_id = 'acct_b'",
    /^accounts: a deleted account has a name/,
  ],
  [
    "UPDATE api_keys SET revoked_ms = NULL WHERE api_key_id = 'key_acct_b'",
    /^api_keys: the account of an active API key is deleted/,
  ],
  [
    "UPDATE api_keys SET scopes = NULL WHERE api_key_id = 'key_issued'",
    /^api_keys: an API key differs from its audit records/,
  ],
  [
    "DELETE FROM api_keys WHERE api_key_id = 'key_replacing'",
    /^api_keys: an API key differs from its audit records/,
  ],
  [
    `INSERT INTO logs (log_id, origin, verifier_keys, started_ms, closed_ms, size, root, head_mac, head_version)
     SELECT 1, 'log.example', 'key', 1, 2, 0, commitment, commitment, 1 FROM ledger WHERE latency_us = 328`,
    /^logs: a log is closed without one that follows it/,
  ],
  [
    `INSERT INTO recipients (account_id, name, suite, public_key, created_ms)
     SELECT 'acct_b', 'ben', 's', commitment, 7 FROM ledger WHERE latency_us = 328`,
    /^recipients: the account of a recipient is deleted/,
  ],
];

/** An API key that was issued and replaced, with its audit records, in SQL that both databases understand. */
const RECORDED_API_KEYS: readonly string[] = [
  insertAudit('331', 7, 'api_key_issued', {
    ...{ account_id: 'acct_a', api_key_id: 'key_issued', hint: 'h', scopes: ['read'] },
    ...{ expires_at: '2030-01-01T00:00:00.000+00:00', rate_per_second: 0.5, monthly_limit: 5e9 },
  }),
  insertAudit('332', 9, 'api_key_rotated', {
    ...{ api_key_id: 'key_issued', replaced_by: 'key_replacing', hint: 'i' },
    until: '2026-01-01T00:00:00.000+00:00',
  }),
  insertApiKey('333', "'key_issued'", "'h', 7, 1767225600000, 'key_replacing'"),
  insertApiKey('334', "'key_replacing'", "'i', 9, 1893456000000, NULL"),
];

function insertAudit(latencyUs: string, atMs: number, action: string, details: object): string {
  return `INSERT INTO audit (audit_id, at_ms, action, details, salt)
    SELECT key_id, ${atMs}, '${action}', '${JSON.stringify(details)}', commitment
    FROM ledger WHERE latency_us = ${latencyUs}`;
}

function insertApiKey(latencyUs: string, id: string, values: string): string {
  return `INSERT INTO api_keys (key_hash, account_id, scopes, rate_per_second, monthly_limit, api_key_id, hint,
      created_ms, expires_ms, replaced_by)
    SELECT commitment, 'acct_a', 'read', 0.5, 5000000000, ${id}, ${values} FROM ledger
    WHERE latency_us = ${latencyUs}`;
}

/** Returns the insertion of a state of the row with this latency. */
function insertState(latencyUs: string, values: string): string {
  return `INSERT INTO key_states (key_id, commitment, account_id, fingerprint, secret_version, expires_ms, state,
      reason, revoked_ms, audit_id)
    SELECT k.key_id, k.commitment, k.account_id, ${values} FROM ledger AS k WHERE latency_us = ${latencyUs}`;
}

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
  for (const sql of RECORDED_API_KEYS) await change(sql);
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
