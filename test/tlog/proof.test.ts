/** Proofs and policies in C2SP's forms. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ED25519,
  ED25519_COSIGNATURE,
  formatProof,
  formatVerifierKey,
  ML_DSA_44_COSIGNATURE,
  meetsQuorum,
  parsePolicy,
  parseProof,
} from '#tlog';
import { C2SP } from './vectors.ts';

const CHECKPOINT = C2SP.cosigned_checkpoint.note;

/** The proof of C2SP's page. The page shortens its signatures; these lines are whole. */
const PUBLISHED = C2SP.proof.proof.replace(/^— (\S+) .*$/gm, '— $1 AAAAAAA=');

describe('parseProof', () => {
  it('reads the proof of C2SP', () => {
    const proof = parseProof(PUBLISHED);
    assert.equal(proof.index, 73_894);
    assert.equal(proof.hashes.length, 5);
    const extra = Buffer.from(proof.extra ?? []).toString('latin1');
    assert.match(extra, /^age-v1\.2\.1-darwin-arm64\.tar\.gz/);
    assert.match(proof.checkpoint, /^example.com\/fancylog\n109482\n/);
    assert.equal(formatProof(proof), PUBLISHED);
  });

  it('returns what formatProof was given', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const proof = fc.record(
      {
        extra: fc.option(fc.uint8Array({ maxLength: 40 })),
        index: fc.maxSafeNat(),
        hashes: fc.array(hash, { maxLength: 63 }),
        checkpoint: fc.constant(CHECKPOINT),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(proof, (proof) => assert.deepEqual(parseProof(formatProof(proof)), proof)),
    );
  });

  it('says in one sentence why a proof is refused', () => {
    const hash = Buffer.alloc(32);
    const base = { extra: null, index: 5, hashes: [hash], checkpoint: CHECKPOINT };
    const good = formatProof(base);
    for (const [text, message] of [
      ['', /empty line before its checkpoint/],
      [good.replace('@v1', '@v2'), /line 1 of a proof: expected "c2sp.org\/tlog-proof@v1"/],
      [good.replace('index 5', 'index 05'), /line 2 of a proof, index: expected a decimal/],
      [good.replace('index 5\n', ''), /line 2 of a proof: expected "index <number>"/],
      [good.replace('index', 'extra !\nindex'), /line 2 of a proof, extra data: expected padded/],
      [good.replace('index', 'extra AA==\nindex x'), /line 3 of a proof, index/],
      [good.replace('AAA', 'AA'), /line 3 of a proof, hash: expected base64 .* of 32 bytes/],
      [good.slice(0, -1), /final newline/],
      [good.split('\n\n').slice(0, 2).join('\n\n'), /^the checkpoint has no signature line$/],
      [
        `${formatProof({ ...base, hashes: Array(63).fill(hash) })}`.replace(
          'AAA',
          `${'A'.repeat(43)}=\nAAA`,
        ),
        /at most 63 hashes in a proof, got 64/,
      ],
    ] as const) {
      assert.throws(() => parseProof(text), { name: 'FormatError', message });
    }
    assert.throws(() => formatProof({ ...base, index: -1 }), RangeError);
    assert.throws(() => formatProof({ ...base, hashes: Array(64).fill(hash) }), RangeError);
    assert.throws(() => formatProof({ ...base, hashes: [Buffer.alloc(31)] }), TypeError);
  });
});

let keys = 0;

/** Returns a verifier key that no other call returns. */
function newKey(type: number = ED25519_COSIGNATURE, name: string = `key-${keys}`): string {
  const publicKey = new Uint8Array(type === ML_DSA_44_COSIGNATURE ? 1312 : 32).fill(++keys);
  return formatVerifierKey({ name, keyId: keys, type, publicKey });
}

/** Puts a fresh key in the place of each `<vkey>`, as C2SP's page writes it. */
function withKeys(policy: string): string {
  return policy.replace(/<vkey>/g, () => newKey());
}

describe('parsePolicy', () => {
  it('reads the policy of C2SP', () => {
    const policy = parsePolicy(withKeys(C2SP.policy.policy));
    assert.equal(policy.logs.length, 1);
    assert.deepEqual(
      policy.witnesses.map(({ name, url }) => [name, url]),
      ['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3'].map((name) => [name, null]),
    );
    assert.deepEqual(policy.groups, [
      { name: 'X-witnesses', threshold: 2, members: ['X1', 'X2', 'X3'] },
      { name: 'Y-witnesses', threshold: 1, members: ['Y1', 'Y2', 'Y3'] },
      { name: 'X-and-Y', threshold: 2, members: ['X-witnesses', 'Y-witnesses'] },
    ]);
    assert.equal(policy.quorum, 'X-and-Y');
  });

  it('reads URLs, tabs, comments and lines in any order', () => {
    const text = [
      '# a policy',
      '\t quorum none\t',
      '  # indented',
      `log ${newKey(ED25519, 'example.com/log')} https://example.com/log/`,
      '',
      `witness Größe\t${newKey(ML_DSA_44_COSIGNATURE)}   https://w.example`,
      'group all 1 Größe',
    ].join('\n');
    const { logs, witnesses, groups, quorum } = parsePolicy(text);
    assert.deepEqual(
      [logs[0]?.key.name, logs[0]?.url],
      ['example.com/log', 'https://example.com/log/'],
    );
    assert.deepEqual([witnesses[0]?.name, witnesses[0]?.url], ['Größe', 'https://w.example']);
    assert.deepEqual(groups, [{ name: 'all', threshold: 1, members: ['Größe'] }]);
    assert.equal(quorum, 'none');
  });

  it('says in one sentence why a policy is refused', () => {
    const key = newKey();
    const samePublicKey = key.replace(/^key-\d+/, 'other');
    for (const [text, message] of [
      ['', /the policy has no quorum line/],
      ['quorum none\nquorum none', /line 2 of the policy: the policy has a quorum line already/],
      ['quorum X', /line 1 of the policy: no witness or group above is named "X"/],
      ['quorum X\nwitness X <vkey>', /line 1 .* named "X"/],
      ['quorum', /expected quorum <name>/],
      ['quorum none none', /expected quorum <name>/],
      ['witnes X <vkey>', /expected log, witness, group or quorum, got "witnes"/],
      ['log', /expected log <vkey> \[<url>\]/],
      ['log <vkey> https://a b', /expected log <vkey> \[<url>\]/],
      ['log x', /line 1 of the policy: expected a verifier key/],
      ['witness X', /expected witness <name> <vkey>/],
      [`witness X ${newKey(ED25519)}`, /type 4 or 6 \(cosignature\), got type 1/],
      [`log ${key}\nlog ${samePublicKey}`, /line 2 .*: the public key of other is listed already/],
      [`witness A ${key}\nwitness B ${samePublicKey}`, /line 2 .* listed already/],
      ['witness none <vkey>', /the name "none" is taken/],
      ['witness X <vkey>\nwitness X <vkey>', /line 2 .* "X" is taken/],
      ['witness X <vkey>\ngroup X 1 X', /line 2 .* "X" is taken/],
      ['group G any', /expected group <name>/],
      ['group G any G', /named "G"/],
      ['group G any none', /"none" is no member of a group/],
      ['witness X <vkey>\ngroup G 2 X', /a number from 1 to 1, got "2"/],
      ['witness X <vkey>\ngroup G 0 X', /a number from 1 to 1, got "0"/],
      ['witness X <vkey>\ngroup G 01 X', /a number from 1 to 1, got "01"/],
      ['witness X <vkey>\ngroup G all X X', /"X" is a member of a group already/],
      ['witness X <vkey>\ngroup G all X\ngroup H all X', /line 3 .* member of a group already/],
      ['quorum none\x0b', /line 1 of the policy: control characters/],
      ['quorum none\0', /not UTF-8, perhaps UTF-16/],
      ['# \u007f', /control characters/],
      ['\n'.repeat(5000), /at most 1 MiB and 4096 lines/],
    ] as const) {
      assert.throws(() => parsePolicy(withKeys(text)), { name: 'FormatError', message });
    }
  });

  it('accepts the same key as log and as witness', () => {
    const key = newKey();
    assert.doesNotThrow(() => parsePolicy(`log ${key}\nwitness X ${key}\nquorum X`));
  });
});

describe('meetsQuorum', () => {
  const policy = parsePolicy(withKeys(C2SP.policy.policy));

  it('counts members of groups as C2SP describes', () => {
    const all = policy.witnesses.map(({ name }) => name);
    for (let subset = 0; subset < 2 ** all.length; subset++) {
      const names = new Set(all.filter((_, i) => (subset >> i) & 1));
      const x = ['X1', 'X2', 'X3'].filter((name) => names.has(name)).length;
      const y = ['Y1', 'Y2', 'Y3'].filter((name) => names.has(name)).length;
      assert.equal(meetsQuorum(policy, names), x >= 2 && y >= 1, [...names].join());
    }
  });

  it('ignores names of groups and of strangers', () => {
    assert.equal(
      meetsQuorum(policy, new Set(['X-and-Y', 'X-witnesses', 'Y-witnesses', 'Z'])),
      false,
    );
  });

  it('is always met by "none", and else needs the one witness', () => {
    assert.equal(meetsQuorum(parsePolicy('quorum none'), new Set()), true);
    const single = parsePolicy(withKeys('witness X <vkey>\nquorum X'));
    assert.equal(meetsQuorum(single, new Set()), false);
    assert.equal(meetsQuorum(single, new Set(['X'])), true);
  });
});
