/** The estimators of SP 800-90B §6.3 against a second open program (test/vectors/sp800-90b/README.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { unpackBits } from '#sp800-22';
import { assessNonIid, type EstimatorName } from '#sp800-90b';
import { aesStream, biasedStream } from '../ais-20-31/reference.ts';

/** Min-entropies that AnotherEntropyEstimationTool gives. */
type Figures = Readonly<Partial<Record<EstimatorName, number>>>;

const TOOL: Readonly<Record<keyof typeof SAMPLES, Figures>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/sp800-90b/another-tool.json'), 'utf8'),
);

const SAMPLES = {
  sound: () => unpackBits(aesStream().subarray(0, 12_500)),
  biased: () => unpackBits(biasedStream().subarray(0, 12_500)),
};

/** Where the program departs from the text and from NIST's program, and how far. */
const DEPARTURES: Figures = {
  // It rounds the mean of step 4 to single precision.
  collision: 1e-6,
  // It looks for the most probable sequence among 14 forms; step 3 has six.
  markov: 2e-6,
};

describe('AnotherEntropyEstimationTool', () => {
  for (const [name, figures] of Object.entries(TOOL)) {
    it(`gives our estimates for 100,000 ${name} bits`, () => {
      const { literal } = assessNonIid(SAMPLES[name as keyof typeof SAMPLES]());
      assert.equal(Object.keys(figures).length, 10);
      for (const [estimator, expected] of Object.entries(figures)) {
        const outcome = literal[estimator as EstimatorName];
        const ours = outcome.applicable ? outcome.minEntropy : Number.NaN;
        const bound = DEPARTURES[estimator as EstimatorName] ?? 1e-11;
        assert.ok(Math.abs(ours - expected) <= bound, `${estimator}: ${ours}, there ${expected}`);
      }
    });
  }
});
