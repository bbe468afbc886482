/** Judgement of the p-values of many keys, and the selection of these keys. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PValueReport, TestName } from '#sp800-22';
import { EVIDENCE_DEFINITION } from '../../../src/keys/evidence.ts';
import { evidenceLabels } from '../../../src/keys/evidence-suite.ts';
import { packPValues, STREAM_TESTS } from '../../../src/keys/p-values.ts';
import type { KeyEvidence } from '../../../src/ledger/index.ts';
import { judgeRandomness } from '../../../src/service/reading/randomness.ts';

const judge = (keys: readonly KeyEvidence[]) => judgeRandomness(keys, true);

const reportOf = (tests: readonly TestName[], p: number): PValueReport => ({
  tests: tests.map((name) => ({
    name,
    applicable: true,
    pValues: evidenceLabels(name).map(() => p),
  })),
});

/** A key whose p-values are `p` on the carrier and `modulated` after modulation. */
function keyOf(atMs: number, p: number, modulated: number | null): KeyEvidence {
  const pValues = packPValues({
    carrier: reportOf(STREAM_TESTS.carrier, p),
    modulated: modulated === null ? { tests: [] } : reportOf(STREAM_TESTS.modulated, modulated),
  });
  return { atMs, definition: EVIDENCE_DEFINITION, pValues };
}

describe('the judgement of an account’s keys', () => {
  it('has 188 rows for the carrier and four for the modulated stream', () => {
    const { rows } = judge([keyOf(0, 0.25, 0.75)]);
    const carrier = rows.filter(({ stream }) => stream === 'carrier');
    const modulated = rows.filter(({ stream }) => stream === 'modulated');
    assert.deepEqual([rows.length, carrier.length], [192, 188]);
    assert.ok(carrier.every(({ pValues }) => pValues?.[0] === 0.25));
    assert.deepEqual(
      modulated.map(({ test, pValues }) => [test, pValues]),
      ['frequency', 'block_frequency', 'runs', 'longest_run'].map((test) => [
        test,
        Float64Array.of(0.75),
      ]),
    );
  });

  it('skips keys whose evidence has another definition without reading their bytes', () => {
    const earlier = { atMs: 1_000, definition: 1, pValues: Buffer.alloc(752) };
    const ofOneSeeding = { ...keyOf(4_000, 0.5, 0.5), definition: 2 };
    const later = [{ ...earlier, atMs: 3_000 }, ofOneSeeding];
    const judged = judge([earlier, keyOf(2_000, 0.5, 0.5), ...later]);
    assert.deepEqual([judged.keys, judged.firstMs, judged.lastMs], [1, 2_000, 2_000]);
    assert.ok(judged.rows.every(({ sequences }) => sequences === 1));
    assert.equal(judge([earlier, ofOneSeeding]).keys, 0);
  });

  it('counts keys without modulation only in the rows of the carrier', () => {
    const { rows } = judge([keyOf(0, 0.5, null), keyOf(1, 0.5, 0.5)]);
    for (const { stream, sequences, pValues } of rows) {
      assert.equal(sequences, stream === 'carrier' ? 2 : 1);
      assert.deepEqual(pValues, Float64Array.of(stream === 'carrier' ? 0.5 : Number.NaN, 0.5));
    }
  });

  it('judges the rows of both streams as one family', () => {
    const spread = (i: number) => (i + 0.5) / 60;
    const keys = Array.from({ length: 60 }, (_, i) => keyOf(i, spread(i), 0.5));
    const failed = judge(keys).rows.filter((row) => 'passed' in row && !row.passed);
    assert.deepEqual([...new Set(failed.map(({ stream }) => stream))], ['modulated']);
    assert.equal(failed.length, 4);
  });
});
