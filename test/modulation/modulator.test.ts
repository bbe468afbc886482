import assert from 'node:assert/strict';
import { createCipheriv, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gate, runPackedSuite } from '#sp800-22';
import { countOnes, hexToBytes } from '../../src/bytes.ts';
import {
  DEFAULT_MODULATION,
  MODULATION_TYPES,
  type ModulationType,
  Modulator,
  modulationSelfTest,
  PHASES_BYTES,
} from '../../src/modulation/index.ts';
import { ModulationKernel, modulationKernel } from '../../src/modulation/kernel.ts';
import { bits, Noise } from '../keys/weak-sources.ts';
import { FREQUENCIES, literalDemodulate, literalModulate } from './bigint-modulation.ts';

interface VectorFile {
  numberOfTests: number;
  frequencies: string[];
  tests: Vector[];
}

interface Vector {
  tcId: number;
  comment: string;
  flags: string[];
  type: string;
  phases: string;
  firstWord: number;
  carrier: string;
  modulated: string;
  result: 'valid' | 'invalid';
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

const VECTORS: VectorFile = JSON.parse(
  readText('../vectors/modulation/prime-harmonic-modulation.json'),
);

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const phasesOf = bytes(PHASES_BYTES);
const carrierOf = fc.integer({ min: 1, max: 24 }).chain((words) => bytes(words * 8));
const firstWordOf = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 24 }),
  fc.constantFrom(0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 24),
);
const typeOf = fc.constantFrom(...MODULATION_TYPES);

function modulate(type: ModulationType, phases: Uint8Array, carrier: Uint8Array, t = 0): Buffer {
  return new Modulator(type, phases).modulate(carrier, t);
}

/** Returns a fixed stream of random-looking bytes. */
function stream(seedByte: number, lengthBytes: number): Buffer {
  const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, seedByte), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(lengthBytes));
}

/** Returns 2^20 bits, each from `next`. */
function drawn(next: () => number): Buffer {
  const sample = Buffer.alloc(131_072);
  bits(next)(sample);
  return sample;
}

describe('Prime Harmonic Modulation', () => {
  it('has four types, with phase as the default', () => {
    assert.deepEqual(MODULATION_TYPES, ['phase', 'frequency', 'amplitude', 'none']);
    assert.equal(DEFAULT_MODULATION, 'phase');
    assert.equal(PHASES_BYTES, 64);
  });

  it('derives its frequencies from the square roots of the primes', () => {
    const derived = FREQUENCIES.map((omega) => omega.toString(16).padStart(16, '0'));
    assert.deepEqual(VECTORS.frequencies, derived);
    assert.equal(derived[0], '6a09e667f3bcc908');
  });

  it('uses the derived frequencies: a step of t adds ω_p', () => {
    // With `phase`, a zero carrier and θ = 0, M(t) is ⊕ t·ω_p; with θ_q = −ω_q, M(1) lacks ω_q.
    const all = FREQUENCIES.reduce((xor, omega) => xor ^ omega, 0n);
    for (const [q, omega] of FREQUENCIES.entries()) {
      const phases = Buffer.alloc(PHASES_BYTES);
      phases.writeBigUInt64BE((1n << 64n) - omega, q * 8);
      const M1 = modulate('phase', phases, Buffer.alloc(8), 1).readBigUInt64BE(0);
      assert.equal(M1 ^ all, omega);
    }
  });

  assert.equal(VECTORS.tests.length, VECTORS.numberOfTests);
  for (const { tcId, comment, type, result, ...vector } of VECTORS.tests) {
    it(`matches vector ${tcId}, ${type}: ${comment}`, () => {
      const run = () =>
        modulate(
          type as ModulationType,
          hexToBytes(vector.phases),
          hexToBytes(vector.carrier),
          vector.firstWord,
        ).toString('hex');
      if (result === 'valid') assert.equal(run(), vector.modulated);
      else assert.throws(run, (error) => error instanceof TypeError || error instanceof RangeError);
    });
  }

  it('agrees with the definition in BigInt for every type, carrier, phases and index', () => {
    fc.assert(
      fc.property(typeOf, phasesOf, carrierOf, firstWordOf, (type, phases, carrier, t) => {
        const literal = literalModulate(type, phases, carrier, t);
        assert.deepEqual(modulate(type, phases, carrier, t), literal);
      }),
      { numRuns: 1_000 },
    );
  });

  it('leaves neither phases nor mask words in the memory of its kernel', () => {
    const { memory } = modulationKernel();
    const before = Buffer.from(memory.buffer.slice(0));
    const phases = createHash('sha512').update('phases').digest();
    for (const length of [8, 48, 131_072]) {
      new Modulator('phase', phases).modulate(Buffer.alloc(length, 1), 0);
      assert.ok(Buffer.from(memory.buffer).equals(before), `${length} bytes left a trace`);
    }
    modulationKernel().makeMask(phases, 0, 1);
    assert.notEqual(Buffer.from(memory.buffer).indexOf(phases), -1, 'the phases never were there');
    modulationKernel().wipe();
    assert.ok(Buffer.from(memory.buffer).equals(before));
  });

  it('agrees with the definition in BigInt on a whole sample', () => {
    const [phases, carrier] = [stream(1, PHASES_BYTES), stream(2, 131_072)];
    for (const type of MODULATION_TYPES) {
      const literal = literalModulate(type, phases, carrier, 0);
      assert.ok(modulate(type, phases, carrier).equals(literal), type);
    }
  });

  it('is undone by its inverse, here and in the definition', () => {
    fc.assert(
      fc.property(typeOf, phasesOf, carrierOf, firstWordOf, (type, phases, carrier, t) => {
        const modulated = modulate(type, phases, carrier, t);
        assert.deepEqual(literalDemodulate(type, phases, modulated, t), Buffer.from(carrier));
        new Modulator(type, phases).demodulateInPlace(modulated, t);
        assert.deepEqual(modulated, Buffer.from(carrier));
      }),
    );
  });

  it('undoes nothing after its destruction, and no broken words', () => {
    const modulator = new Modulator('phase', stream(1, PHASES_BYTES));
    assert.throws(() => modulator.demodulateInPlace(Buffer.alloc(12), 0), RangeError);
    modulator.destroy();
    assert.throws(() => modulator.demodulateInPlace(Buffer.alloc(16), 0), /destroyed/);
  });

  it('maps different carriers to different words with the same phases', () => {
    fc.assert(
      fc.property(typeOf, phasesOf, bytes(8), bytes(8), firstWordOf, (type, phases, a, b, t) => {
        const equalAfter = modulate(type, phases, a, t).equals(modulate(type, phases, b, t));
        assert.equal(equalAfter, Buffer.compare(a, b) === 0);
      }),
    );
  });

  it('is a bijection: all 256 values of a carrier byte give 256 different words', () => {
    for (const type of MODULATION_TYPES) {
      const words = new Set<string>();
      for (let value = 0; value < 256; value++) {
        const carrier = Buffer.alloc(8, 0x5a);
        carrier[5] = value;
        words.add(modulate(type, stream(3, PHASES_BYTES), carrier, 9).toString('hex'));
      }
      assert.equal(words.size, 256, type);
    }
  });

  it('returns the same words for a stream in chunks as for the whole stream', () => {
    fc.assert(
      fc.property(
        typeOf,
        phasesOf,
        carrierOf,
        firstWordOf,
        fc.nat(),
        (type, phases, carrier, t, n) => {
          const modulator = new Modulator(type, phases);
          const cut = n % (carrier.length / 8);
          const parts = [carrier.subarray(0, cut * 8), carrier.subarray(cut * 8)];
          const starts = [t, t + cut];
          const chunked = parts.flatMap((part, i) =>
            part.length === 0 ? [] : [modulator.modulate(part, starts[i])],
          );
          assert.deepEqual(Buffer.concat(chunked), modulator.modulate(carrier, t));
        },
      ),
    );
  });

  it('returns an unchanged copy of the carrier with type none', () => {
    const carrier = stream(4, 48);
    const modulated = modulate('none', stream(5, PHASES_BYTES), carrier);
    assert.deepEqual(modulated, carrier);
    assert.notEqual(modulated.buffer, carrier.buffer);
  });

  it('complements the words if the carrier is complemented, for phase and frequency', () => {
    const complement = (data: Uint8Array) => Buffer.from(data.map((byte) => byte ^ 0xff));
    fc.assert(
      fc.property(phasesOf, carrierOf, firstWordOf, (phases, carrier, t) => {
        for (const type of ['phase', 'frequency'] as const) {
          const expected = complement(modulate(type, phases, carrier, t));
          assert.deepEqual(modulate(type, phases, complement(carrier), t), expected);
        }
      }),
    );
  });

  it('keeps the number of ones with frequency, which only rotates bits', () => {
    fc.assert(
      fc.property(phasesOf, carrierOf, firstWordOf, (phases, carrier, t) => {
        assert.equal(countOnes(modulate('frequency', phases, carrier, t)), countOnes(carrier));
      }),
    );
  });

  it('hides a broken carrier from the suite with phase and amplitude, as the document’s table says', () => {
    const table = readText('../../docs/prime-harmonic-modulation.md');
    const phases = stream(9, PHASES_BYTES);
    const uniform = stream(6, 131_072);
    const noise = new Noise(6, 'modulator.test');
    let last = 0;
    const flip = () => {
      last ^= noise.bit(0.4);
      return last;
    };
    const carriers = {
      'every byte is sent twice': uniform.map((_, i) => uniform[i >> 1]),
      '60 % ones': drawn(() => noise.bit(0.6)),
      'a bit differs from the one before with probability 0.40': drawn(flip),
    };
    for (const [name, carrier] of Object.entries(carriers)) {
      const verdictOf = (type: ModulationType) =>
        gate(runPackedSuite(modulate(type, phases, carrier))).verdict;
      const [none, phase, amplitude, frequency] = (
        ['none', 'phase', 'amplitude', 'frequency'] as const
      ).map(verdictOf);
      assert.equal(phase, amplitude);
      assert.ok(table.includes(`| ${name} | ${none} | **${phase}** | ${frequency} |`), name);
    }
  });

  it('leaves its inputs unchanged, and wipes the phases when it is destroyed', () => {
    const [phases, carrier] = [stream(1, PHASES_BYTES), stream(2, 32)];
    const modulator = new Modulator('phase', phases);
    modulator.modulate(carrier, 3);
    assert.deepEqual([phases, carrier], [stream(1, PHASES_BYTES), stream(2, 32)]);
    modulator.destroy();
    assert.deepEqual(phases, Buffer.alloc(PHASES_BYTES));
  });

  it('modulates in place what it modulates in new memory', () => {
    fc.assert(
      fc.property(typeOf, phasesOf, carrierOf, firstWordOf, (type, phases, carrier, t) => {
        const expected = modulate(type, phases, carrier, t);
        const inPlace = Buffer.from(new ArrayBuffer(carrier.length));
        inPlace.set(carrier);
        new Modulator(type, phases).modulateInPlace(inPlace, t);
        assert.deepEqual(inPlace, expected);
      }),
    );
  });

  it('leaves a carrier unchanged that it refuses to modulate in place', () => {
    const memory = Buffer.from(new ArrayBuffer(40));
    stream(2, 40).copy(memory);
    const modulator = new Modulator('phase', stream(1, PHASES_BYTES));
    assert.throws(() => modulator.modulateInPlace(memory.subarray(3, 35), 0), RangeError);
    assert.throws(() => modulator.modulateInPlace(memory.subarray(0, 7), 0), RangeError);
    modulator.destroy();
    assert.throws(() => modulator.modulateInPlace(memory, 0), /destroyed/);
    assert.deepEqual(memory, stream(2, 40));
  });

  it('returns its own memory', () => {
    const modulated = modulate('phase', stream(1, PHASES_BYTES), stream(2, 48));
    assert.equal(modulated.buffer.byteLength, 48);
  });

  it('reads a carrier from any byte offset', () => {
    const memory = Buffer.alloc(40);
    stream(2, 32).copy(memory, 3);
    const expected = modulate('amplitude', stream(1, PHASES_BYTES), stream(2, 32));
    const got = modulate('amplitude', stream(1, PHASES_BYTES), memory.subarray(3, 35));
    assert.deepEqual(got, expected);
  });

  it('names the expected value in its errors', () => {
    const phases = Buffer.alloc(PHASES_BYTES);
    assert.throws(() => new Modulator('Phase' as never, phases), {
      name: 'TypeError',
      message: '"type" expected one of phase, frequency, amplitude, none, got Phase',
    });
    assert.throws(() => modulate('phase', phases, Buffer.alloc(12)), {
      name: 'RangeError',
      message: '"carrier" expected whole 8-byte words, at least one, got length=12',
    });
    assert.throws(() => modulate('phase', phases, Buffer.alloc(16), 2 ** 32 - 1), {
      name: 'RangeError',
      message: '"firstWord" expected an integer from 0 to 4294967294, got 4294967295',
    });
    assert.throws(() => modulate('phase', phases, 'x'.repeat(8) as never), TypeError);
  });

  it('refuses every call after destroy', () => {
    const modulator = new Modulator('phase', Buffer.alloc(PHASES_BYTES));
    modulator.destroy();
    assert.throws(() => modulator.modulate(Buffer.alloc(8), 0), /was destroyed/);
    modulator.destroy();
  });

  it('passes its own health tests', () => {
    const rows = modulationSelfTest();
    assert.equal(rows.length, MODULATION_TYPES.length + 1);
    assert.deepEqual(
      rows.filter(({ passed }) => !passed),
      [],
    );
  });

  it('fails its health tests if the kernel is wrong for any index or length of a key', () => {
    const makeMask = ModulationKernel.prototype.makeMask;
    const isPath = ({ flags }: Vector) => flags.includes('path');
    const cases = VECTORS.tests.filter(isPath).map(({ firstWord, carrier }) => ({
      firstWord,
      words: carrier.length / 16,
    }));
    assert.equal(new Set(cases.map((one) => JSON.stringify(one))).size, 6);
    try {
      for (const { firstWord, words } of cases) {
        ModulationKernel.prototype.makeMask = function (phases, first, count) {
          const mask = makeMask.call(this, phases, first, count);
          if (first === firstWord && count === words) mask.fill(0);
          return mask;
        };
        const failed = modulationSelfTest().filter(({ passed }) => !passed);
        assert.equal(failed.length, MODULATION_TYPES.length - 1, `${words} words at ${firstWord}`);
      }
    } finally {
      ModulationKernel.prototype.makeMask = makeMask;
    }
  });

  it('fails its health tests if the carrier is lost at the indices of keys', () => {
    const { modulateInPlace } = Modulator.prototype;
    try {
      Modulator.prototype.modulateInPlace = function (carrier, firstWord) {
        if (firstWord < 2_000_000_000) carrier.fill(0);
        modulateInPlace.call(this, carrier, firstWord);
      };
      const failed = modulationSelfTest().filter(({ passed }) => !passed);
      assert.equal(failed.length, MODULATION_TYPES.length);
    } finally {
      Modulator.prototype.modulateInPlace = modulateInPlace;
    }
  });

  it('fails its health tests if the inverse is wrong', (t) => {
    const { demodulateInPlace } = Modulator.prototype;
    t.mock.method(
      Modulator.prototype,
      'demodulateInPlace',
      function (this: Modulator, ...all: Parameters<typeof demodulateInPlace>) {
        demodulateInPlace.apply(this, all);
        all[0][0] ^= 1;
      },
    );
    const failed = modulationSelfTest().filter(({ passed }) => !passed);
    assert.equal(failed.length, MODULATION_TYPES.length);
  });
});

describe('docs/prime-harmonic-modulation.md', () => {
  const text = readText('../../docs/prime-harmonic-modulation.md');

  it('shows the sample of the vector file', () => {
    for (const vector of VECTORS.tests.filter(({ flags }) => flags.includes('document'))) {
      for (const hex of [vector.phases, vector.carrier, vector.modulated]) {
        assert.ok(text.includes(hex), `${vector.type}: ${hex}`);
      }
    }
  });

  it('shows the modulation words of its sample', () => {
    const sample = VECTORS.tests.find(({ flags }) => flags.includes('document'));
    assert.ok(sample);
    const M = modulate('phase', hexToBytes(sample.phases), Buffer.alloc(32)).toString('hex');
    for (let t = 0; t < 4; t++) {
      assert.ok(text.includes(`M(${t})  ${M.slice(t * 16, t * 16 + 16)}`), `M(${t})`);
    }
  });

  it('shows the frequencies', () => {
    for (const frequency of VECTORS.frequencies) assert.ok(text.includes(frequency), frequency);
  });

  it('derives the phases of its sample as stated', () => {
    const digest = createHash('sha512').update('Prime Harmonic Modulation').digest('hex');
    const sample = VECTORS.tests.find(({ flags }) => flags.includes('document'));
    assert.equal(sample?.phases, digest);
  });
});
