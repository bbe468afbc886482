/** Statements about keys and administrative actions, and their entries in the log. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type KeyStatementV1, parseAuditStatement, parseReceipt } from '#tlog';
import { hexToBytes } from '../../src/bytes.ts';
import { parseKeyId } from '../../src/keys/key-id.ts';
import {
  auditEntry,
  auditStatement,
  evidenceDigest,
  keyEntry,
  keyStatement,
  rowDigest,
} from '../../src/keys/statement.ts';
import type { AuditRecord, RecordedRow, RowSeal } from '../../src/ledger/index.ts';
import { sealsOf, toRowSeal } from '../../src/ledger/row-seals.ts';
import { entryOf } from '../../src/log/index.ts';
import { CODE_POINTS } from '../support/texts/code-points.ts';

interface Vector {
  tcId: number;
  comment: string;
  record: Record<string, unknown> & {
    keyId: string;
    commitment: { version: number; digest: string };
    evidence: { pValues: string } | null;
    /** Recipient and digest of each sealed key. */
    seals?: readonly (readonly [string, string])[];
    receipt: { keyCommitment: string; salt: string };
  };
  evidence: string | null;
  row: string;
  statement: string;
  entry: string;
}

const VECTORS: { numberOfTests: number; origin: string; tests: Vector[] } = JSON.parse(
  readFileSync(new URL('../vectors/receipt/statements.json', import.meta.url), 'utf8'),
);
const { origin: ORIGIN } = VECTORS;

function recordOf({ record }: Vector): RecordedRow {
  const { commitment, evidence, receipt, seals: pairs = [] } = record;
  const [first, ...others] = pairs.map(([to, digest]) => ({
    recipient: hexToBytes(to),
    digest: hexToBytes(digest),
  }));
  const digest = hexToBytes(commitment.digest);
  return {
    labels: null,
    expiresMs: null,
    ...record,
    sealed: first ? toRowSeal([first, ...others]) : null,
    keyId: parseKeyId(record.keyId),
    commitment: { version: commitment.version, digest, fingerprint: digest.readBigInt64BE() },
    evidence: evidence && { ...evidence, pValues: hexToBytes(evidence.pValues) },
    receipt: {
      ...receipt,
      keyCommitment: hexToBytes(receipt.keyCommitment),
      salt: hexToBytes(receipt.salt),
    },
  } as unknown as RecordedRow;
}

const sha256 = (text: string): string => entryOf(text).toString('hex');

/** Those of keys in plaintext. */
const RECORDS = VECTORS.tests.filter(({ record }) => !record.seals).map(recordOf);

/** Returns seals of which each recipient and digest is one byte, repeated. */
function seals(...pairs: readonly [[number, number], ...[number, number][]]): RowSeal {
  const sealOf = ([recipient, digest]: readonly [number, number]) => ({
    recipient: Buffer.alloc(32, recipient),
    digest: Buffer.alloc(32, digest),
  });
  const [first, ...others] = pairs;
  return toRowSeal([sealOf(first), ...others.map(sealOf)]);
}

describe('the statement about a key', () => {
  it('has the stated number of test vectors', () => {
    assert.equal(VECTORS.tests.length, VECTORS.numberOfTests);
  });

  for (const vector of VECTORS.tests) {
    it(`gives vector ${vector.tcId}: ${vector.comment}`, () => {
      const record = recordOf(vector);
      assert.equal(rowDigest(record).toString('hex'), sha256(vector.row));
      if (record.evidence && vector.evidence !== null) {
        assert.equal(evidenceDigest(record.evidence), `sha256:${sha256(vector.evidence)}`);
      }
      const statement = keyStatement(record, ORIGIN);
      assert.deepEqual(statement, JSON.parse(vector.statement));
      assert.equal(canonicalJson(statement), vector.statement);
      assert.equal(keyEntry(record, ORIGIN).toString('hex'), vector.entry);
    });

    it(`has the form of a receipt: ${vector.comment}`, () => {
      const statement = keyStatement(recordOf(vector), ORIGIN);
      assert.deepEqual(parseReceipt({ statement, proof: '' }).statement, statement);
    });
  }

  it('is written in canonical form, whatever the columns hold', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const text = fc.string({ unit: CODE_POINTS });
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const recordOfAnything = fc.record({
      keyId: bytes(16),
      commitment: fc.record({ version: fc.nat(), digest: bytes(32), fingerprint: fc.bigInt() }),
      securityLevel: fc.nat(),
      modulation: text,
      source: text,
      createdMs: fc.nat(),
      latencyUs: fc.nat(),
      entropyBits: number,
      entropyJobId: fc.option(text),
      evidence: fc.option(
        fc.record({
          definition: fc.nat(),
          gateP: number,
          testsPassed: fc.nat(),
          totalTests: fc.nat(),
          pValues: fc.uint8Array(),
        }),
      ),
      accountId: text,
      apiKeyId: text,
      sealed: fc.option(
        fc.record({
          ...{ recipient: bytes(32), digest: bytes(32), further: fc.option(bytes(64)) },
          ...{ deliveryId: fc.option(bytes(16)), deliveryContext: fc.option(bytes(32)) },
        }),
      ),
      labels: fc.option(text),
      expiresMs: fc.option(fc.nat()),
      receipt: fc.record({
        keyCommitment: bytes(32),
        salt: bytes(32),
        strengthBits: fc.nat(),
        sources: fc.constantFrom('os:256', 'os:0,jitter:1e-7', 'qrng:0.1'),
        software: text,
      }),
    });
    fc.assert(
      fc.property(recordOfAnything, text, (record, origin) => {
        const statement = keyStatement(record as RecordedRow, origin);
        const canonical = canonicalJson(statement);
        assert.equal(JSON.stringify(statement), canonical);
        assert.deepEqual(keyEntry(record as RecordedRow, origin), entryOf(canonical));
        assert.equal(statement.row_digest, rowDigest(record as RecordedRow).toString('base64'));
        const [seal, ...others] = record.sealed ? sealsOf(record.sealed) : [];
        const base64 = (one?: Uint8Array) => (one ? Buffer.from(one).toString('base64') : null);
        assert.partialDeepStrictEqual(
          statement,
          seal && (others.length > 0 || record.sealed?.deliveryId || record.sealed?.deliveryContext)
            ? {
                sealed: [seal, ...others].map((one) => ({
                  digest: base64(one.digest),
                  to: base64(one.recipient),
                })),
              }
            : { sealed_to: base64(seal?.recipient), sealed_digest: base64(seal?.digest) },
        );
        if (!record.evidence) return;
        const { definition, gateP: gate_p_value, pValues } = record.evidence;
        const p_values = Buffer.from(pValues).toString('base64');
        const evidence = canonicalJson({ definition, gate_p_value, p_values, verdict: 'PASS' });
        assert.equal(evidenceDigest(record.evidence), `sha256:${sha256(evidence)}`);
      }),
    );
  });

  it('changes with every column of the row, and so does its entry', () => {
    for (const record of RECORDS) {
      const entry = keyEntry(record, ORIGIN);
      const altered = alterations(record);
      // 20 columns of every row, and 5 of the evidence on a validated key.
      assert.equal(altered.length, record.evidence ? 25 : 20);
      for (const [column, other] of altered) {
        assert.notDeepEqual(keyEntry(other, ORIGIN), entry, column);
        assert.notDeepEqual(rowDigest(other), rowDigest(record), column);
      }
      assert.notDeepEqual(keyEntry(record, `${ORIGIN}x`), entry, 'origin');
    }
  });

  it('of a sealed key also binds its recipient and its digest, and of another key has null', () => {
    for (const record of RECORDS) {
      const entries = [null, seals([1, 2]), seals([3, 2]), seals([1, 4])].map((sealed) =>
        keyEntry({ ...record, sealed }, ORIGIN).toString('hex'),
      );
      assert.equal(entries[0], keyEntry(record, ORIGIN).toString('hex'));
      assert.equal(new Set(entries).size, 4);
      const sealed = seals([1, 2]);
      const statement = keyStatement({ ...record, sealed }, ORIGIN);
      assert.deepEqual(parseReceipt({ statement, proof: '' }).statement, statement);
    }
  });

  it('of a key for several is of the second type, and binds all recipients and digests in order', () => {
    for (const record of RECORDS) {
      const sealed = seals([1, 2], [3, 4], [5, 6]);
      const statement = keyStatement({ ...record, sealed }, ORIGIN);
      const {
        sealed_to: _,
        sealed_digest: __,
        ...facts
      } = keyStatement({ ...record, sealed: null }, ORIGIN) as KeyStatementV1;
      const bytes = (byte: number) => Buffer.alloc(32, byte).toString('base64');
      assert.deepEqual(statement, {
        ...facts,
        type: 'phm-key-receipt/v2',
        sealed: [
          { to: bytes(1), digest: bytes(2) },
          { to: bytes(3), digest: bytes(4) },
          { to: bytes(5), digest: bytes(6) },
        ],
        delivery: null,
      });
      assert.equal(JSON.stringify(statement), canonicalJson(statement));
      assert.deepEqual(parseReceipt({ statement, proof: '' }).statement, statement);
      const entries = [
        sealed,
        seals([1, 2], [3, 4]),
        seals([1, 2]),
        seals([3, 4], [1, 2], [5, 6]),
        seals([1, 2], [3, 4], [5, 7]),
        seals([1, 2], [3, 4], [7, 6]),
      ].map((one) => keyEntry({ ...record, sealed: one }, ORIGIN).toString('hex'));
      assert.equal(new Set(entries).size, entries.length);
      assert.deepEqual(rowDigest({ ...record, sealed }), rowDigest(record), 'as for one');
    }
  });

  it('of a row that was cut is another one, and no error', () => {
    const [record] = RECORDS as [RecordedRow];
    const sealed = seals([1, 2], [3, 4]);
    const entry = keyEntry({ ...record, sealed }, ORIGIN);
    for (const length of [0, 1, 33, 63, 65]) {
      const further = Buffer.alloc(length, 3);
      const cut = { ...record, sealed: { ...sealed, further } };
      assert.notDeepEqual(keyEntry(cut, ORIGIN), entry);
    }
  });

  it('needs a row with receipt columns', () => {
    for (const record of RECORDS) {
      const bare = { ...record, receipt: null };
      assert.throws(() => keyStatement(bare, ORIGIN), TypeError);
      assert.throws(() => rowDigest(bare), TypeError);
    }
  });
});

/** Returns the value with one bit, digit or letter changed. */
function alter(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    const other = Buffer.from(value);
    other[other.length - 1] ^= 1;
    return other;
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    return typeof value === 'bigint' ? value + 1n : value + 1;
  }
  return typeof value === 'string' ? `${value}1` : 'job-9';
}

/** Returns the record once for each column, with that column changed. */
function alterations(record: RecordedRow): [string, RecordedRow][] {
  const change = (path: string[], value: unknown): [string, RecordedRow][] => {
    if (value instanceof Uint8Array || typeof value !== 'object' || value === null) {
      const isMissingPart = value === null && (path[0] === 'evidence' || path[0] === 'sealed');
      return isMissingPart ? [] : [[path.join('.'), withChange(record, path) as RecordedRow]];
    }
    return Object.entries(value).flatMap(([name, part]) => change([...path, name], part));
  };
  return change([], record);
}

function withChange(value: unknown, [name = '', ...rest]: string[]): unknown {
  const part = (value as Record<string, unknown>)[name];
  const other = rest.length === 0 ? alter(part) : withChange(part, rest);
  return { ...(value as object), [name]: other };
}

describe('the statement about an administrative action', () => {
  const record: Omit<AuditRecord, 'pending'> = {
    auditId: hexToBytes('019a0b1c2d3e7f408123456789abcdef'),
    atMs: 1_795_398_001_558,
    action: 'plan_set',
    details: '{"account_id":"acct_1","plan":"research"}',
    salt: Buffer.alloc(32, 3),
  };

  it('holds the record, and its entry is the hash of its canonical form', () => {
    const statement = auditStatement(record, ORIGIN);
    assert.deepEqual(statement, {
      type: 'phm-audit/v1',
      service: ORIGIN,
      audit_id: '019a0b1c-2d3e-7f40-8123-456789abcdef',
      time: '2026-11-23T01:40:01.558+00:00',
      action: 'plan_set',
      details: { account_id: 'acct_1', plan: 'research' },
      salt: Buffer.alloc(32, 3).toString('base64'),
    });
    assert.deepEqual(parseAuditStatement(statement), statement);
    assert.deepEqual(auditEntry(record, ORIGIN), entryOf(canonicalJson(statement)));
  });

  it('changes with every column, and so does its entry', () => {
    const entry = auditEntry(record, ORIGIN);
    const others: Partial<AuditRecord>[] = [
      { auditId: Buffer.alloc(16) },
      { atMs: record.atMs + 1 },
      { action: 'account_created' },
      { details: '{}' },
      { salt: Buffer.alloc(32) },
    ];
    assert.equal(others.length, Object.keys(record).length);
    for (const other of others) {
      assert.notDeepEqual(auditEntry({ ...record, ...other }, ORIGIN), entry);
    }
    assert.notDeepEqual(auditEntry(record, 'other.example'), entry);
  });
});
