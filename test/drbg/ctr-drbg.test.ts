import assert from 'node:assert/strict';
import { Cipheriv, createCipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ctrEncrypt, incrementInto } from '../../src/drbg/_aes.ts';
import { blockCipherDf } from '../../src/drbg/block-cipher-df.ts';
import {
  CtrDrbg,
  drbgSelfTest,
  MAX_INPUT_BYTES,
  MAX_REQUEST_BITS,
  RESEED_INTERVAL,
  SECURITY_STRENGTH_BITS,
  SEED_LENGTH_BYTES,
} from '../../src/drbg/index.ts';
import {
  referenceDf,
  referenceGenerate,
  referenceInstantiate,
  referenceReseed,
} from './reference-ctr-drbg.ts';

const MAX_REQUEST_BYTES = MAX_REQUEST_BITS / 8;

function zeroSeeded(reseedInterval: number = RESEED_INTERVAL): CtrDrbg {
  const entropyInput = Buffer.alloc(32);
  return CtrDrbg.instantiate({ entropyInput, nonce: Buffer.alloc(16), reseedInterval });
}

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });
const optional = bytes(0, 80);

describe('CTR_DRBG', () => {
  it('has the parameters of SP 800-90A Rev. 1 Table 3 for AES-256', () => {
    assert.equal(SECURITY_STRENGTH_BITS, 256);
    assert.equal(SEED_LENGTH_BYTES * 8, 384);
    assert.equal(MAX_REQUEST_BITS, 2 ** 19);
    assert.equal(RESEED_INTERVAL, 2 ** 48);
  });

  it('derives the output of the reference Block_Cipher_df at every length modulo a block', () => {
    for (let length = 0; length <= 100; length++) {
      const input = Buffer.alloc(length, length + 1);
      assert.deepEqual(blockCipherDf(input), referenceDf(input), `${length} bytes`);
    }
  });

  it('derives from the concatenation of the input parts', () => {
    fc.assert(
      fc.property(fc.array(bytes(0, 40), { maxLength: 4 }), (parts) => {
        assert.deepEqual(blockCipherDf(...parts), referenceDf(Buffer.concat(parts)));
      }),
    );
  });

  it('derives with a context that holds nothing secret afterwards, and wipes what came out', (t) => {
    const update = t.mock.method(Cipheriv.prototype, 'update');
    const derived = blockCipherDf(Buffer.alloc(58, 0xab), Buffer.alloc(48, 0xcd));
    const calls = update.mock.calls
      .map((call) => ({
        context: call.this,
        input: call.arguments[0] as Uint8Array,
        output: call.result as unknown as Buffer,
      }))
      .filter(({ output }) => output !== derived);
    // Three chains, and the block that ends them.
    assert.deepEqual(
      calls.map(({ input }) => input.length),
      [144, 144, 144, 16],
    );
    const [first, second, third, end] = calls;
    assert.ok([first, second, third].every(({ context }) => context === end.context));
    // AES-256 of a zero block under K: anybody can compute it.
    const K = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
    const cipher = createCipheriv('aes-256-ecb', K, null).setAutoPadding(false);
    assert.deepEqual(end.output, cipher.update(Buffer.alloc(16)));
    for (const { output } of [first, second, third]) assert.deepEqual(output, Buffer.alloc(144));
    // The context was given views of the scratch memory.
    for (const { input } of calls) assert.ok(input.every((byte) => byte === 0));
  });

  it('derives correctly after a call that threw', (t) => {
    const input = Buffer.alloc(77, 3);
    const update = t.mock.method(Cipheriv.prototype, 'update');
    for (const callsBefore of [0, 1, 2, 3]) {
      update.mock.mockImplementationOnce(() => {
        throw new Error('staged');
      }, update.mock.callCount() + callsBefore);
      assert.throws(() => blockCipherDf(input), /staged/);
      assert.deepEqual(blockCipherDf(input), referenceDf(input));
    }
  });

  it('agrees with the reference generator through any sequence of calls', () => {
    const call = fc.oneof(
      fc.record({ kind: fc.constant('reseed' as const), entropy: bytes(32, 90), extra: optional }),
      fc.record({
        kind: fc.constant('generate' as const),
        length: fc.integer({ min: 1, max: 200 }),
        extra: optional,
      }),
    );
    const calls = fc.array(call, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        bytes(32, 90),
        bytes(16, 40),
        optional,
        calls,
        (entropyInput, nonce, personalization, sequence) => {
          const drbg = CtrDrbg.instantiate({ entropyInput, nonce, personalization });
          const reference = referenceInstantiate(entropyInput, nonce, personalization);
          for (const step of sequence) {
            if (step.kind === 'reseed') {
              drbg.reseed(step.entropy, step.extra);
              referenceReseed(reference, step.entropy, step.extra);
            } else {
              const expected = referenceGenerate(reference, step.length, step.extra);
              assert.deepEqual(drbg.generate(step.length, step.extra), expected);
            }
            assert.equal(drbg.reseedCounter, reference.reseedCounter);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('agrees with the reference generator on the largest request', () => {
    const drbg = zeroSeeded();
    const reference = referenceInstantiate(Buffer.alloc(32), Buffer.alloc(16), Buffer.alloc(0));
    for (const extra of [Buffer.alloc(0), Buffer.alloc(5, 9)]) {
      const expected = referenceGenerate(reference, MAX_REQUEST_BYTES, extra);
      assert.deepEqual(drbg.generate(MAX_REQUEST_BYTES, extra), expected);
    }
    assert.deepEqual(drbg.generate(16), referenceGenerate(reference, 16, Buffer.alloc(0)));
  });

  it('counts modulo 2^128 (§10.2.1.2: V = (V + 1) mod 2^blocklen)', () => {
    const key = Buffer.alloc(32, 7);
    const lastCounter = Buffer.alloc(16, 0xff);
    const next = Buffer.alloc(16);
    incrementInto(next, lastCounter);
    assert.deepEqual(next, Buffer.alloc(16));
    const acrossTheWrap = ctrEncrypt(key, lastCounter, Buffer.alloc(32));
    assert.deepEqual(acrossTheWrap.subarray(16), ctrEncrypt(key, next, Buffer.alloc(16)));
    incrementInto(next, Buffer.from('000000000000000000000000000000ff', 'hex'));
    assert.equal(next.toString('hex'), '00000000000000000000000000000100');
  });

  it('wipes what its ciphers returned, in every call', (t) => {
    const drbg = zeroSeeded();
    const update = t.mock.method(Cipheriv.prototype, 'update');
    drbg.reseed(Buffer.alloc(48, 1), Buffer.alloc(48, 2));
    drbg.generate(64);
    drbg.generate(20, Buffer.alloc(5, 3));
    const outputs = update.mock.calls.map(({ result }) => result as unknown as Buffer);
    const held = outputs.filter((output) => output.some((byte) => byte !== 0));
    // Six for each derivation and the update after it, and one for each request.
    assert.equal(outputs.length, 2 * 6 + 2);
    // What remains is public: E(K, 0), once for each derivation.
    assert.deepEqual(
      held.map(({ length }) => length),
      [16, 16],
    );
    assert.deepEqual(held[0], held[1]);
  });

  it('generates the same stream for the same seed, and another for another nonce', () => {
    const seed = (nonceByte: number) =>
      CtrDrbg.instantiate({ entropyInput: Buffer.alloc(32), nonce: Buffer.alloc(16, nonceByte) });
    assert.deepEqual(seed(0).generate(64), seed(0).generate(64));
    assert.notDeepEqual(seed(0).generate(64), seed(1).generate(64));
  });

  it('separates two requests: their output differs from one request cut in two', () => {
    const [two, one] = [zeroSeeded(), zeroSeeded()];
    const halves = Buffer.concat([two.generate(32), two.generate(32)]);
    const whole = one.generate(64);
    assert.deepEqual(halves.subarray(0, 32), whole.subarray(0, 32));
    assert.notDeepEqual(halves.subarray(32), whole.subarray(32));
  });

  it('returns its own memory, which the next call does not change', () => {
    const drbg = zeroSeeded();
    const first = drbg.generate(48);
    assert.equal(first.buffer.byteLength, 48);
    const copy = Buffer.from(first);
    drbg.generate(48);
    drbg.destroy();
    assert.deepEqual(first, copy);
  });

  it('leaves its inputs unchanged', () => {
    const entropyInput = Buffer.alloc(32, 1);
    const extra = Buffer.alloc(20, 2);
    const drbg = CtrDrbg.instantiate({
      entropyInput,
      nonce: Buffer.alloc(16),
      personalization: extra,
    });
    drbg.reseed(entropyInput, extra);
    drbg.generate(32, extra);
    assert.deepEqual(entropyInput, Buffer.alloc(32, 1));
    assert.deepEqual(extra, Buffer.alloc(20, 2));
  });

  it('rejects a request above 2^19 bits (SP 800-90A Rev. 1 Table 3)', () => {
    assert.throws(() => zeroSeeded().generate(MAX_REQUEST_BYTES + 1), {
      name: 'RangeError',
      message: '"lengthBytes" expected an integer from 1 to 65536, got 65537',
    });
  });

  it('rejects invalid request lengths', () => {
    for (const length of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => zeroSeeded().generate(length), RangeError, String(length));
    }
    assert.throws(() => zeroSeeded().generate('16' as never), TypeError);
  });

  it('rejects entropy input below 256 bits (SP 800-90A Rev. 1 Table 3: min_length)', () => {
    const short = Buffer.alloc(31);
    const expected = {
      name: 'RangeError',
      message: '"entropyInput" expected Uint8Array of 32 to 65536 bytes, got length=31',
    };
    assert.throws(
      () => CtrDrbg.instantiate({ entropyInput: short, nonce: Buffer.alloc(16) }),
      expected,
    );
    assert.throws(() => zeroSeeded().reseed(short), expected);
  });

  it('rejects a nonce below 128 bits (SP 800-90A Rev. 1 §8.6.7)', () => {
    const input = { entropyInput: Buffer.alloc(32), nonce: Buffer.alloc(15) };
    assert.throws(() => CtrDrbg.instantiate(input), RangeError);
  });

  it('rejects inputs above its maximum length and accepts them at the maximum', () => {
    const [most, tooLong] = [Buffer.alloc(MAX_INPUT_BYTES), Buffer.alloc(MAX_INPUT_BYTES + 1)];
    const nonce = Buffer.alloc(16);
    const entropyInput = Buffer.alloc(32);
    const drbg = CtrDrbg.instantiate({ entropyInput: most, nonce: most, personalization: most });
    drbg.reseed(most, most);
    assert.equal(drbg.generate(1, most).length, 1);
    assert.throws(() => CtrDrbg.instantiate({ entropyInput: tooLong, nonce }), RangeError);
    assert.throws(
      () => CtrDrbg.instantiate({ entropyInput, nonce, personalization: tooLong }),
      RangeError,
    );
    assert.throws(() => drbg.reseed(entropyInput, tooLong), RangeError);
    assert.throws(() => drbg.generate(1, tooLong), RangeError);
  });

  it('rejects inputs that are not bytes', () => {
    const text = 'x'.repeat(64) as never;
    assert.throws(() => CtrDrbg.instantiate({ entropyInput: text, nonce: text }), {
      name: 'TypeError',
      message: '"entropyInput" expected Uint8Array, got string',
    });
    assert.throws(() => zeroSeeded().reseed(text), TypeError);
    assert.throws(() => zeroSeeded().generate(16, text), TypeError);
  });

  it('keeps its state after a rejected call', () => {
    const [disturbed, calm] = [zeroSeeded(), zeroSeeded()];
    assert.throws(() => disturbed.generate(MAX_REQUEST_BYTES + 1));
    assert.throws(() => disturbed.reseed(Buffer.alloc(3)));
    assert.deepEqual(disturbed.generate(32), calm.generate(32));
  });

  it('refuses requests past the reseed interval until it is reseeded (§10.2.1.5.2 step 1)', () => {
    const drbg = zeroSeeded(2);
    drbg.generate(16);
    drbg.generate(16);
    assert.equal(drbg.reseedCounter, 3);
    assert.throws(() => drbg.generate(16), /needs a reseed after 2 requests/);
    drbg.reseed(Buffer.alloc(32));
    assert.equal(drbg.generate(16).length, 16);
  });

  it('rejects a reseed interval above 2^48 (SP 800-90A Rev. 1 Table 3)', () => {
    assert.throws(() => zeroSeeded(2 ** 48 + 1), RangeError);
    assert.throws(() => zeroSeeded(0), RangeError);
  });

  it('refuses every call after destroy (§9.4)', () => {
    const drbg = zeroSeeded();
    assert.equal(drbg.destroyed, false);
    drbg.destroy();
    assert.equal(drbg.destroyed, true);
    assert.throws(() => drbg.generate(16), /was destroyed/);
    assert.throws(() => drbg.reseed(Buffer.alloc(32)), /was destroyed/);
    drbg.destroy();
  });

  it('has the known answer of keys from the literal implementation', () => {
    const counting = (length: number, first: number) =>
      Buffer.from(Array.from({ length }, (_, i) => first + i));
    const state = referenceInstantiate(counting(58, 0), counting(16, 64), counting(16, 80));
    referenceReseed(state, counting(58, 96), counting(48, 160));
    const source = readFileSync(new URL('../../src/drbg/self-test.ts', import.meta.url), 'utf8');
    for (const length of [64, 16, 32, 24]) {
      const answer = referenceGenerate(state, length, Buffer.alloc(0)).toString('hex');
      assert.ok(source.includes(`'${answer}'`), `${length} bytes`);
    }
  });

  for (const length of [16, 24, 32, 64]) {
    it(`fails its health tests if only requests of ${length} bytes are wrong`, (t) => {
      const { generate } = CtrDrbg.prototype;
      t.mock.method(CtrDrbg.prototype, 'generate', function (this: CtrDrbg, ...all: [number]) {
        const output = generate.apply(this, all);
        if (all[0] === length) output[0] ^= 1;
        return output;
      });
      assert.ok(drbgSelfTest().some(({ passed }) => !passed));
    });
  }

  it('passes its own health tests, each with a unique name', () => {
    const rows = drbgSelfTest();
    assert.ok(rows.length >= 7);
    assert.deepEqual(
      rows.filter(({ passed }) => !passed),
      [],
    );
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  });
});
