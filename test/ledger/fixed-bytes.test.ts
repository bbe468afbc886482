/** Bytes that outlive a release: files of `phm export`, entries of the log, and what a batch sends to PostgreSQL. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { keyEntry, rowDigest } from '../../src/keys/statement.ts';
import { exportLedger, openMovableStore } from '../../src/ledger/admin.ts';
import {
  type LedgerRow,
  openStoreToRead,
  type RecordedReceipt,
  type StoreLocation,
} from '../../src/ledger/index.ts';
import { migrateStore } from '../../src/ledger/open.ts';
import { keyColumns } from '../../src/ledger/postgres/batch-columns.ts';
import { toRowSeal } from '../../src/ledger/row-seals.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import {
  LAST_OLD,
  makeOldPostgres,
  makeOldSqlite,
  oldRows,
  type StoreKind,
} from '../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { keyRequest, makeCommitment, makeRow, NOW } from './contract.ts';

const NEVER = new AbortController().signal;
const directory = mkdtempSync(join(tmpdir(), 'phm-bytes-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let postgres: Databases;
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
});
after(() => postgres?.remove());

/** Returns a ledger with the rows of a service of the last schema before the baseline. */
async function usedLedger(kind: StoreKind): Promise<StoreLocation> {
  if (kind === 'postgres') {
    const url = await postgres.createDatabase('bytes');
    await makeOldPostgres(postgres, 'bytes');
    await postgres.query('bytes', oldRows('postgres'));
    return { kind, url };
  }
  const path = join(directory, 'bytes.db');
  makeOldSqlite(path, LAST_OLD, { rows: oldRows('sqlite') });
  return { kind, path };
}

/** SHA-256 of what `valuesIn` returns for the exports of these ledgers. */
const EXPORTS: Readonly<Record<StoreKind, string>> = {
  sqlite: 'cab4394382c489f33d0775a206c1b5312e72bff35d8dc87f347b00527acd0de7',
  postgres: 'c17fdb20e78a19a51c5707c1dffa788bd2eae4751d5917e9fba0a2473be8dcd7',
};

/** Returns the rows of an export with the names of their columns. Columns that no row of then has are null. */
function valuesIn(file: Buffer): string {
  let columns: readonly string[] = [];
  const lines = file.toString().trimEnd().split('\n').slice(1, -1);
  return lines
    .map((line) => {
      const json = JSON.parse(line);
      if (!Array.isArray(json)) {
        columns = json.columns;
        return json.table;
      }
      const values = json.map((value, i) => [columns[i], value]);
      return JSON.stringify(values.filter(([, value]) => value !== null));
    })
    .join('\n');
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a ledger of before in ${kind}`, { skip: kind === 'postgres' && noPostgres }, () => {
    let location: StoreLocation;
    before(async () => {
      location = await usedLedger(kind);
      await migrateStore(location);
    });

    it('has rows of which each gives the entry that its log has', async () => {
      const store = await openStoreToRead(location);
      const logs = await store.logs();
      const found = await store.pageRecords(null, 1_000);
      let entries = 0;
      for (const { record, logged } of found) {
        if (logged === null || logged === 'pending') continue;
        const { logId, index } = logged;
        const entry = await store.readEntries(logId, index, index + 1);
        const log = logs.find((one) => one.logId === logId);
        assert.ok(log);
        assert.deepEqual(keyEntry(record, log.origin), Buffer.from(entry));
        entries += 1;
      }
      assert.ok(entries >= 10, `${entries} entries`);
      await store.close();
    });

    it('is exported as before', async () => {
      const chunks: Uint8Array[] = [];
      const put = async (bytes: Uint8Array) => void chunks.push(bytes);
      await exportLedger(await openMovableStore(location), NOW, put, NEVER);
      assert.equal(hash('sha256', valuesIn(Buffer.concat(chunks))), EXPORTS[kind]);
    });
  });
}

/** A row with a value in every column. */
const FULL = makeRow({
  keyId: Buffer.from('019aa2a6b8007000800000000000000a', 'hex'),
  commitment: makeCommitment(Buffer.alloc(32, 1), 3),
  otherCommitments: [],
  securityLevel: 384,
  modulation: 'phase',
  source: 'os',
  createdMs: NOW,
  latencyUs: 1_500,
  entropyBits: 255.5,
  entropyJobId: 'job "1"',
  evidence: {
    definition: 2,
    gateP: 0.25,
    testsPassed: 14,
    totalTests: 15,
    pValues: Buffer.alloc(4, 2),
  },
  sealed: toRowSeal([{ recipient: Buffer.alloc(32, 3), digest: Buffer.alloc(32, 4) }]),
  labels: '{"a":"b"}',
  expiresMs: NOW + 1,
  receipt: {
    keyCommitment: Buffer.alloc(32, 5),
    salt: Buffer.alloc(32, 6),
    strengthBits: 256,
    sources: 'os:256',
    softwareId: 7,
    pending: {
      entryId: Buffer.alloc(16, 8),
      logId: 9,
      kind: 'key',
      entry: Buffer.alloc(32, 10),
      mac: Buffer.alloc(32, 11),
      secretVersion: 3,
    },
  },
});

const PLAIN = makeRow({
  ...FULL,
  ...{
    entropyJobId: null,
    evidence: null,
    sealed: null,
    labels: null,
    expiresMs: null,
    receipt: null,
  },
});

/** Returns a row as `COMMIT_BATCH` reads it, to which a missing member and null are the same. */
function asRead(row: LedgerRow): unknown {
  const [json] = keyColumns(keyRequest('acct_a', row), 4);
  const read = Object.entries(JSON.parse(JSON.stringify(json)));
  return Object.fromEntries(read.filter(([, value]) => value !== null));
}

const hex = (byte: string, length = 32) => `\\x${byte.repeat(length)}`;

const PLAIN_READ = {
  position: 4,
  needs: 0,
  key_id: '\\x019aa2a6b8007000800000000000000a',
  fingerprint: '72340172838076673',
  commitment: hex('01'),
  secret_version: 3,
  security_level: 384,
  modulation: 'phase',
  source: 'os',
  created_ms: NOW,
  latency_us: 1_500,
  latency_bucket: 26,
  entropy_bits: 255.5,
};

const FULL_READ = {
  ...PLAIN_READ,
  entropy_job_id: 'job "1"',
  gate_p: 0.25,
  tests_passed: 14,
  total_tests: 15,
  p_values: hex('02', 4),
  evidence_definition: 2,
  sealed_to: hex('03'),
  sealed_digest: hex('04'),
  labels: '{"a":"b"}',
  expires_ms: NOW + 1,
  key_commitment: hex('05'),
  salt: hex('06'),
  strength_bits: 256,
  sources: 'os:256',
  software_id: 7,
  log_id: 9,
  entry: hex('0a'),
  mac: hex('0b'),
  mac_version: 3,
};

describe('the row of a key in a batch', () => {
  it('has a value for each column that the row has', () => {
    assert.deepEqual(asRead(FULL), FULL_READ);
    assert.deepEqual(asRead(PLAIN), PLAIN_READ);
  });
});

describe('the digest of a row', () => {
  const recorded = { ...FULL, accountId: 'acct_a', apiKeyId: 'key_a' };
  const receipt = { ...FULL.receipt, software: 'phm 1' } as RecordedReceipt;

  it('is as before, with a value in every column and with the fewest', () => {
    assert.equal(
      rowDigest({ ...recorded, receipt }).toString('hex'),
      'df708344199a4c24e232caa402041b0b003876faeb5fde4c7f334baa65215bec',
    );
    assert.equal(
      rowDigest({ ...recorded, ...PLAIN, receipt }).toString('hex'),
      '8b8e264ee8d4d507fce9e9b18a0e0eb2ac250e46169f5ea78df172800736513e',
    );
  });
});
