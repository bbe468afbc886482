/** The IID track of SP 800-90B: §5 against NIST's program, and its parts against plain ones. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  assessIid,
  assessIidRestarts,
  type PermutationJob,
  type PermutationRunner,
  Permuter,
  STATISTIC_NAMES,
  testIid,
} from '#sp800-90b';
import { type Figures, figuresOf } from '../../../packages/lab/studies/iid-figures.ts';
import { chiSquareTail } from '../../../packages/sp800-90b/src/iid/_chi-square-tail.ts';
import { nextState, seededState, shuffle } from '../../../packages/sp800-90b/src/iid/_shuffle.ts';
import { DecimalCompressor } from '../../../packages/sp800-90b/src/iid/compression.ts';
import { PermutationTally } from '../../../packages/sp800-90b/src/iid/permutation-tests.ts';
import { aesBits, aesBytes } from '../../sp800-90b/ea-non-iid.ts';
import { iidSamples, SAMPLE_NAMES } from '../../sp800-90b/iid-samples.ts';

const REFERENCES: Readonly<Record<string, Figures>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../vectors/sp800-90b/ea-iid.json'), 'utf8'),
);

/** Stands for permutations, which take seconds; test/campaigns/iid.test.ts makes them. */
const openFake = (results: readonly number[]) => (): PermutationRunner => {
  // Not counted within a job: how many permutations a job has depends on the time that the one before took.
  let made = 0;
  return {
    parallel: 1,
    run: async ({ count }) =>
      Array.from({ length: count }, () =>
        new Float64Array(19).fill(results[made++ % results.length] as number),
      ),
    close: () => Promise.resolve(),
  };
};

const alwaysLess = openFake([0]);

const bothSides = openFake([0, Infinity]);

/** Samples whose permutations are made here. */
const PERMUTED = ['nibbles', 'biased-bits'];

function runnerFor(name: string): { openRunner?: () => PermutationRunner } {
  if (PERMUTED.includes(name)) return {};
  return { openRunner: name === 'sticky' ? alwaysLess : bothSides };
}

/** Relative for values above 1. */
const TOLERANCE = 1e-10;

function assertClose(ours: number, theirs: number | boolean, name: string): void {
  const expected = Number(theirs);
  const bound = TOLERANCE * Math.max(1, Math.abs(expected));
  assert.ok(Math.abs(ours - expected) <= bound, `${name}: ${ours}, expected ${expected}`);
}

describe('conditioned output', () => {
  /** Each byte has its first half twice: the bytes are IID, their bits are not. They have at most 0.5 bits a bit. */
  const twice = aesBytes()
    .subarray(0, 8_000)
    .map((byte) => (byte & 15) * 17);
  const options = { seed: '1', openRunner: bothSides };

  it('is tested as a string of bits (§3.1.5.2)', async () => {
    const raw = await assessIid(twice, options);
    assert.deepEqual([raw.tested, raw.tests.passed], ['samples', true]);
    const output = await assessIid(twice, { ...options, conditioned: true });
    assert.deepEqual([output.tested, output.tests.passed], ['bit string', false]);
    assert.equal(output.minEntropyPerSymbol, null);
    assert.ok((output.hBitstring ?? 0) > 0.9, 'the most common bit alone shows nothing');
    const bits = Uint8Array.from(
      { length: 64_000 },
      (_, i) => ((twice[i >> 3] as number) >> (7 - (i & 7))) & 1,
    );
    assert.deepEqual(output.tests, await testIid(bits, options));
  });

  it('is tested up to the limit of its bit string, as it is assessed', async () => {
    const bytes = aesBytes().subarray(0, 2_000);
    const limited = { ...options, conditioned: true, bitstringLimit: 9_000 };
    const { tests, bitstringBits, hBitstring } = await assessIid(bytes, limited);
    assert.deepEqual([tests.passed, bitstringBits], [true, 9_000]);
    assert.ok((hBitstring ?? 0) > 0.9);
    const bits = Uint8Array.from(
      { length: 9_000 },
      (_, i) => ((bytes[i >> 3] as number) >> (7 - (i & 7))) & 1,
    );
    assert.deepEqual(tests, await testIid(bits, options));
  });

  it('of one bit a sample is tested as it was', async () => {
    const bits = aesBits().subarray(0, 2_000);
    const { tests } = await assessIid(bits, { ...options, conditioned: true });
    assert.deepEqual(tests, await testIid(bits, options));
  });
});

describe('the IID track', () => {
  for (const name of SAMPLE_NAMES) {
    it(`agrees with NIST's program on every figure and verdict: ${name}`, async () => {
      const reference = REFERENCES[name];
      const options = { seed: '1', ...runnerFor(name) };
      const figures = figuresOf(await assessIid(iidSamples(name), options));
      assert.deepEqual(Object.keys(figures).sort(), Object.keys(reference).sort());
      for (const [figure, value] of Object.entries(figures)) {
        if (typeof value === 'boolean') assert.equal(value, reference[figure], figure);
        else assertClose(value, reference[figure], figure);
      }
    });
  }

  it('assesses nothing if a test fails', async () => {
    const { minEntropyPerSymbol, tests } = await assessIid(iidSamples('sticky'), {
      seed: '1',
      openRunner: alwaysLess,
    });
    assert.deepEqual([tests.passed, minEntropyPerSymbol], [false, null]);
  });

  it('awards no figure for restarts if a test fails, though both checks pass (§3.1.2)', async () => {
    const options = { initialMinEntropy: 0.75, seed: '1' };
    const failed = await assessIidRestarts(aesBits(), { ...options, openRunner: alwaysLess });
    assert.deepEqual([failed.sanityCheck.passed, failed.validationPassed], [true, true]);
    assert.deepEqual([failed.isIid, failed.minEntropyPerSymbol], [false, null]);
    const passed = await assessIidRestarts(aesBits(), { ...options, openRunner: bothSides });
    assert.deepEqual([passed.isIid, passed.minEntropyPerSymbol], [true, 0.75]);
  });

  it('counts the same for a seed, however many jobs run at once and whichever ends first', async () => {
    const samples = iidSamples('nibbles');
    const alone = await testIid(samples, { seed: 'abc' });
    const permuter = new Permuter(samples);
    const openRunner = () => ({
      parallel: 3,
      run: async (job: PermutationJob) => {
        // Later jobs end earlier.
        for (let turn = job.state[0] % 5; turn > 0; turn--) await new Promise(setImmediate);
        return permuter.run(job);
      },
      close: () => Promise.resolve(),
    });
    assert.deepEqual(await testIid(samples, { seed: 'abc', openRunner }), alone);
    assert.notDeepEqual(await testIid(samples, { seed: 'abd' }), alone);
  });

  it('rejects samples that cannot be tested', async () => {
    const [short, equal] = [new Uint8Array(999).fill(1, 1), new Uint8Array(1_000)];
    await assert.rejects(assessIid(short, { seed: '1' }), /at least 1000 samples for the IID/);
    await assert.rejects(assessIid(equal, { seed: '1' }), /at least two different values, got one/);
    await assert.rejects(assessIid(iidSamples('bits'), { seed: 'x' }), /1 to 32 hexadecimal/);
  });
});

describe('a permutation test (§5.1)', () => {
  const wanted = STATISTIC_NAMES.map(() => true);

  it('fails a statistic that at most five permutations reach from one side', () => {
    for (const [reached, passed] of [
      [5, false],
      [6, true],
    ] as const) {
      const tally = new PermutationTally(new Float64Array(19).fill(1));
      for (let i = 0; i < 10_001; i++) tally.add(new Float64Array(19).fill(i < reached ? 0 : 2));
      const { passed: all, statistics, permutations } = tally.result('1');
      assert.deepEqual([all, statistics.excursion.less], [passed, reached]);
      assert.equal(permutations, passed ? 12 : 10_000);
    }
  });

  it('keeps the samples, their number and their order of values', () => {
    const samples = iidSamples('bytes');
    const permuted = samples.slice();
    shuffle(permuted, seededState('1'));
    assert.notDeepEqual(permuted, samples);
    assert.deepEqual(permuted.sort(), samples.slice().sort());
    const permuter = new Permuter(samples);
    const [first, second] = permuter.run({ count: 2, state: seededState('1'), wanted });
    assert.notDeepEqual(first, second);
    const [again] = permuter.run({ count: 1, state: nextState(seededState('1')), wanted });
    assert.deepEqual(again, second);
  });
});

describe('the shuffle', () => {
  it('makes every permutation equally often', () => {
    const counts = new Map<string, number>();
    let state = seededState('2');
    for (let i = 0; i < 24_000; i++) {
      const items = Uint8Array.of(0, 1, 2, 3);
      shuffle(items, state);
      state = nextState(state);
      counts.set(items.join(), (counts.get(items.join()) ?? 0) + 1);
    }
    const chiSquare = [...counts.values()].reduce((sum, n) => sum + (n - 1_000) ** 2 / 1_000, 0);
    assert.equal(counts.size, 24);
    assert.ok(chiSquareTail(chiSquare, 23) > 1e-6, `${chiSquare}`);
  });

  it('takes the numbers of xoshiro128** in their order', () => {
    // The first numbers from the state 1, 2, 3, 4 by the definition: 11520, 0, 5927040, 70819200.
    // Each is scaled to the samples left.
    const samples = Uint8Array.of(0, 1, 2, 3, 4);
    shuffle(samples, [1, 2, 3, 4]);
    const expected = [0, 1, 2, 3, 4];
    for (const [i, word] of [11_520, 0, 5_927_040, 70_819_200].entries()) {
      const last = 4 - i;
      const other = Math.floor((word * (last + 1)) / 2 ** 32);
      [expected[last], expected[other]] = [expected[other], expected[last]];
    }
    assert.deepEqual([...samples], expected);
  });
});

describe('chiSquareTail', () => {
  // Values of Q(df / 2, χ² / 2) from mpmath 1.3 with 50 digits.
  const VALUES = [
    [0.5, 1, 0.4795001221869535],
    [12.3, 9, 0.1969202263985532],
    [60, 9, 1.340678048395961e-9],
    [20, 39, 0.9949893105257401],
    [1959.9547918847986, 2046, 0.9121297821101441],
    [2600, 2295, 7.580222306156797e-6],
    [65643.30856535256, 65280, 0.1573381139912146],
    [70000, 65280, 1.328235279677923e-37],
  ];

  it('agrees with 50-digit figures to 12 digits', () => {
    for (const [chiSquare, degrees, expected] of VALUES) {
      const ours = chiSquareTail(chiSquare, degrees);
      assert.ok(Math.abs(ours / expected - 1) < 1e-12, `${chiSquare}, ${degrees}: ${ours}`);
    }
  });

  it('is 1 without degrees of freedom', () => {
    assert.deepEqual([chiSquareTail(0, 0), chiSquareTail(5, -3)], [1, 1]);
  });
});

describe('the length under bzip2 (§5.1.11)', () => {
  const stream = Uint8Array.from(aesBytes().subarray(0, 250_000));
  const digits = stream.map((byte) => byte % 10);
  // Lengths by libbz2 1.0.8, BZ2_bzBuffToBuffCompress with level 5. A block has 499,981 bytes.
  const lengths: Record<string, [Uint8Array, number]> = {
    'two samples': [Uint8Array.of(7, 255), 43],
    'equal samples': [new Uint8Array(1_000).fill(33), 44],
    'a block to its last byte': [digits.subarray(0, 249_991), 107_472],
    'a block and one byte, which joins it': [digits.subarray(0, 249_992), 107_496],
    'a block, a space and a digit': [digits.subarray(0, 249_993), 107_498],
    'a run at the end of a block': [
      stream.subarray(0, 166_665).map((byte) => 11 * (1 + (byte % 9))),
      68_530,
    ],
    'words that join at the end of a block': [
      digits.map((digit) => (digit === 0 ? 222 : digit)),
      110_088,
    ],
  };

  it('equals that of libbz2 at the limits of a block', () => {
    const compressor = new DecimalCompressor();
    for (const [name, [samples, length]] of Object.entries(lengths)) {
      assert.equal(compressor.length(samples), length, name);
    }
  });
});
