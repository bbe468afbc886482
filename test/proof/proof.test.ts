import assert from 'node:assert/strict';
import { createHmac, randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hexToBytes } from '../../src/bytes.ts';
import {
  deriveLogMacKeys,
  formatMasterSecret,
  Keyring,
  LogMacKeys,
  type MasterSecretVersion,
  newMasterSecret,
  parseMasterSecret,
  proofSelfTest,
} from '../../src/proof/index.ts';
import { CODE_POINTS } from '../support/texts/code-points.ts';

interface VectorFile {
  numberOfTests: number;
  testGroups: VectorGroup[];
}

interface VectorGroup {
  comment: string;
  masterSecret: string;
  checkValues: { version: number; value: string }[];
  logMacs: { version: number; entryId: string; entry: string; mac: string }[];
  tests: Vector[];
}

interface Vector {
  tcId: number;
  comment: string;
  key: string;
  proof: string;
  commitments?: { version: number; digest: string; fingerprint: string }[];
  result: 'valid' | 'invalid';
}

const VECTORS: VectorFile = JSON.parse(
  readFileSync(new URL('../vectors/proof/proofs.json', import.meta.url), 'utf8'),
);

const SECRETS: readonly MasterSecretVersion[] = [
  { version: 1, secret: Buffer.alloc(32, 0x11) },
  { version: 2, secret: Buffer.alloc(40, 0x22) },
  { version: 7, secret: Buffer.alloc(32, 0x77) },
];
const KEYRING = new Keyring(SECRETS);

const keyOf = fc
  .constantFrom(16, 32, 48)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));

function proofNumber(proof: string): bigint {
  return BigInt(proof.slice('proof_'.length));
}

describe('proofs and commitments', () => {
  it('have the stated number of test vectors', () => {
    const count = VECTORS.testGroups.reduce((sum, { tests }) => sum + tests.length, 0);
    assert.equal(count, VECTORS.numberOfTests);
  });

  for (const { comment, masterSecret, checkValues, logMacs, tests } of VECTORS.testGroups) {
    describe(`vectors: ${comment}`, () => {
      const keyring = new Keyring(parseMasterSecret(masterSecret));

      it('give the check values', () => {
        assert.deepEqual(
          keyring.versions,
          checkValues.map(({ version }) => version),
        );
        for (const { version, value } of checkValues) {
          assert.equal(keyring.checkValue(version).toString('hex'), value);
        }
      });

      it('give the MACs of log entries', () => {
        const keys = new LogMacKeys(deriveLogMacKeys(parseMasterSecret(masterSecret)));
        assert.deepEqual(keys.versions, keyring.versions);
        for (const { version, entryId, entry, mac } of logMacs) {
          const [id, bytes] = [hexToBytes(entryId), hexToBytes(entry)];
          assert.equal(keyring.logMac(version, id, bytes).toString('hex'), mac);
          assert.equal(keys.mac(version, id, bytes).toString('hex'), mac);
          assert.ok(keys.verifies(version, id, bytes, hexToBytes(mac)));
        }
      });

      for (const vector of tests) {
        it(`give vector ${vector.tcId}, ${vector.key.length * 4} bits: ${vector.comment}`, () => {
          const key = hexToBytes(vector.key);
          assert.equal(keyring.verifyProof(key, vector.proof) !== null, vector.result === 'valid');
          if (vector.commitments === undefined) return;
          assert.equal(keyring.makeProof(key), vector.proof);
          const all = keyring.commitAll(key);
          assert.deepEqual(
            all.map(({ version, digest, fingerprint }) => ({
              version,
              digest: digest.toString('hex'),
              fingerprint: String(fingerprint),
            })),
            vector.commitments,
          );
          assert.deepEqual(keyring.commit(key), all[0]);
          const current = ({ version }: { version: number }) => version === keyring.currentVersion;
          const others = all.filter((one) => !current(one)).reverse();
          assert.deepEqual(keyring.commitOthers(key), others);
        });
      }
    });
  }

  it('verify in the published form', () => {
    fc.assert(
      fc.property(keyOf, (key) => {
        const proof = KEYRING.makeProof(key);
        assert.match(proof, /^proof_[1-9][0-9]{77,81}$/);
        assert.equal(proofNumber(proof) >> 256n, 7n);
        assert.ok(KEYRING.verifyProof(key, proof));
      }),
    );
  });

  it('fail if one bit of the key is flipped', () => {
    fc.assert(
      fc.property(keyOf, fc.nat(), (key, n) => {
        const proof = KEYRING.makeProof(key);
        const bit = n % (key.length * 8);
        key[bit >>> 3] ^= 1 << (bit & 7);
        assert.ok(!KEYRING.verifyProof(key, proof));
      }),
    );
  });

  it('fail if one bit of the proof is flipped', () => {
    fc.assert(
      fc.property(keyOf, fc.bigInt(0n, 271n), (key, bit) => {
        const flipped = proofNumber(KEYRING.makeProof(key)) ^ (1n << bit);
        assert.ok(!KEYRING.verifyProof(key, `proof_${flipped}`));
      }),
    );
  });

  it('accept exactly one string for a key and version', () => {
    const key = Buffer.alloc(32, 5);
    const proof = KEYRING.makeProof(key);
    const number = proofNumber(proof);
    const others = [
      `proof_${number + (1n << 256n)}`,
      `proof_${number + (1n << 272n)}`,
      `proof_${number + 65_536n * (1n << 256n)}`,
      `proof_${number - (7n << 256n)}`,
      `proof_0${number}`,
      `proof_${number}.`,
      `proof_${number}n`,
      `proof_${number}\n`,
      `\nproof_${number}`,
      `proof_ ${number}`,
      `proof_-${number}`,
      `proof_${number}`.toUpperCase(),
      `proof-${number}`,
      `proof_${'1'.repeat(1_000_000)}`,
      `proof_${String(number).replace(/[0-9]/g, (d) => String.fromCodePoint(0x0966 + Number(d)))}`,
    ];
    assert.ok(KEYRING.verifyProof(key, proof));
    for (const other of others) {
      assert.ok(!KEYRING.verifyProof(key, other), other.slice(0, 100));
    }
  });

  it('never accept an arbitrary string', () => {
    const anything = fc.oneof(
      fc.string({ unit: CODE_POINTS }),
      fc.stringMatching(/^proof_[0-9]{1,90}$/),
    );
    fc.assert(
      fc.property(keyOf, anything, (key, text) => {
        assert.ok(!KEYRING.verifyProof(key, text));
      }),
    );
  });

  it('differ by level, even for keys with the same first bytes', () => {
    const key = Buffer.alloc(48, 9);
    const levels = [key.subarray(0, 16), key.subarray(0, 32), key];
    for (const level of levels) {
      const proof = KEYRING.makeProof(level);
      const accepting = levels.filter((other) => KEYRING.verifyProof(other, proof));
      assert.deepEqual(accepting, [level]);
    }
    const digests = levels.map((level) => KEYRING.commit(level).digest.toString('hex'));
    assert.equal(new Set(digests).size, 3);
  });

  it('verify old proofs after a rotation until the version is dropped', () => {
    const key = Buffer.alloc(32, 3);
    const before = new Keyring(SECRETS.slice(0, 2));
    const oldProof = before.makeProof(key);
    assert.ok(KEYRING.verifyProof(key, oldProof));
    assert.notEqual(KEYRING.makeProof(key), oldProof);
    assert.ok(!before.verifyProof(key, KEYRING.makeProof(key)));
    assert.ok(!new Keyring(SECRETS.slice(2)).verifyProof(key, oldProof));
  });

  it('cover every version, newest first, or the current version alone', () => {
    const key = Buffer.alloc(16, 4);
    const all = KEYRING.commitAll(key);
    assert.deepEqual(
      all.map(({ version }) => version),
      [7, 2, 1],
    );
    assert.deepEqual(KEYRING.commit(key), all[0]);
    assert.deepEqual(all[2], new Keyring(SECRETS.slice(0, 1)).commit(key));
    for (const { digest, fingerprint } of all) {
      assert.equal(digest.length, 32);
      assert.equal(BigInt.asUintN(64, fingerprint), BigInt(`0x${digest.toString('hex', 0, 8)}`));
      assert.equal(BigInt.asIntN(64, fingerprint), fingerprint);
    }
  });

  it('use separate digests for each version and each secret', () => {
    const key = Buffer.alloc(32, 8);
    const secret = Buffer.alloc(32, 0x55);
    const rings = [1, 2].map((version) => new Keyring([{ version, secret }]));
    rings.push(new Keyring([{ version: 1, secret: Buffer.alloc(32, 0x56) }]));
    const digests = rings.flatMap((ring) => [
      ring.commit(key).digest.toString('hex'),
      ring.checkValue(ring.currentVersion).toString('hex'),
      BigInt.asUintN(256, proofNumber(ring.makeProof(key)))
        .toString(16)
        .padStart(64, '0'),
    ]);
    assert.equal(new Set(digests).size, 9);
  });

  it('provide a check value only for the loaded versions', () => {
    assert.equal(KEYRING.checkValue(2).length, 32);
    assert.deepEqual(KEYRING.checkValue(2), new Keyring([SECRETS[1]]).checkValue(2));
    assert.throws(() => KEYRING.checkValue(3), {
      name: 'RangeError',
      message: '"version" expected one of 1, 2, 7, got 3',
    });
  });

  it('use the configured version for new proofs and verify under all versions', () => {
    const key = Buffer.alloc(32, 0x21);
    const keyring = new Keyring(SECRETS, SECRETS[0].version);
    const oldest = new Keyring(SECRETS.slice(0, 1));
    assert.equal(keyring.makeProof(key), oldest.makeProof(key));
    assert.deepEqual(keyring.commit(key), oldest.commit(key));
    assert.ok(keyring.verifyProof(key, KEYRING.makeProof(key)));
    assert.deepEqual(keyring.commitAll(key), KEYRING.commitAll(key));
    assert.throws(() => new Keyring(SECRETS, 65_535), RangeError);
  });

  it('keep no reference to the original secrets', () => {
    const secret = Buffer.alloc(32, 0x44);
    const keyring = new Keyring([{ version: 1, secret }]);
    const before = keyring.makeProof(Buffer.alloc(16));
    secret.fill(0);
    assert.equal(keyring.makeProof(Buffer.alloc(16)), before);
  });

  it('refuse keys of another length', () => {
    const expected = {
      name: 'TypeError',
      message: '"key" expected Uint8Array of length 16, 32 or 48, got length=24',
    };
    const key = Buffer.alloc(24);
    assert.throws(() => KEYRING.commit(key), expected);
    assert.throws(() => KEYRING.commitAll(key), expected);
    assert.throws(() => KEYRING.makeProof(key), expected);
    assert.throws(() => KEYRING.verifyProof(key, 'proof_1'), expected);
    assert.throws(() => KEYRING.commit('0'.repeat(32) as never), TypeError);
  });

  it('refuse versions out of order, out of range or with a short secret', () => {
    const secret = Buffer.alloc(32);
    const bad: MasterSecretVersion[][] = [
      [],
      [{ version: 0, secret }],
      [{ version: 65_536, secret }],
      [{ version: 1.5, secret }],
      [
        { version: 2, secret },
        { version: 1, secret },
      ],
      [
        { version: 2, secret },
        { version: 2, secret },
      ],
      [{ version: 1, secret: Buffer.alloc(31) }],
    ];
    for (const versions of bad) assert.throws(() => new Keyring(versions), TypeError);
  });

  it('refuse every call after destroy', () => {
    const keyring = new Keyring(SECRETS);
    const key = Buffer.alloc(32);
    const proof = keyring.makeProof(key);
    keyring.destroy();
    assert.throws(() => keyring.commit(key), /was destroyed/);
    assert.throws(() => keyring.commitAll(key), /was destroyed/);
    assert.throws(() => keyring.makeProof(key), /was destroyed/);
    assert.throws(() => keyring.verifyProof(key, proof), /was destroyed/);
    assert.throws(() => keyring.checkValue(1), /was destroyed/);
    assert.throws(() => keyring.logMac(1, Buffer.alloc(16), key), /was destroyed/);
  });

  it('pass their own health tests', () => {
    const rows = proofSelfTest();
    assert.equal(rows.length, 6);
    assert.deepEqual(
      rows.filter(({ passed }) => !passed),
      [],
    );
  });

  for (const length of [16, 32, 48]) {
    it(`fail their health tests if only proofs or commitments of ${length} bytes are wrong`, (t) => {
      const { makeProof, commit } = Keyring.prototype;
      const other = (key: Uint8Array) => (key.length === length ? Buffer.alloc(length) : key);
      const failed = () => proofSelfTest().filter(({ passed }) => !passed);
      const mocked = t.mock.method(
        Keyring.prototype,
        'makeProof',
        function (this: Keyring, key: Uint8Array) {
          return makeProof.call(this, other(key));
        },
      );
      assert.deepEqual(
        failed().map(({ name }) => name),
        ['proof: known answer, proof'],
      );
      mocked.mock.restore();
      t.mock.method(Keyring.prototype, 'commit', function (this: Keyring, key: Uint8Array) {
        return commit.call(this, other(key));
      });
      assert.deepEqual(
        failed().map(({ name }) => name),
        ['proof: known answer, commitment'],
      );
    });
  }
});

describe('MACs of log entries', () => {
  const keys = new LogMacKeys(deriveLogMacKeys(SECRETS));
  const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

  it('fail if one bit of the entry ID, the entry or the MAC is flipped', () => {
    fc.assert(
      fc.property(bytesOf(16), bytesOf(32), fc.nat(), fc.nat(2), (entryId, entry, n, which) => {
        const mac = keys.mac(7, entryId, entry);
        assert.ok(keys.verifies(7, entryId, entry, mac));
        const flipped = [entryId, entry, mac][which] ?? mac;
        const bit = n % (flipped.length * 8);
        flipped[bit >>> 3] ^= 1 << (bit & 7);
        assert.ok(!keys.verifies(7, entryId, entry, mac));
      }),
    );
  });

  it('differ by version, and fail under any other', () => {
    const [entryId, entry] = [Buffer.alloc(16, 1), Buffer.alloc(32, 2)];
    const mac = keys.mac(1, entryId, entry);
    for (const version of [0, 2, 7, 300]) {
      assert.equal(keys.verifies(version, entryId, entry, mac), false);
    }
    assert.throws(() => keys.mac(3, entryId, entry), {
      name: 'RangeError',
      message: '"version" expected one of 1, 2, 7, got 3',
    });
  });

  it('refuse other lengths', () => {
    const [entryId, entry] = [Buffer.alloc(16, 1), Buffer.alloc(32, 2)];
    const mac = keys.mac(1, entryId, entry);
    assert.throws(() => keys.mac(1, entry, entry), TypeError);
    assert.throws(() => keys.mac(1, entryId, entryId), TypeError);
    assert.equal(keys.verifies(1, entryId, entry, mac.subarray(1)), false);
    assert.equal(keys.verifies(1, Buffer.concat([entryId, entry]), Buffer.alloc(0), mac), false);
    assert.throws(() => new LogMacKeys([{ version: 1, subkey: Buffer.alloc(31) }]), TypeError);
  });

  it('need no reference to the given subkeys, and refuse every call after destroy', () => {
    const derived = deriveLogMacKeys(SECRETS);
    const own = new LogMacKeys(derived);
    for (const { subkey } of derived) subkey.fill(0);
    const [entryId, entry] = [Buffer.alloc(16), Buffer.alloc(32)];
    assert.deepEqual(own.mac(2, entryId, entry), KEYRING.logMac(2, entryId, entry));
    own.destroy();
    assert.throws(() => own.mac(2, entryId, entry), /were destroyed/);
    assert.throws(() => own.verifies(2, entryId, entry, entry), /were destroyed/);
  });
});

describe('MACs of heads of the log', () => {
  const subkey = Buffer.alloc(32, 5);
  const keys = new LogMacKeys([{ version: 3, subkey }]);
  const head = { origin: 'keys.example/lög', size: 2 ** 40 + 1, root: Buffer.alloc(32, 2) };

  it('are HMAC-SHA-256 over label, size, root and origin', () => {
    const message = Buffer.concat([
      Buffer.from('phm/log-head/v1\0'),
      Buffer.from('0000010000000001', 'hex'),
      head.root,
      Buffer.from(head.origin, 'utf8'),
    ]);
    assert.deepEqual(keys.headMac(3, head), createHmac('sha256', subkey).update(message).digest());
  });

  it('fail for another head, version or MAC', () => {
    const mac = keys.headMac(3, head);
    assert.ok(keys.verifiesHead(3, head, mac));
    const root = Buffer.alloc(32, 3);
    for (const other of [{ size: 1 }, { root }, { root: root.subarray(1) }, { origin: 'x' }]) {
      assert.equal(keys.verifiesHead(3, { ...head, ...other }, mac), false);
    }
    assert.equal(keys.verifiesHead(1, head, mac), false);
    assert.equal(keys.verifiesHead(3, head, Buffer.alloc(32)), false);
    assert.equal(keys.verifiesHead(3, head, mac.subarray(1)), false);
    assert.throws(() => keys.headMac(1, head), RangeError);
  });
});

describe('the master secret as text', () => {
  const hex = 'ab'.repeat(32);

  it('reads 64 hexadecimal digits as version 1', () => {
    const expected = [{ version: 1, secret: Buffer.alloc(32, 0xab) }];
    for (const text of [
      hex,
      `${hex}\n`,
      ` ${hex.toUpperCase()} \r\n`,
      `# mine\n\n${hex} # here\n`,
    ]) {
      assert.deepEqual(parseMasterSecret(text), expected);
    }
  });

  it('reads versions separated by lines or commas', () => {
    const expected = [1, 2, 65_535].map((version) => ({
      version,
      secret: Buffer.alloc(32, version),
    }));
    const [one, two, last] = expected.map(({ secret }) => secret.toString('hex'));
    const lines = `# rotated\n1:${one}\n\n2:${two}  # second\r\n65535:${last}`;
    assert.deepEqual(parseMasterSecret(lines), expected);
    assert.deepEqual(parseMasterSecret(`1:${one}, 2:${two},\t65535:${last},`), expected);
  });

  it('reads the text that it writes', () => {
    const secretOf = fc.uint8Array({ minLength: 32, maxLength: 126 });
    const versionsOf = fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(versionsOf, secretOf, (numbers, secret) => {
        const versions = numbers
          .toSorted((a, b) => a - b)
          .map((version) => ({ version, secret: Buffer.from([...secret, version >> 8, version]) }));
        assert.deepEqual(parseMasterSecret(formatMasterSecret(versions)), versions);
      }),
    );
    assert.equal(
      formatMasterSecret([{ version: 3, secret: Buffer.alloc(32, 0xab) }]),
      `3:${hex}\n`,
    );
  });

  const malformed: readonly (readonly [claim: string, text: string, message: RegExp])[] = [
    ['an empty text', '', /^the master secret is empty$/],
    ['only comments', '# 1\n\n', /is empty$/],
    ['63 digits', hex.slice(1), /^line 1 of the master secret: expected 64 hexadecimal digits$/],
    ['65 digits', `\n${hex}0`, /^line 2 .*expected 64 hexadecimal digits$/],
    ['a letter that is not hexadecimal', `${hex.slice(1)}g`, /expected 64 hexadecimal digits$/],
    ['two bare secrets', `${hex}\n${hex}`, /^line 1 .*expected "version:hex"/],
    ['a bare secret after a version', `1:${hex}\n${hex}`, /^line 2 .*expected "version:hex"/],
    [
      'a short secret',
      `1:${hex.slice(2)}`,
      /expected "version:hex" with 64 to 256 hexadecimal digits$/,
    ],
    ['an odd number of digits', `1:${hex}a`, /expected "version:hex"/],
    ['version 0', `0:${hex}`, /expected "version:hex"/],
    ['a leading zero', `01:${hex}`, /expected "version:hex"/],
    ['version 65536', `65536:${hex}`, /expected a version from 1 to 65535, got 65536$/],
    [
      'a repeated version',
      `2:${hex}\n2:${hex}`,
      /^line 2 .*expected a version from 3 to 65535, got 2$/,
    ],
    [
      'one secret under two versions',
      `1:${hex}\n2:${'cd'.repeat(32)}\n3:${hex.toUpperCase()}`,
      /^line 3 of the master secret: version 3 has the secret of version 1; /,
    ],
    ['descending versions', `2:${hex}\n\n1:${hex}`, /^line 3 .*got 1$/],
    ['spaces inside a line', `1 : ${hex}`, /expected "version:hex"/],
  ];
  for (const [claim, text, message] of malformed) {
    it(`refuses ${claim}, without quoting the text`, () => {
      assert.throws(
        () => parseMasterSecret(text),
        (error) => {
          assert.ok(error instanceof TypeError);
          assert.match(error.message, message);
          assert.ok(!error.message.includes('abab'));
          return true;
        },
      );
    });
  }

  it('consists of 32 fresh bytes in its own memory when new', () => {
    const [a, b] = [newMasterSecret(), newMasterSecret()];
    assert.equal(a.length, 32);
    assert.equal(a.buffer.byteLength, 32);
    assert.notDeepEqual(a, b);
  });

  it('works in a keyring', () => {
    const keyring = new Keyring([{ version: 1, secret: newMasterSecret() }]);
    const key = randomFillSync(Buffer.alloc(32));
    assert.ok(keyring.verifyProof(key, keyring.makeProof(key)));
    assert.equal(keyring.currentVersion, 1);
  });
});
