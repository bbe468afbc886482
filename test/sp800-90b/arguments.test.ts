/** Every function of the package sp800-90b with every wrong argument. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as entropy from '#sp800-90b';
import {
  type Callee,
  integer,
  nothing,
  number,
  optional,
  options,
  testWrongArguments,
} from '../support/lab/wrong-arguments.ts';

const { NoiseTests, Permuter, RESTARTS, STATISTIC_NAMES } = entropy;

const SAMPLES = Uint8Array.from(
  { length: 1_000 },
  (_, i) => ((i * i * 31 + (i >>> 3) * 77) >>> 2) & 3,
);
const MATRIX = Uint8Array.from({ length: RESTARTS ** 2 }, (_, i) => ((i * 7_919) >>> 3) & 1);
const CONDITIONING = { inputBits: 512, outputBits: 256, narrowestWidth: 256, inputEntropy: 300 };
const NOISE = { bitsPerSample: 1, minEntropyPerSample: 0.5 };
const JOB = { count: 1, state: [1, 2, 3, 4], wanted: STATISTIC_NAMES.map(() => true) } as const;

const isFunction = { accepts: (value: unknown) => typeof value === 'function' };
const isFlag = { accepts: (value: unknown) => typeof value === 'boolean' };
const bytesOf = (least: number) => ({
  accepts: (value: unknown) => value instanceof Uint8Array && value.length >= least,
});
/** The seed is text of hexadecimal digits. */
const seed = { accepts: (value: unknown) => value === '1' };

const TRACK = { bitsPerSymbol: integer(2, 8), bitstringLimit: integer(1), onProgress: isFunction };
const IID = { seed, openRunner: isFunction, onProgress: isFunction };

/** Options that must have a member are no empty object. */
function required(members: Parameters<typeof options>[0]) {
  return { ...options(members), accepts: () => false, optional: false };
}

/** Returns a call that ends with the first progress if its arguments are these right ones: the tests themselves take up to a minute. */
function untilProgress(call: (...args: never[]) => unknown, right: readonly [unknown, object]) {
  const reached = 'the arguments are right';
  const onProgress = () => {
    throw new RangeError(reached);
  };
  return async (data: unknown, given: unknown) => {
    const isRight = isDeepStrictEqual([data, given], right);
    const options = isRight ? { ...(given as object), onProgress } : given;
    try {
      await call(data as never, options as never);
    } catch (error) {
      if (!isRight || !String(error).includes(reached)) throw error;
    }
  };
}

const TABLE: Readonly<Record<string, Callee>> = {
  assessConditioning: {
    call: entropy.assessConditioning,
    args: [CONDITIONING, 0.5],
    takes: [
      required({
        inputBits: integer(301, 2 ** 32 - 1),
        outputBits: integer(1, 2 ** 32 - 1),
        narrowestWidth: integer(1, 2 ** 32 - 1),
        inputEntropy: number((value) => value > 0 && value <= 512),
      }),
      optional(number((value) => value > 0 && value <= 1)),
    ],
  },
  mostCommonValueMinEntropy: {
    call: entropy.mostCommonValueMinEntropy,
    args: [5, 10],
    takes: [integer(0, 10), integer(5)],
  },
  assessNonIid: {
    call: entropy.assessNonIid,
    args: [SAMPLES, {}],
    takes: [bytesOf(2), options(TRACK)],
  },
  assessConditioned: {
    call: entropy.assessConditioned,
    args: [SAMPLES, {}],
    takes: [bytesOf(2), options(TRACK)],
  },
  bitsOfGreatest: { call: entropy.bitsOfGreatest, args: [SAMPLES], takes: [bytesOf(0)] },
  firstTooWide: {
    call: entropy.firstTooWide,
    args: [SAMPLES, 2],
    takes: [bytesOf(0), integer(1, 8)],
  },
  assessRestarts: {
    call: untilProgress(entropy.assessRestarts, [MATRIX, { initialMinEntropy: 0.5 }]),
    args: [MATRIX, { initialMinEntropy: 0.5 }],
    takes: [
      nothing,
      required({
        initialMinEntropy: number((value) => value > 0 && value <= 1),
        bitsPerSymbol: integer(1, 8),
        onProgress: isFunction,
      }),
    ],
  },
  assessIidRestarts: {
    call: untilProgress(entropy.assessIidRestarts, [MATRIX, { initialMinEntropy: 0.5, seed: '1' }]),
    args: [MATRIX, { initialMinEntropy: 0.5, seed: '1' }],
    takes: [
      nothing,
      required({
        initialMinEntropy: number((value) => value > 0 && value <= 1),
        bitsPerSymbol: integer(1, 8),
        ...IID,
      }),
    ],
  },
  NoiseTests: {
    call: (given: never) => new NoiseTests(given),
    args: [NOISE],
    takes: [
      {
        ...required({
          bitsPerSample: integer(1, 8),
          minEntropyPerSample: number((value) => value > 0 && value <= 1),
        }),
        isOpen: true,
      },
    ],
  },
  'NoiseTests.check': {
    call: (samples: never) => new NoiseTests(NOISE).check(samples),
    args: [Uint8Array.of(0, 1)],
    takes: [{ accepts: (value) => value instanceof Uint8Array && value.length === 0 }],
  },
  Permuter: {
    call: (samples: never) => new Permuter(samples),
    args: [SAMPLES],
    takes: [bytesOf(0)],
  },
  'Permuter.run': {
    call: (job: never) => new Permuter(SAMPLES).run(job),
    args: [JOB],
    takes: [nothing],
  },
  assessIid: {
    call: untilProgress(entropy.assessIid, [SAMPLES, { seed: '1' }]),
    args: [SAMPLES, { seed: '1' }],
    takes: [bytesOf(1_000), required({ ...TRACK, ...IID, conditioned: isFlag })],
  },
  testIid: {
    call: untilProgress(entropy.testIid, [SAMPLES, { seed: '1' }]),
    args: [SAMPLES, { seed: '1' }],
    takes: [bytesOf(1_000), required(IID)],
  },
};

testWrongArguments(entropy, TABLE);

describe('a runner of permutations', () => {
  const closed = { close: async () => {} };
  for (const [what, runner] of [
    ['is none', undefined],
    ['runs no jobs', { ...closed, parallel: 0, run: async () => [] }],
    ['runs no whole number of jobs', { ...closed, parallel: Number.NaN, run: async () => [] }],
    ['cannot run', { ...closed, parallel: 1 }],
    ['cannot be closed', { parallel: 1, run: async () => [] }],
    ['gives no list', { ...closed, parallel: 1, run: () => null }],
    ['gives fewer permutations than the job has', { ...closed, parallel: 2, run: async () => [] }],
    ['gives other statistics', { ...closed, parallel: 1, run: async () => [[1]] }],
    [
      'gives too few statistics',
      { ...closed, parallel: 1, run: async () => [new Float64Array(3)] },
    ],
  ] as const) {
    it(`is refused that ${what}`, async () => {
      const run = entropy.testIid(SAMPLES, { seed: '1', openRunner: () => runner as never });
      await assert
        .rejects(run, { name: 'TypeError', message: /^"openRunner[\w.]*" expected .+, got / })
        .catch(async () =>
          assert.rejects(run, { name: 'RangeError', message: /^"openRunner\.parallel" expected/ }),
        );
    });
  }
});
