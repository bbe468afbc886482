/** The parameters that the standard leaves open: rows, bounds, and p-values equal to those of the NIST program. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  type ApplicableOutcome,
  approximateEntropy,
  blockFrequency,
  linearComplexity,
  NIST_PARAMETERS,
  nonOverlappingTemplate,
  overlappingTemplate,
  resolveParameters,
  rowLabels,
  runPackedSuite,
  runSuite,
  serial,
  type TestName,
  type TestParameters,
  type TestResult,
  toAssessReport,
  unpackBits,
} from '#sp800-22';
import {
  matchProbabilities,
  overlappingProbabilities,
} from '../../../packages/sp800-22/src/tests/overlapping-template.ts';
import { defectiveSource } from '../../sp800-22/defective-sources.ts';
import { aesStream, assertAgree } from '../../sp800-22/differential.ts';
import { countWithOverlap } from '../../sp800-22/naive.ts';
import { type ConstantName, expansion } from '../../sp800-22/sequences.ts';
import { packBits } from '../../sp800-22/spectra.ts';

const n = 1_000_000;

function outcome(bytes: Uint8Array, name: TestName, parameters: TestParameters): ApplicableOutcome {
  const [test] = runPackedSuite(bytes, {
    bits: n,
    constants: 'nist',
    only: [name],
    parameters,
  }).tests;
  assert.ok(test.applicable);
  return test;
}

describe('block frequency', () => {
  it('fails a slow drift by the recommended block length, which M = 128 does not see', () => {
    const { generate } = defectiveSource('drift');
    for (const seed of [1, 2, 3]) {
      const [test] = runPackedSuite(generate(seed, 2 ** 17), { only: ['block_frequency'] }).tests;
      assert.ok(test.applicable);
      const [nist, recommended] = test.pValues;
      assert.ok(nist > 0.001, `M = 128: ${nist}`);
      assert.ok(recommended < 0.001, `M = 16384: ${recommended}`);
      assert.equal(test.passed, false);
    }
  });

  it('recommends the smallest power of two that meets §2.2.7 for each length', () => {
    for (const length of [100, 1000, 3199, 3200, 3201, 12_800, 10 ** 6, 2 ** 20, 2 ** 26]) {
      const { blockFrequencyM } = resolveParameters(length, { blockFrequencyM: 'recommended' });
      const [M] = blockFrequencyM;
      assert.ok(M >= 20 && M > 0.01 * length && Math.floor(length / M) < 100, `${length}: ${M}`);
      assert.ok(M === 32 || M / 2 <= 0.01 * length, `${length}: ${M}`);
    }
  });

  it('has one row per block length, and one row where the two are equal or one does not fit', () => {
    assert.deepEqual(rowLabels('block_frequency', 2 ** 20), ['M = 128', 'M = 16384']);
    assert.deepEqual(rowLabels('block_frequency', 10_000), ['']);
    assert.deepEqual(rowLabels('block_frequency', 100), ['']);
    assert.deepEqual(rowLabels('block_frequency', 2 ** 20, NIST_PARAMETERS), ['']);
    const parameters = { blockFrequencyM: ['nist', 20_000] } as const;
    const report = runPackedSuite(aesStream(1, 2 ** 17), { only: ['block_frequency'], parameters });
    const [test] = toAssessReport(report).tests;
    assert.deepEqual(test.labels, ['M = 128', 'M = 20000']);
    assert.deepEqual(test.parameters, { M: [128, 20_000], N: [8192, 52] });
  });
});

describe('parameters', () => {
  const refused: [TestParameters, RegExp][] = [
    [{ blockFrequencyM: 10_000 }, /M > 0\.01 n = 10485\.76 \(SP 800-22 §2\.2\.7\), got 10000$/],
    [{ blockFrequencyM: 19 }, /M ≥ 20/],
    [{ blockFrequencyM: 2.5e4 + 0.5 }, /integer M/],
    [{ blockFrequencyM: [] }, /at least 1 element/],
    [
      { templateM: 1 },
      /"templateM" expected an integer from 2 to 16 \(bounds of this suite; SP 800-22 §2\.7\.7 has .*\), got 1$/,
    ],
    [{ overlappingM: 17 }, /bounds of this suite; SP 800-22 §2\.8\.7/],
    [{ serialM: 25 }, /bounds of this suite; SP 800-22 §2\.11\.7/],
    [{ approximateEntropyM: 0 }, /bounds of this suite; SP 800-22 §2\.12\.7/],
    [{ linearComplexityM: 499 }, /from 500 to 5000 \(SP 800-22 §2\.10\.7\), got 499$/],
  ];

  it('are refused outside their bounds, with who sets them', () => {
    for (const [parameters, message] of refused) {
      assert.throws(() => runPackedSuite(new Uint8Array(2 ** 17), { parameters }), {
        name: 'RangeError',
        message,
      });
    }
  });

  it('are checked without a length by the bounds that do not depend on it', () => {
    assert.throws(() => resolveParameters(0, { blockFrequencyM: 19 }), {
      message: /an integer M ≥ 20 \(SP 800-22 §2\.2\.7\), got 19$/,
    });
  });

  it('set the shortest sequence of their tests', () => {
    const parameters = { serialM: 4, approximateEntropyM: 3, templateM: 5, blockFrequencyM: 500 };
    const applied = (length: number): string[] =>
      runSuite(unpackBits(aesStream(1, 4000), length), { parameters })
        .tests.filter(({ applicable }) => applicable)
        .map(({ name }) => name);
    assert.ok(!applied(511).includes('approximate_entropy') && applied(511).includes('serial'));
    assert.ok(applied(512).includes('approximate_entropy'));
    assert.ok(
      !applied(499).includes('block_frequency') && applied(500).includes('block_frequency'),
    );
    const templates = 8 * (100 * 32 + 4);
    assert.ok(!applied(templates - 1).includes('non_overlapping_template'));
    assert.ok(applied(templates).includes('non_overlapping_template'));
  });
});

interface Vectors {
  readonly sequences: Readonly<Record<ConstantName, Record<string, Record<string, number[]>>>>;
}

/** The option of each test, and its readable form. */
const TESTS: Record<string, [keyof TestParameters, (bits: Uint8Array, m: number) => TestResult]> = {
  block_frequency: ['blockFrequencyM', (bits, M) => blockFrequency(bits, { M })],
  non_overlapping_template: ['templateM', (bits, m) => nonOverlappingTemplate(bits, { m })],
  overlapping_template: [
    'overlappingM',
    (bits, m) => overlappingTemplate(bits, { m, constants: 'nist' }),
  ],
  serial: ['serialM', (bits, m) => serial(bits, { m })],
  approximate_entropy: ['approximateEntropyM', (bits, m) => approximateEntropy(bits, { m })],
  linear_complexity: [
    'linearComplexityM',
    (bits, M) => linearComplexity(bits, { M, constants: 'nist' }),
  ],
};

/** The program is good to about 1e-9. */
function assertNear(actual: readonly number[], expected: readonly number[], title: string): void {
  assert.equal(actual.length, expected.length, title);
  for (const [i, p] of actual.entries()) {
    assert.ok(Math.abs(p - expected[i]) < 1e-8, `${title}: ${p}, ${expected[i]}`);
  }
}

describe('p-values with other parameters', () => {
  const { sequences }: Vectors = JSON.parse(
    readFileSync(new URL('../../vectors/sp800-22/parameters-1e6.json', import.meta.url), 'utf8'),
  );
  for (const [sequence, tests] of Object.entries(sequences)) {
    it(`are those of the NIST program on ${sequence}, by the kernels`, () => {
      const bits = expansion(sequence as ConstantName, n);
      const bytes = packBits(bits);
      for (const [name, byValue] of Object.entries(tests)) {
        const [option, readable] = TESTS[name];
        for (const [text, expected] of Object.entries(byValue)) {
          // The kernels agree with the readable tests, see below; it is enough to run those on one sequence.
          if (sequence === 'pi') assertNear(readable(bits, Number(text)).pValues, expected, text);
          // Below the length that §2.11.7 asks for, the suite does not run the test.
          if (name === 'serial' && text === '17') continue;
          const value = option === 'blockFrequencyM' && text === '128' ? 'nist' : Number(text);
          const fast = outcome(bytes, name as TestName, { [option]: value });
          assertNear(fast.pValues, expected, `${name} ${text}, kernels`);
        }
      }
    });
  }
});

describe('the kernels with other parameters', () => {
  it('agree with the readable suite at every seam', () => {
    const odd = {
      blockFrequencyM: ['nist', 'recommended', 15_001],
      templateM: 4,
      overlappingM: 5,
      serialM: 11,
      approximateEntropyM: 9,
      linearComplexityM: 503,
    } as const;
    const even = { templateM: 10, serialM: 3, approximateEntropyM: 16, linearComplexityM: 1502 };
    const only = [
      'block_frequency',
      'non_overlapping_template',
      'overlapping_template',
      'serial',
      'approximate_entropy',
      'linear_complexity',
    ] as const;
    for (const length of [1_000_003, 1_048_575]) {
      for (const parameters of [odd, even]) {
        const bytes = aesStream(length, (length >>> 3) + 2);
        assertAgree('parameters', bytes, length, { offsetBits: length % 7, parameters, only });
      }
    }
    assertAgree('ones', new Uint8Array(2 ** 17).fill(255), 2 ** 20, { parameters: odd, only });
  });

  it('leave the counts of the default tests alone, in any order', () => {
    const bytes = aesStream(3, 2 ** 17);
    const mixed = { serialM: 12, templateM: 8 };
    const other = { approximateEntropyM: 8, templateM: 8 };
    for (const parameters of [mixed, other]) assertAgree('mixed', bytes, 2 ** 20, { parameters });
  });
});

describe('the exact probabilities of the overlapping test', () => {
  it('are those of the table for nine ones', () => {
    const table = overlappingProbabilities(9, 'exact');
    for (const [i, p] of matchProbabilities(9, 1032).entries()) {
      assert.ok(Math.abs(p - table[i]) < 1e-15, `${p}, ${table[i]}`);
    }
  });

  it('are shares of all blocks for two ones', () => {
    const counts = new Array<number>(6).fill(0);
    for (let block = 0; block < 2 ** 9; block++) {
      const text = block.toString(2).padStart(9, '0');
      counts[Math.min(5, countWithOverlap(text, '11'))]++;
    }
    assert.deepEqual(
      overlappingProbabilities(2, 'exact'),
      counts.map((count) => count / 2 ** 9),
    );
  });
});
