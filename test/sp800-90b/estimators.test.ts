/** The estimators of SP 800-90B §6.3: printed examples, NIST's program, plain oracles, properties. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assessNonIid, ESTIMATOR_NAMES, MAX_ASSESSED_BITS } from '#sp800-90b';
import { suffixArray } from '../../packages/sp800-90b/src/estimators/_suffix-array.ts';
import { countTuples } from '../../packages/sp800-90b/src/estimators/_tuple-counts.ts';
import { collisionEstimate } from '../../packages/sp800-90b/src/estimators/collision.ts';
import { compressionEstimate } from '../../packages/sp800-90b/src/estimators/compression.ts';
import { lagEstimate } from '../../packages/sp800-90b/src/estimators/lag.ts';
import { longestRepeatedSubstringEstimate } from '../../packages/sp800-90b/src/estimators/longest-repeated-substring.ts';
import { lz78yEstimate } from '../../packages/sp800-90b/src/estimators/lz78y.ts';
import { markovEstimate } from '../../packages/sp800-90b/src/estimators/markov.ts';
import { mostCommonValueEstimate } from '../../packages/sp800-90b/src/estimators/most-common-value.ts';
import { multiMcwEstimate } from '../../packages/sp800-90b/src/estimators/multi-mcw.ts';
import { multiMmcEstimate } from '../../packages/sp800-90b/src/estimators/multi-mmc.ts';
import { tTupleEstimate } from '../../packages/sp800-90b/src/estimators/t-tuple.ts';
import { aesBits, aesBytes, assertFigures, REFERENCES } from './ea-non-iid.ts';
import {
  plainLag,
  plainLz78y,
  plainMultiMcw,
  plainMultiMmc,
  plainTuples,
} from './plain-estimators.ts';

const digits = (text: string): Uint8Array => Uint8Array.from(text, Number);

const BINARY = digits('1000111001010101110011000111001010101110');
const TERNARY = digits('220102012120121001000');
/** Maps symbols 1, 2, 3 of the text to 0, 1, 2. */
const shifted = (text: string): Uint8Array => digits(text).map((symbol) => symbol - 1);

// The text rounds Z to 2.576 and its results to three or four digits.
const PRINTED = 4e-4;

describe('the examples of SP 800-90B §6.3', () => {
  const tuples = countTuples(TERNARY, 3);
  const examples = [
    ['§6.3.1', mostCommonValueEstimate(digits('01120122010110221021'), 3), 0.5363, { pHat: 0.4 }],
    ['§6.3.2', collisionEstimate(BINARY), 0.4483, { v: 14 }],
    ['§6.3.3', markovEstimate(BINARY), 0.761, { p0: 0.475 }],
    ['§6.3.4', compressionEstimate(digits(`${BINARY.join('')}11100011`), 4), 0.1345, {}],
    ['§6.3.5', tTupleEstimate(tuples, 3), 0.273, { t: 3 }],
    ['§6.3.6', longestRepeatedSubstringEstimate(tuples, 3), 0.6146, { u: 4, v: 5 }],
    ['§6.3.7', multiMcwEstimate(digits('121021122000'), 3, [3, 5, 7, 9]), 0.3908, { correct: 3 }],
    ['§6.3.8', lagEstimate(shifted('2132131312'), 3, 3), 0.735, { correct: 2 }],
    ['§6.3.9', multiMmcEstimate(shifted('213213131'), 3, 3), 0.0755, { correct: 3 }],
    ['§6.3.10', lz78yEstimate(shifted('2132131312132'), 3, 4), 0.0191, { correct: 4 }],
  ] as const;
  for (const [section, estimate, minEntropy, figures] of examples) {
    it(`give the min-entropy of ${section}: ${minEntropy}`, () => {
      assert.ok(estimate.applicable);
      assert.ok(Math.abs(estimate.minEntropy - minEntropy) < PRINTED, `${estimate.minEntropy}`);
      assertFigures(estimate, figures, section);
    });
  }
});

describe("the figures of NIST's program", () => {
  it('match on 1,000,000 bits of AES-256-CTR, with all ten estimators', () => {
    const { literal, ...reference } = REFERENCES.bits;
    const ours = assessNonIid(aesBits(), { bitsPerSymbol: 1 });
    assert.deepEqual(Object.keys(literal).toSorted(), [...ESTIMATOR_NAMES].toSorted());
    for (const name of ESTIMATOR_NAMES) assertFigures(ours.literal[name], literal[name], name);
    assert.ok(Math.abs(ours.minEntropyPerSymbol - reference.minEntropyPerSymbol) < 1e-11);
    assert.deepEqual([ours.bitstring, ours.hBitstring], [null, null]);
  });

  it('match on 1,000,000 bytes of AES-256-CTR as symbols', () => {
    // MultiMMC and LZ78Y are slow on 256 symbols: test/campaigns/estimators.test.ts checks them.
    const { multi_mmc, lz78y, ...literal } = REFERENCES.bytes.literal;
    assert.ok(multi_mmc && lz78y);
    const bytes = aesBytes();
    const tuples = countTuples(bytes, 256);
    const estimates = {
      most_common_value: mostCommonValueEstimate(bytes, 256),
      t_tuple: tTupleEstimate(tuples),
      longest_repeated_substring: longestRepeatedSubstringEstimate(tuples),
      multi_mcw: multiMcwEstimate(bytes, 256),
      lag: lagEstimate(bytes, 256),
    };
    assert.deepEqual(Object.keys(estimates), Object.keys(literal));
    for (const [name, estimate] of Object.entries(estimates)) {
      assertFigures(estimate, literal[name], name);
    }
  });
});

/** Sequences of few symbols, often with long repetitions. */
const sequences = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.nat({ max: 40 }), fc.nat({ max: 3 }))
  .chain(([alphabetSize, length, repeats]) =>
    fc.tuple(
      fc.constant(alphabetSize),
      fc
        .array(fc.nat({ max: alphabetSize - 1 }), { minLength: length, maxLength: 2 * length + 1 })
        .map((part) =>
          Uint8Array.from(
            Array(repeats + 1)
              .fill(part)
              .flat(),
          ),
        ),
    ),
  );

describe('the plain implementations', () => {
  it('agree on the suffix array and the tuple counts', () => {
    fc.assert(
      fc.property(sequences, ([alphabetSize, symbols]) => {
        const text = Buffer.from(symbols);
        const sorted = [...symbols.keys()].toSorted((a, b) =>
          Buffer.compare(text.subarray(a), text.subarray(b)),
        );
        assert.deepEqual([...suffixArray(symbols, alphabetSize)], sorted);
        const { longest, mostCommon, equalPairs } = countTuples(symbols, alphabetSize);
        const plain = plainTuples(symbols);
        assert.equal(longest, plain.length);
        for (const [i, counts] of plain.entries()) {
          assert.deepEqual([mostCommon[i + 1], equalPairs[i + 1]], counts);
        }
      }),
    );
  });

  // MultiMMC and LZ78Y have a separate path for two symbols. An alphabet of three, one of which
  // does not occur, uses the other path.
  const predictors = [
    ['MultiMCW', (s: Uint8Array, k: number) => multiMcwEstimate(s, k, [3, 5, 7, 9]), plainMultiMcw],
    ['lag', (s: Uint8Array, k: number) => lagEstimate(s, k, 8), plainLag],
    ['MultiMMC', (s: Uint8Array, k: number) => multiMmcEstimate(s, k, 4), plainMultiMmc],
    ['LZ78Y', (s: Uint8Array, k: number) => lz78yEstimate(s, k, 4), plainLz78y],
  ] as const;
  for (const [name, estimate, plain] of predictors) {
    it(`agree on the predictions of ${name}`, () => {
      fc.assert(
        fc.property(sequences, ([alphabetSize, symbols]) => {
          for (const k of [alphabetSize, Math.max(3, alphabetSize)]) {
            const ours = estimate(symbols, k);
            if (!ours.applicable) return;
            assert.deepEqual([ours.correct, ours.r], plain(symbols));
          }
        }),
        { numRuns: 300 },
      );
    });
  }
});

describe('assessNonIid', () => {
  const stream = aesBytes().subarray(0, 10_000);

  it('returns 0, not minus 0, for a constant sequence', () => {
    for (const value of [0, 1, 200]) {
      const { literal, minEntropyPerSymbol } = assessNonIid(new Uint8Array(7_000).fill(value));
      assert.ok(Object.is(minEntropyPerSymbol, 0));
      for (const name of ESTIMATOR_NAMES) {
        const outcome = literal[name];
        assert.ok(outcome.applicable && Object.is(outcome.minEntropy, 0), name);
      }
    }
  });

  it('does not depend on symbol names if order and bits do not matter', () => {
    const few = stream.map((byte) => byte & 7);
    const renamed = few.map((symbol) => [5, 0, 7, 2, 1, 6, 3, 4][symbol]);
    const [before, after] = [few, renamed].map((samples) => assessNonIid(samples).literal);
    // MultiMMC and LZ78Y predict the greatest of equally frequent symbols, so names matter there.
    for (const name of ['most_common_value', 't_tuple', 'longest_repeated_substring'] as const) {
      assert.deepEqual(after[name], before[name], name);
    }
    for (const name of ['multi_mcw', 'lag'] as const) assert.deepEqual(after[name], before[name]);
  });

  it('renumbers symbols without gaps, as NIST does', () => {
    const few = stream.map((byte) => byte % 5);
    const spread = few.map((symbol) => 40 * symbol);
    const { literal, alphabetSize } = assessNonIid(spread);
    assert.deepEqual(literal, assessNonIid(few).literal);
    assert.equal(alphabetSize, 5);
  });

  it('treats two values of eight bits as a binary input without a bit string', () => {
    const two = stream.map((byte) => (byte < 128 ? 3 : 250));
    const assessment = assessNonIid(two);
    assert.deepEqual([assessment.bitsPerSymbol, assessment.bitstring], [8, null]);
    assert.ok(assessment.literal.collision.applicable);
    assert.ok(assessment.minEntropyPerSymbol <= 1);
  });

  it('returns min(H_original, bits · H_bitstring), each the smallest estimate (§3.1.3)', () => {
    const assessment = assessNonIid(stream.map((byte) => byte & 15));
    const { literal, bitstring, hOriginal, hBitstring } = assessment;
    const least = (outcomes: typeof literal): number =>
      Math.min(...Object.values(outcomes).flatMap((o) => (o.applicable ? [o.minEntropy] : [])));
    assert.ok(bitstring && hBitstring !== null);
    assert.deepEqual([hOriginal, hBitstring], [least(literal), least(bitstring)]);
    assert.equal(assessment.minEntropyPerSymbol, Math.min(hOriginal, 4 * hBitstring));
    assert.equal(literal.collision.applicable, false);
  });

  it('ignores an estimator that does not apply, and gives the reason', () => {
    const { literal } = assessNonIid(stream.subarray(0, 3_000).map((byte) => byte & 1));
    assert.deepEqual(literal.multi_mcw, {
      applicable: false,
      reason: 'needs at least 4096 samples',
    });
    assert.deepEqual(literal.compression, {
      applicable: false,
      reason: 'needs at least 6012 bits',
    });
  });

  it('reports each estimator before it runs, bits first', () => {
    const seen: string[] = [];
    assessNonIid(stream.subarray(0, 5_000), {
      onProgress: ({ estimator, input, finished, total }) =>
        seen.push(`${finished}/${total} ${input} ${estimator}`),
    });
    assert.equal(seen.length, 20);
    assert.equal(seen[0], '0/20 bits most_common_value');
    assert.equal(seen[19], '19/20 symbols lz78y');
  });

  it('leaves the samples unchanged', () => {
    const samples = Uint8Array.from(stream.subarray(0, 1_000));
    assessNonIid(samples);
    assert.deepEqual(samples, Uint8Array.from(stream.subarray(0, 1_000)));
  });

  it('refuses samples that it cannot assess', () => {
    const wrong: [number, number, RegExp][] = [
      [10, 0, /"bitsPerSymbol" expected an integer from 1 to 8, got 0/],
      [10, 9, /got 9/],
      [10, 1.5, /got 1.5/],
      [1, 8, /expected from 2 to 134217728 samples of 8 bits, got 1/],
      [MAX_ASSESSED_BITS / 8 + 1, 8, /got 134217729/],
    ];
    for (const [length, bitsPerSymbol, message] of wrong) {
      const refused = { name: 'RangeError', message };
      assert.throws(() => assessNonIid(new Uint8Array(length), { bitsPerSymbol }), refused);
    }
    const words = Uint16Array.of(1, 2, 3) as unknown as Uint8Array;
    const refusal = { name: 'TypeError', message: /^"samples" expected Uint8Array, got / };
    for (const options of [{}, { bitsPerSymbol: 8 }]) {
      assert.throws(() => assessNonIid(words, options), refusal);
    }
    assert.throws(() => assessNonIid(Uint8Array.of(1, 3, 4, 7), { bitsPerSymbol: 2 }), {
      name: 'RangeError',
      message: '"samples" expected symbols below 4, got a greater one at offset 2',
    });
  });
});
