/** Receipts and statements: every member is checked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AUDIT_STATEMENT,
  type AuditStatement,
  canonicalJson,
  KEY_STATEMENT,
  KEY_STATEMENT_V2,
  type KeyStatementV1,
  type KeyStatementV2,
  keyCommitmentMessage,
  parseAuditStatement,
  parseReceipt,
  statedRecipients,
} from '#tlog';

const base64 = (bytes: number) => Buffer.alloc(bytes, 9).toString('base64');

const STATEMENT: KeyStatementV1 = {
  type: KEY_STATEMENT,
  service: 'keys.example.com/log',
  key_id: 'phm_2073893518270000000000000000000000000',
  time: '2026-01-31T12:00:00.000+00:00',
  security_level: 256,
  security_strength_bits: 256,
  key_commitment: base64(32),
  evidence: {
    digest: `sha256:${'0a'.repeat(32)}`,
    verdict: 'PASS',
    tests_passed: 15,
    total_tests: 15,
  },
  modulation: 'phase',
  sources: [
    { name: 'os', credit_bits: 256 },
    { name: 'jitter', credit_bits: 12.5 },
  ],
  row_digest: base64(32),
  sealed_to: base64(1184),
  sealed_digest: base64(32),
  software: 'phm-key-service/0.1.0+0123456789abcdef',
  salt: base64(32),
};

const AUDIT: AuditStatement = {
  type: AUDIT_STATEMENT,
  service: 'keys.example.com/log',
  audit_id: '0190c5e8-0000-7000-8000-000000000000',
  time: '2026-01-31T12:00:00.000+00:00',
  action: 'plan_set',
  details: { account: 'a', plan: { name: 'free', limits: [1, null, true] } },
  salt: base64(32),
};

const PROOF = 'c2sp.org/tlog-proof@v1\n';

const receipt = (changes: object) =>
  parseReceipt({ statement: { ...STATEMENT, ...changes }, proof: PROOF });

describe('parseReceipt', () => {
  it('returns the receipt, and the same canonical statement', () => {
    const parsed = parseReceipt(JSON.parse(JSON.stringify({ statement: STATEMENT, proof: PROOF })));
    assert.deepEqual(parsed, { statement: STATEMENT, proof: PROOF });
    assert.equal(canonicalJson(parsed.statement), canonicalJson(STATEMENT));
    const plain = { evidence: null, sealed_to: null, sealed_digest: null, sources: [] };
    assert.deepEqual(receipt(plain).statement, { ...STATEMENT, ...plain });
  });

  it('names the member that is missing or unknown', () => {
    for (const name of Object.keys(STATEMENT)) {
      const { [name as keyof KeyStatementV1]: _, ...rest } = STATEMENT;
      assert.throws(() => parseReceipt({ statement: rest, proof: PROOF }), {
        name: 'FormatError',
        message: `statement has no member "${name}"`,
      });
    }
    for (const [json, message] of [
      [null, 'the receipt: expected a JSON object, got null'],
      ['x', 'the receipt: expected a JSON object, got "x"'],
      [[], 'the receipt: expected a JSON object, got a list of 0'],
      [{}, 'the receipt has no member "statement"'],
      [{ statement: STATEMENT }, 'the receipt has no member "proof"'],
      [{ statement: STATEMENT, proof: PROOF, key: '' }, 'the receipt has an unknown member "key"'],
      [{ statement: { ...STATEMENT, x: 1 }, proof: PROOF }, 'statement has an unknown member "x"'],
    ] as const) {
      assert.throws(() => parseReceipt(json), { name: 'FormatError', message });
    }
  });

  it('names the member of the wrong form', () => {
    for (const [changes, message] of [
      [
        { type: 'phm-key-receipt/v3' },
        'type: expected "phm-key-receipt/v1" or "phm-key-receipt/v2", got "phm-key-receipt/v3"',
      ],
      [{ service: 'a b' }, 'service: expected the origin of a log, got "a b"'],
      [{ key_id: 'phm_0' }, 'key_id: expected a key ID such as phm_1, got "phm_0"'],
      [{ time: '2026-01-31' }, /^time: expected a time such as/],
      [{ security_level: '256' }, /^security_level: expected a number from 1 to 65535, got "256"/],
      [{ security_level: 0.5 }, /^security_level/],
      [{ security_strength_bits: -1 }, /^security_strength_bits/],
      [{ key_commitment: base64(31) }, /^key_commitment: expected base64 .* of 32 bytes/],
      [{ key_commitment: null }, /^key_commitment: expected base64 of 32 bytes, got null/],
      [{ evidence: { ...STATEMENT.evidence, digest: 'sha256:0' } }, /^digest: expected "sha256:"/],
      [{ evidence: { ...STATEMENT.evidence, verdict: 'pass' } }, /^verdict: expected PASS or FAIL/],
      [{ evidence: { ...STATEMENT.evidence, more: 1 } }, 'evidence has an unknown member "more"'],
      [{ modulation: 'Phase' }, /^modulation/],
      [{ sources: {} }, 'sources: expected a list of at most 32, got an object'],
      [{ sources: Array(33).fill(STATEMENT.sources[0]) }, /^sources: .* got a list of 33/],
      [{ sources: [{ name: 'os' }] }, 'an item of sources has no member "credit_bits"'],
      [{ sources: [{ name: 'os', credit_bits: Number.NaN }] }, /^credit_bits: expected a number/],
      [{ row_digest: `${base64(32)}\n` }, /^row_digest/],
      [{ sealed_to: '' }, /^sealed_to: expected base64 of 1 to 4096 bytes/],
      [{ sealed_digest: base64(33) }, /^sealed_digest/],
      [{ software: 'a b' }, /^software/],
      [{ salt: base64(33) }, /^salt/],
    ] as const) {
      assert.throws(() => receipt(changes), { name: 'FormatError', message });
    }
    assert.throws(() => parseReceipt({ statement: STATEMENT, proof: 1 }), /^FormatError: proof:/);
    const own = JSON.parse('{"__proto__": {"statement": 1, "proof": ""}}');
    assert.throws(() => parseReceipt(own), /unknown member "__proto__"/);
  });
});

describe('parseReceipt of a key for several recipients', () => {
  const { sealed_to: _, sealed_digest: __, ...facts } = STATEMENT;
  const seal = (byte: number) => ({
    digest: base64(32),
    to: Buffer.alloc(32, byte).toString('base64'),
  });
  const delivery = { id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60', context: base64(32) };
  const several: KeyStatementV2 = {
    ...facts,
    type: KEY_STATEMENT_V2,
    sealed: [seal(1), seal(2)],
    delivery: null,
  };
  const parse = (changes: object) =>
    parseReceipt({ statement: { ...several, ...changes }, proof: PROOF }).statement;

  it('returns it, and all recipients in their order', () => {
    for (const [changes, bytes] of [
      [{}, [1, 2]],
      [{ sealed: [seal(2), seal(1)] }, [2, 1]],
      [{ sealed: [seal(3)], delivery }, [3]],
      [{ delivery: { ...delivery, context: null } }, [1, 2]],
      [{ sealed: [1, 2, 3, 4, 5, 6, 7, 8].map(seal) }, [1, 2, 3, 4, 5, 6, 7, 8]],
    ] as const) {
      const statement = parse(changes);
      assert.deepEqual(statement, { ...several, ...changes });
      const stated = statedRecipients(statement);
      assert.deepEqual(
        stated,
        bytes.map((byte) => seal(byte).to),
      );
    }
    assert.deepEqual(statedRecipients(STATEMENT), [STATEMENT.sealed_to]);
    assert.deepEqual(statedRecipients({ ...STATEMENT, sealed_to: null }), []);
  });

  it('names what is wrong', () => {
    for (const [changes, message] of [
      [{ sealed: [] }, 'statement names 0 recipients instead of 2 to 8'],
      [{ sealed: [seal(1)] }, 'statement names 1 recipient instead of 2 to 8'],
      [{ sealed: [], delivery }, 'statement names 0 recipients instead of 1 to 8'],
      [{ sealed: [seal(1), seal(1)] }, 'statement names one recipient twice'],
      [{ sealed: Array(9).fill(seal(1)) }, 'sealed: expected a list of at most 8, got a list of 9'],
      [{ sealed: [{ to: seal(1).to }] }, 'an item of sealed has no member "digest"'],
      [{ sealed: null }, 'sealed: expected a list of at most 8, got null'],
      [{ delivery: { id: delivery.id } }, 'delivery has no member "context"'],
      [{ delivery: { ...delivery, id: 'x' } }, 'id: expected a UUID in lower case, got "x"'],
      [{ sealed_to: null }, 'statement has an unknown member "sealed_to"'],
      [{ type: KEY_STATEMENT }, 'statement has an unknown member "sealed"'],
    ] as const) {
      assert.throws(() => parse(changes), { name: 'FormatError', message });
    }
  });
});

describe('parseAuditStatement', () => {
  it('returns the statement, and bounds its details', () => {
    assert.deepEqual(parseAuditStatement(structuredClone(AUDIT)), AUDIT);
    let deep: unknown = 1;
    for (let i = 0; i < 10_000; i++) deep = { deep };
    for (const details of [deep, [], null, { a: '\ud800' }, { a: Number.NaN }]) {
      assert.throws(() => parseAuditStatement({ ...AUDIT, details }), /^FormatError: details:/);
    }
  });
});

describe('keyCommitmentMessage', () => {
  it('binds length, key ID and key', () => {
    const message = keyCommitmentMessage(256, 'phm_17', Buffer.alloc(32, 0xab));
    const expected = Buffer.concat([
      Buffer.from('phm/key-commitment/v1\0'),
      Buffer.of(1, 0),
      Buffer.from('phm_17\0'),
      Buffer.alloc(32, 0xab),
    ]);
    assert.deepEqual(Buffer.from(message), expected);
    assert.throws(() => keyCommitmentMessage(128, 'phm_17', Buffer.alloc(32)), TypeError);
    assert.throws(() => keyCommitmentMessage(0, 'phm_17', Buffer.alloc(0)), RangeError);
  });
});
