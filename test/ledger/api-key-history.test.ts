/** API keys beside what audit records say of them; `phm log check` compares each column (test/inspection/records.test.ts). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiKeyHistories } from '../../src/ledger/api-key-history.ts';
import type { ApiKeyRecord } from '../../src/ledger/api-keys.ts';
import type { AuditAction } from '../../src/ledger/log-store.ts';
import { NOW } from './contract.ts';

const HOUR_MS = 3_600_000;

type Note = readonly [AuditAction, number, Readonly<Record<string, unknown>>];

const isoOf = (ms: number) => new Date(ms).toISOString();

const issued = (apiKeyId: string, atMs = NOW): Note => [
  'api_key_issued',
  atMs,
  { api_key_id: apiKeyId, account_id: 'acct', hint: apiKeyId, scopes: ['read'] },
];

/** A rotation after which the old API key works for another hour. */
const rotated = (apiKeyId: string, next: string, atMs = NOW + 1): Note => [
  'api_key_rotated',
  atMs,
  { api_key_id: apiKeyId, replaced_by: next, hint: next, until: isoOf(atMs + HOUR_MS) },
];

const revoked = (apiKeyId: string, atMs: number): Note => [
  'api_key_revoked',
  atMs,
  { api_key_id: apiKeyId },
];

const row = (apiKeyId: string, changes: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  ...{ apiKeyId, accountId: 'acct', hint: apiKeyId, createdMs: NOW, revokedMs: null },
  ...{ name: null, scopes: ['read'], expiresMs: null, addressRanges: null, ratePerSecond: null },
  ...{ recipients: null, burst: null, monthlyLimit: null, lastUsedHour: null, replacedBy: null },
  ...changes,
});

/** The row of an API key after `rotated`. */
const replaced = (apiKeyId: string, next: string): ApiKeyRecord =>
  row(apiKeyId, { replacedBy: next, expiresMs: NOW + 1 + HOUR_MS });

/** Returns the IDs that differ from the records, whatever the order in which these are read. */
function wrong(notes: readonly Note[], rows: readonly ApiKeyRecord[]): string[] {
  const read = (order: readonly Note[]): string[] => {
    const histories = new ApiKeyHistories();
    for (const [action, atMs, details] of order) {
      histories.note({ action, atMs, details: JSON.stringify(details) });
    }
    return histories.wrong(rows);
  };
  const found = read(notes).sort();
  assert.deepEqual(read(notes.toReversed()).sort(), found);
  return found;
}

describe('an API key beside its audit records', () => {
  it('is as it was issued, replaced and revoked, once or again', () => {
    assert.deepEqual(wrong([issued('a')], [row('a')]), []);
    assert.deepEqual(wrong([issued('a')], [row('a', { scopes: null })]), ['a']);
    const rows = [replaced('a', 'b'), row('b', { createdMs: NOW + 1, revokedMs: NOW + 2 })];
    const notes = [issued('a'), rotated('a', 'b'), revoked('b', NOW + 2), revoked('b', NOW + 3)];
    assert.deepEqual(wrong(notes, rows), []);
    assert.deepEqual(wrong([...notes, issued('c')], rows), ['c']);
  });

  it('has one record of how it was made', () => {
    const twice = [issued('a'), issued('a')];
    assert.deepEqual(wrong(twice, [row('a')]), ['a']);
    const rows = [replaced('a', 'b'), row('b', { createdMs: NOW + 1 })];
    const notes = [issued('a'), rotated('a', 'b')];
    assert.deepEqual(wrong([...notes, issued('b', NOW + 1)], rows), ['b']);
  });

  it('has one record of how it was replaced', () => {
    const rows = [
      replaced('a', 'b'),
      row('b', { createdMs: NOW + 1 }),
      row('c', { createdMs: NOW + 1 }),
    ];
    const notes = [issued('a'), rotated('a', 'b'), rotated('a', 'c')];
    assert.deepEqual(wrong(notes, rows), ['a']);
  });

  it('does not follow another in a circle', () => {
    const notes = [rotated('a', 'b'), rotated('b', 'a')];
    const rows = [replaced('a', 'b'), replaced('b', 'a')];
    assert.deepEqual(wrong(notes, rows), ['a', 'b']);
  });
});
