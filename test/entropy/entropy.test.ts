import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mostCommonValueMinEntropy } from '#sp800-90b';
import { countOnes } from '../../src/bytes.ts';
import { ContinuousTest } from '../../src/entropy/health/continuous.ts';
import {
  type Draw,
  type EntropySource,
  gatherSeed,
  isSourceName,
  openSource,
  SOURCE_NAMES,
  type SourceName,
  sourceKind,
} from '../../src/entropy/index.ts';
import { MonitoredSource } from '../../src/entropy/monitored-source.ts';
import { AppError } from '../../src/errors.ts';

/** A source that gives scripted bytes and remembers its draws. */
function scripted(name: SourceName, bytes: Uint8Array, credit = 0, jobId: string | null = null) {
  const draws: Draw[] = [];
  const source: EntropySource = {
    name,
    kind: sourceKind(name),
    draw() {
      const isSeparate = name === 'qrng';
      const draw = { bytes: Buffer.from(bytes), creditBits: credit, isSeparate, jobId };
      draws.push(draw);
      return draw;
    },
    status: () => ({
      name,
      kind: sourceKind(name),
      state: 'delivering',
      healthy: true,
      creditBitsPerDraw: credit,
      draws: draws.length,
      failures: 0,
    }),
    probe() {},
    close() {},
  };
  return { source, draws };
}

function failing(name: SourceName): EntropySource {
  const { source } = scripted(name, Buffer.alloc(0));
  return {
    ...source,
    draw() {
      throw new AppError('entropy_unavailable');
    },
  };
}

describe('the source table', () => {
  it('lists os first', () => {
    assert.deepEqual(SOURCE_NAMES, [
      'os',
      'quantum-simulator',
      'jitter',
      'device',
      'ibm-quantum',
      'qrng',
    ]);
  });

  it('opens each source by its name and kind', () => {
    for (const name of ['os', 'quantum-simulator'] as const) {
      const source = openSource(name);
      assert.equal(source.name, name);
      assert.equal(source.kind, sourceKind(name));
      assert.equal(source.status().healthy, true);
      source.close();
    }
  });

  it('contains no other name, not even those of Object.prototype', () => {
    for (const name of ['OS', 'os ', '', 'toString', '__proto__', 'hasOwnProperty']) {
      assert.equal(isSourceName(name), false, name);
    }
  });
});

describe('seed material', () => {
  it('consists of length-prefixed names and outputs, os first', () => {
    const os = scripted('os', Buffer.from('aabbcc', 'hex'), 256);
    const extra = scripted('quantum-simulator', Buffer.from('dd', 'hex'), 3, 'job-7');
    const { entropyInput, uncredited, credit, jobId } = gatherSeed(os.source, [extra.source]);
    const expected = [
      '00000002',
      Buffer.from('os').toString('hex'),
      '00000003',
      'aabbcc',
      '00000011',
      Buffer.from('quantum-simulator').toString('hex'),
      '00000001',
      'dd',
    ];
    assert.equal(entropyInput.toString('hex'), expected.join(''));
    assert.equal(uncredited.length, 0);
    assert.deepEqual(credit, { osBits: 256, sharedBits: 3, separateBits: 0 });
    assert.equal(jobId, 'job-7');
  });

  it('has draws without credit apart, for the additional input, but for os', () => {
    const os = scripted('os', Buffer.from('aa', 'hex'), 0);
    const [none, some] = [
      scripted('jitter', Buffer.from('bb', 'hex'), 0),
      scripted('qrng', Buffer.from('cc', 'hex'), 192),
    ];
    const { entropyInput, uncredited } = gatherSeed(os.source, [none.source], [some.source]);
    const { entropyInput: credited } = gatherSeed(os.source, [some.source]);
    assert.deepEqual(entropyInput, credited);
    const expected = `00000006${Buffer.from('jitter').toString('hex')}00000001bb`;
    assert.equal(uncredited.toString('hex'), expected);
  });

  it('differs if any output differs, however the bytes are divided', () => {
    const output = fc.uint8Array({ maxLength: 12 });
    const pair = fc.tuple(output, output);
    for (const credit of [0, 192]) {
      const gather = ([a, b]: [Uint8Array, Uint8Array]) => {
        const seed = gatherSeed(scripted('os', a).source, [scripted('qrng', b, credit).source]);
        return `${seed.entropyInput.toString('hex')} ${seed.uncredited.toString('hex')}`;
      };
      fc.assert(
        fc.property(pair, pair, (x, y) => {
          const same = x.every((part, i) => Buffer.compare(part, y[i]) === 0);
          assert.equal(gather(x) === gather(y), same);
        }),
      );
    }
  });

  it('has its own memory, and the draws are wiped', () => {
    const os = scripted('os', Buffer.alloc(48, 1), 256);
    const extra = scripted('quantum-simulator', Buffer.alloc(48, 2));
    const { entropyInput, uncredited } = gatherSeed(os.source, [extra.source]);
    for (const bytes of [entropyInput, uncredited]) {
      assert.ok(bytes.some((byte) => byte !== 0));
      assert.equal(bytes.buffer.byteLength, bytes.length);
    }
    for (const draw of [...os.draws, ...extra.draws])
      assert.deepEqual(draw.bytes, Buffer.alloc(48));
  });

  it('has no job without a source that has one', () => {
    assert.equal(gatherSeed(scripted('os', Buffer.alloc(48)).source, []).jobId, null);
  });

  it('fails if one source fails, and wipes the output of the others', () => {
    const os = scripted('os', Buffer.alloc(48, 1), 256);
    assert.throws(() => gatherSeed(os.source, [failing('quantum-simulator')]), {
      code: 'entropy_unavailable',
    });
    assert.deepEqual(os.draws[0].bytes, Buffer.alloc(48));
    assert.throws(() => gatherSeed(failing('os'), []), { code: 'entropy_unavailable' });
  });

  it('omits an empty optional source and its credit', () => {
    const os = scripted('os', Buffer.from('aa', 'hex'), 256);
    const more = scripted('qrng', Buffer.from('bb', 'hex'), 192);
    const [without, with_] = [failing('jitter'), more.source].map((optional) =>
      gatherSeed(os.source, [], [optional]),
    );
    assert.equal(without.credit.separateBits, 0);
    assert.deepEqual(without.entropyInput, gatherSeed(os.source, []).entropyInput);
    assert.equal(with_.credit.separateBits, 192);
    assert.deepEqual(with_.entropyInput, gatherSeed(os.source, [more.source]).entropyInput);
  });

  it('does not treat a defect of an optional source as an empty source', () => {
    const broken: EntropySource = {
      ...failing('jitter'),
      draw() {
        throw new TypeError('a defect');
      },
    };
    assert.throws(
      () => gatherSeed(scripted('os', Buffer.alloc(48)).source, [], [broken]),
      TypeError,
    );
  });

  it('always includes the system source', () => {
    const { source } = scripted('quantum-simulator', Buffer.alloc(48));
    assert.throws(() => gatherSeed(source, []), {
      name: 'TypeError',
      message: '"os" expected the system source, got quantum-simulator',
    });
  });

  it('holds 58 bytes and 256 bits of credit from os alone', () => {
    const source = openSource('os');
    const { entropyInput, credit } = gatherSeed(source, []);
    assert.equal(entropyInput.length, 4 + 2 + 4 + 48);
    assert.deepEqual(credit, { osBits: 256, sharedBits: 0, separateBits: 0 });
    source.close();
  });
});

describe('the continuous test (FIPS 140-2 §4.9.2)', () => {
  const draw = (byte: number) => Buffer.from([byte, ...Array(47).fill(0)]);

  it('accepts draws that differ from all before them', () => {
    const test = new ContinuousTest();
    for (let byte = 0; byte < 256; byte++) if (byte !== 0) test.check(draw(byte));
    assert.equal(test.failure, null);
  });

  for (const [name, bytes] of [
    ['the draw before it', [1, 2, 2]],
    ['the one before that, as two blocks in turn do', [1, 2, 1]],
    ['a much earlier one', [...Array.from({ length: 200 }, (_, i) => i + 1), 1]],
  ] as const) {
    it(`fails permanently on a draw that repeats ${name}`, () => {
      const test = new ContinuousTest();
      for (const byte of bytes.slice(0, -1)) test.check(draw(byte));
      assert.equal(test.failure, null);
      for (const byte of [bytes.at(-1) as number, 255]) {
        test.check(draw(byte));
        assert.equal(test.failure, 'a draw repeated one of the last 16,384');
      }
    });
  }

  it('fails on a constant draw, even the first', () => {
    for (const byte of [0x00, 0x5a, 0xff]) {
      const test = new ContinuousTest();
      test.check(Buffer.alloc(48, byte));
      assert.equal(test.failure, 'a draw repeated one byte throughout');
    }
  });
});

describe('a monitored source', () => {
  it('latches with its reader and keeps reporting the reason', () => {
    const reader = {
      name: 'os' as const,
      kind: 'system' as const,
      creditBitsPerDraw: 1,
      read: (target: Buffer) => void target.fill(7, 0, 3),
      release: () => {},
    };
    const source = new MonitoredSource(reader);
    assert.throws(() => source.draw(), /a draw repeated one of the last 16,384/);
    assert.equal(source.status().failures, 1);
    assert.throws(() => source.draw(), /a draw repeated one of the last 16,384/);
  });
});

describe('the most common value estimate (SP 800-90B §6.3.1)', () => {
  // Ones, length, and the value printed by ea_non_iid 1.1.7 of
  // usnistgov/SP800-90B_EntropyAssessment.
  const nist: readonly (readonly [ones: number, lengthBits: number, h: number])[] = [
    [500_458, 1_000_000, 0.9949711297590543],
    [4_001_398, 8_000_000, 0.9981830701422224],
    [5_008, 10_000, 0.9610588257005508],
    [20_033, 40_000, 0.9791894829624022],
    [40_099, 80_000, 0.9833867846591503],
    [500_433, 1_000_000, 0.9950430151312257],
    [2_000_573, 4_000_000, 0.9977303858221566],
    [500_965, 1_000_000, 0.9935140687611586],
    [979_988, 1_000_000, 0.028633069781464744],
  ];
  for (const [ones, lengthBits, h] of nist) {
    it(`agrees with NIST's program on ${ones} of ${lengthBits}`, () => {
      for (const count of [ones, lengthBits - ones]) {
        const got = mostCommonValueMinEntropy(count, lengthBits);
        assert.ok(Math.abs(got - h) < 1e-14, `${got}`);
      }
    });
  }

  it('gives 255.1 bits for 256 bits of a balanced 2^20-bit sample', () => {
    const h = mostCommonValueMinEntropy(2 ** 19, 2 ** 20);
    assert.equal((256 * h).toFixed(1), '255.1');
  });

  it('is zero, not minus zero, for a constant sequence', () => {
    assert.ok(Object.is(mostCommonValueMinEntropy(0, 1_000), 0));
    assert.ok(Object.is(mostCommonValueMinEntropy(1_000, 1_000), 0));
  });

  it('clamps the upper bound at 1', () => {
    assert.equal(mostCommonValueMinEntropy(99, 100), 0);
  });

  it('stays within 0…1 and falls as the sequence loses its balance', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 2 ** 30 }), fc.nat(), fc.nat(), (length, a, b) => {
        const [near, far] = [a, b]
          .map((value) => value % (length + 1))
          .toSorted((x, y) => Math.abs(x - length / 2) - Math.abs(y - length / 2))
          .map((ones) => mostCommonValueMinEntropy(ones, length));
        assert.ok(0 <= far && far <= near && near <= 1);
      }),
    );
  });

  it('rejects inconsistent counts', () => {
    for (const [ones, length] of [
      [-1, 10],
      [11, 10],
      [1.5, 10],
      [0, 1],
      [0, 2.5],
      [Number.NaN, 8],
    ]) {
      assert.throws(() => mostCommonValueMinEntropy(ones, length), RangeError);
    }
  });
});

describe('countOnes', () => {
  it('counts the ones of the binary digits at any length and offset', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 70 }),
        fc.integer({ min: 0, max: 3 }),
        (bytes, offset) => {
          const digits = [...bytes.subarray(offset)].map((byte) => byte.toString(2)).join('');
          assert.equal(countOnes(bytes.subarray(offset)), digits.replaceAll('0', '').length);
        },
      ),
    );
  });

  it('counts a sample of 2^20 bits', () => {
    const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32), Buffer.alloc(16));
    const sample = cipher.update(Buffer.alloc(131_072));
    const complement = sample.map((byte) => byte ^ 0xff);
    assert.equal(countOnes(sample) + countOnes(complement), 2 ** 20);
    assert.equal(countOnes(Buffer.alloc(131_072, 0xff)), 2 ** 20);
  });
});
