/** Receipts and statements: every member is checked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AUDIT_STATEMENT,
  type AuditStatement,
  canonicalJson,
  KEY_STATEMENT,
  type KeyStatement,
  keyCommitmentMessage,
  parseAuditStatement,
  parseReceipt,
} from '#tlog';

const base64 = (bytes: number) => Buffer.alloc(bytes, 9).toString('base64');

const STATEMENT: KeyStatement = {
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
      const { [name as keyof KeyStatement]: _, ...rest } = STATEMENT;
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
        { type: 'phm-key-receipt/v2' },
        'type: expected "phm-key-receipt/v1", got "phm-key-receipt/v2"',
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
