/** A key that is altered after its generation is not released, wherever it happens. */
import assert from 'node:assert/strict';
import { Cipheriv, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { RecentDigests } from '../../src/entropy/index.ts';
import { AppError } from '../../src/errors.ts';
import { answerDigest } from '../../src/keys/answer-digest.ts';
import { generateKey } from '../../src/keys/generate.ts';
import type { Generator } from '../../src/keys/generator.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import { REMEMBERED_WORDS, RecentWords } from '../../src/keys/recent-words.ts';
import { MODULATION_TYPES, Modulator } from '../../src/modulation/index.ts';
import {
  fakeGenerator,
  keyring,
  order,
  RecordingDrbg,
  SCREEN_RESEEDS,
  withDigest,
} from '../support/servers/fakes.ts';

const generate = (generator: Generator, changes: Partial<KeyOrder> = {}) =>
  generateKey(generator, keyring, order(changes), { streams: 0, streamsPassed: 0 }, true);

const isUnavailable = (error: unknown) =>
  error instanceof AppError && error.code === 'entropy_unavailable';

/** Places after the modulation at which a fault changes a key. Each calls `alter` with the key at that place. */
const PLACES: Readonly<Record<string, (t: TestContext, alter: (key: Buffer) => void) => void>> = {
  'after its modulation': (t, alter) => {
    const { modulateInPlace } = Modulator.prototype;
    t.mock.method(
      Modulator.prototype,
      'modulateInPlace',
      function (this: Modulator, ...all: [Buffer, number]) {
        modulateInPlace.apply(this, all);
        if (all[0].length <= 48) alter(all[0]);
      },
    );
  },
  'before its proof': (t, alter) => {
    const makeProof = keyring.makeProof.bind(keyring);
    t.mock.method(keyring, 'makeProof', (key: Buffer) => {
      alter(key);
      return makeProof(key);
    });
  },
  'between proof and commitment': (t, alter) => {
    const commit = keyring.commit.bind(keyring);
    t.mock.method(keyring, 'commit', (key: Buffer) => {
      alter(key);
      return commit(key);
    });
  },
  'after its commitment': (t, alter) => {
    const commit = keyring.commit.bind(keyring);
    t.mock.method(keyring, 'commit', (key: Buffer) => {
      const commitment = commit(key);
      alter(key);
      return commitment;
    });
  },
};

/** Faults that the exact tests of a key do not see. Each leaves some keys as they are. */
const FAULTS: Readonly<Record<string, (key: Buffer) => void>> = {
  'a bit that is stuck at one': (key) => {
    key[3] |= 0x10;
  },
  'a byte that is stuck': (key) => {
    key[7] = 0x5a;
  },
  'a constant half': (key) =>
    void key.write('a constant half, 24 char', key.length / 2, key.length / 2),
  'a bit that is flipped': (key) => {
    key[key.length - 1] ^= 1;
  },
};

describe('a key that is altered', () => {
  for (const [place, inject] of Object.entries(PLACES)) {
    for (const [name, fault] of Object.entries(FAULTS)) {
      it(`${place} by ${name} stops generation within ten keys, and is wiped`, (t) => {
        let altered = 0;
        let last: Buffer | undefined;
        inject(t, (key) => {
          const before = Buffer.from(key);
          fault(key);
          last = key;
          if (!before.equals(key)) altered += 1;
        });
        for (const modulation of MODULATION_TYPES) {
          for (const securityLevel of [128, 256, 384] as const) {
            const generator = fakeGenerator(new RecordingDrbg());
            altered = 0;
            assert.throws(() => {
              for (let key = 0; key < 10; key++) {
                generate(generator, { modulation, securityLevel });
                assert.equal(altered, 0, 'an altered key was released');
              }
            }, isUnavailable);
            const { cause, test } = generator.latched ?? {};
            assert.deepEqual([cause, test], ['altered_key', 'inverse']);
            assert.ok(last?.every((byte) => byte === 0));
          }
        }
      });
    }
  }

  it('is found in a validated key too', (t) => {
    PLACES['before its proof']?.(t, (key) => {
      key[0] ^= 0x80;
    });
    const generator = fakeGenerator(new RecordingDrbg());
    assert.throws(() => generate(generator, { withEvidence: true }), isUnavailable);
    assert.equal(generator.latched?.cause, 'altered_key');
  });

  it('is found if its carrier is lost', (t) => {
    const { modulateInPlace } = Modulator.prototype;
    t.mock.method(
      Modulator.prototype,
      'modulateInPlace',
      function (this: Modulator, ...all: [Buffer, number]) {
        all[0].fill(0);
        modulateInPlace.apply(this, all);
      },
    );
    const generator = fakeGenerator(new RecordingDrbg());
    assert.throws(() => generate(generator), isUnavailable);
    assert.equal(generator.latched?.cause, 'altered_key');
  });
});

describe('words that repeat', () => {
  it('latch at the second key whose carrier has the same half, under any modulation', () => {
    for (const modulation of MODULATION_TYPES) {
      const half = randomBytes(16);
      const drbg = new RecordingDrbg((output, reseeds) => {
        if (reseeds > SCREEN_RESEEDS && output.length === 32) output.set(half, 16);
      });
      const generator = fakeGenerator(drbg);
      generate(generator, { modulation });
      assert.throws(() => generate(generator, { modulation }), isUnavailable);
      const { cause, test } = generator.latched ?? {};
      assert.deepEqual([cause, test], ['repeated_key', 'word']);
    }
  });

  it('latch at the second key with the same half, although its modulation can be undone', (t) => {
    const { modulateInPlace } = Modulator.prototype;
    let half: Buffer | undefined;
    t.mock.method(
      Modulator.prototype,
      'modulateInPlace',
      function (this: Modulator, ...all: [Buffer, number]) {
        const [bytes] = all;
        if (bytes.length === 64) return;
        modulateInPlace.apply(this, all);
        half ??= Buffer.from(bytes.subarray(16));
        bytes.set(half, 16);
      },
    );
    // The inverse is as wrong: it gives the carrier back, whatever the key is.
    t.mock.method(Modulator.prototype, 'demodulateInPlace', (bytes: Buffer) => {
      bytes.set(drbg.copies.at(-1) ?? []);
    });
    const drbg = new RecordingDrbg();
    const generator = fakeGenerator(drbg);
    generate(generator);
    assert.throws(() => generate(generator), isUnavailable);
    assert.equal(generator.latched?.test, 'word');
  });

  it('are found at any place of a key, in the key itself, and in keys of any length', () => {
    const words = new RecentWords();
    const [a, b, c, d, e] = Array.from({ length: 5 }, () => randomBytes(8));
    assert.equal(words.sees(Buffer.concat([a, b])), false);
    assert.equal(words.sees(Buffer.concat([c, d, a, e])), true);
    assert.equal(words.sees(Buffer.concat([randomBytes(8), d])), true, 'all were remembered');
    const twice = randomBytes(8);
    assert.equal(words.sees(Buffer.concat([twice, randomBytes(8), twice, randomBytes(24)])), true);
  });

  it('are found among the last 65,536 words and no earlier one', () => {
    assert.equal(REMEMBERED_WORDS, 65_536);
    const words = new RecentWords();
    const [first, second] = [randomBytes(8), randomBytes(8)];
    words.sees(Buffer.concat([first, second]));
    for (let seen = 2; seen < REMEMBERED_WORDS; seen += 2) {
      assert.equal(words.sees(randomBytes(16)), false);
    }
    assert.equal(words.sees(Buffer.concat([randomBytes(8), second])), true);
    assert.equal(words.sees(Buffer.concat([randomBytes(8), first])), false, 'it was forgotten');
  });
});

describe('the memory of words', () => {
  it('holds no part of a cipher text that can be undone', (t) => {
    const outputs: { readonly given: Buffer; readonly kept: Buffer; readonly output: Buffer }[] =
      [];
    const { update } = Cipheriv.prototype;
    t.mock.method(Cipheriv.prototype, 'update', function (this: Cipheriv, blocks: Buffer) {
      const given = Buffer.from(blocks);
      const output = update.call(this, blocks, undefined as never, undefined as never);
      const kept = Buffer.from(output as unknown as Buffer);
      outputs.push({ given, kept, output: output as unknown as Buffer });
      return output;
    });
    const remembered: Buffer[] = [];
    const { sees } = RecentDigests.prototype;
    t.mock.method(
      RecentDigests.prototype,
      'sees',
      function (this: RecentDigests, ...all: [Buffer, number]) {
        const [bytes, offset] = all;
        remembered.push(Buffer.from(bytes.subarray(offset, offset + 12)));
        return sees.apply(this, all);
      },
    );
    new RecentWords().sees(randomBytes(32));
    const [{ given, kept, output }] = outputs;
    assert.equal(remembered.length, 4);
    remembered.forEach((digest, i) => {
      const [word, block] = [given, kept].map((bytes) => bytes.subarray(16 * i, 16 * i + 16));
      assert.deepEqual(digest, Buffer.from(block.map((byte, at) => byte ^ word[at]).subarray(4)));
      assert.deepEqual(word.subarray(8), Buffer.alloc(8));
    });
    assert.ok(
      output.every((byte) => byte === 0),
      'the rest of the blocks is wiped',
    );
  });
});

describe('the digest of an answer', () => {
  const key = { key: randomBytes(32), keyId: 'phm_1', hashProof: 'proof_1', opening: null };
  const digestOf = (changes: object, acceptedMs = 1.25) =>
    answerDigest({ ...key, ...changes }, { acceptedMs }).toString('hex');

  it('depends on the key, its ID, its proof, its opening and the request', () => {
    const other = Buffer.from(key.key);
    other[31] ^= 1;
    const digests = [
      digestOf({}),
      digestOf({ key: other }),
      digestOf({ key: key.key.subarray(0, 16) }),
      digestOf({ keyId: 'phm_2' }),
      digestOf({ hashProof: 'proof_2' }),
      digestOf({ opening: Buffer.alloc(32) }),
      digestOf({ opening: Buffer.alloc(32, 1) }),
      digestOf({}, 1.5),
    ];
    assert.equal(new Set(digests).size, digests.length);
    assert.equal(digestOf({}), digestOf({}));
  });

  it('comes with each generated key', () => {
    const wish = order({ acceptedMs: 12.5, receipt: true });
    const generator = fakeGenerator(new RecordingDrbg());
    const { keyIdText: keyId, ...made } = generate(generator, wish);
    const { answerDigest: expected } = withDigest({ ...made, keyId }, wish);
    assert.ok(made.opening);
    assert.deepEqual(made.answerDigest, expected);
  });

  it('refuses texts that it would cut', () => {
    assert.throws(() => digestOf({ hashProof: 'x'.repeat(300) }), RangeError);
  });
});
