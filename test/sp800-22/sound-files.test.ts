/** Verdicts of the second level on sound files: AES-256-CTR under fixed keys, cut into short sequences. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeSecondLevel, PValueTally, runPackedSuite, type TestName } from '#sp800-22';
import { soundSequence } from '../../packages/lab/studies/second-level/classes.ts';

/** Returns the verdict on the first `m` sequences of `n` bits. */
function judgeSound(n: number, m: number, tests: readonly TestName[]) {
  const tally = new PValueTally(tests, n);
  for (let i = 0; i < m; i++) {
    tally.add(runPackedSuite(soundSequence(n, i), { bits: n, only: tests }));
  }
  const verdict = judgeSecondLevel(m, tally.rows, n);
  assert.ok(verdict.judged);
  return verdict;
}

describe('the second level on short sound sequences', () => {
  const cases: [n: number, m: number, tests: readonly TestName[]][] = [
    [100, 1000, ['frequency', 'cumulative_sums', 'runs']],
    [1000, 100, ['frequency', 'block_frequency', 'cumulative_sums', 'runs', 'longest_run', 'dft']],
    [50_000, 1500, ['frequency', 'rank']],
  ];
  for (const [n, m, tests] of cases) {
    it(`passes ${m} sequences of ${n} bits, whose P-value_T is far from uniform`, () => {
      const verdict = judgeSound(n, m, tests);
      const failed = verdict.rows.filter((row) => row.judged && !row.passed);
      assert.deepEqual(failed, []);
      assert.ok(verdict.rowsNotUniform > 0);
    });
  }

  it('judges more sequences than the known distributions allow as if there were only so many', () => {
    const { rows, checks, rowsJudged, passed } = judgeSound(1000, 1000, [
      'frequency',
      'longest_run',
    ]);
    assert.ok(passed);
    assert.deepEqual([checks, rowsJudged], [4, 2]);
    const longestRun = rows[1];
    assert.ok(longestRun.judged && longestRun.proportionCheck.judged);
    const { uniformityCheck } = longestRun;
    assert.ok(uniformityCheck.judged && uniformityCheck.p > 0.01);
    assert.equal(uniformityCheck.limit, 780);
  });
});
