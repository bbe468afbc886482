/** The evidence of many keys as JSON. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeRandomness } from '../../src/http/wire/randomness.ts';
import type { RandomnessRow } from '../../src/service/index.ts';

const REST = { timestamp: '2026-01-31T12:00:00.000+00:00' };

const COUNTS = {
  stream: 'carrier',
  test: 'runs',
  index: 1,
  label: '',
  sequences: 2,
  passes: 1,
  histogram: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0],
} as const;

const parse = async (...given: Parameters<typeof writeRandomness>) =>
  JSON.parse(String(await writeRandomness(...given)));

describe('the randomness answer', () => {
  it('contains null where there is no value', async () => {
    const nothing = { keys: 0, firstMs: null, lastMs: null, rows: [] };
    assert.deepEqual(await parse(nothing, REST), {
      success: true,
      randomness: { keys: 0, first: null, last: null, significance_level: 0.01, rows: [] },
      ...REST,
    });
    const pValues = Float64Array.of(0.5, Number.NaN, 1e-9);
    const { randomness } = await parse({ ...nothing, rows: [{ ...COUNTS, pValues }] }, REST);
    assert.deepEqual(randomness.rows, [
      {
        stream: 'carrier',
        test: 'runs',
        label: '',
        samples: 2,
        histogram: COUNTS.histogram,
        passed: 1,
        uniformity_p: null,
        proportion: null,
        proportion_min: null,
        proportion_max: null,
        verdict: null,
        p_values: [0.5, null, 1e-9],
      },
    ]);
  });

  it('contains the verdict on each judged row, the times of the keys, and the warnings', async () => {
    const judged = {
      ...COUNTS,
      judged: true,
      proportion: 0.5,
      interval: [0.9, 1],
      inInterval: false,
      proportionP: 0.25,
      uniformityP: 0.75,
      uniform: true,
    } as const;
    const rows: RandomnessRow[] = [
      { ...judged, passed: true },
      { ...judged, passed: false },
    ];
    const warnings = [{ code: 'unknown_field', pointer: '?x', detail: '' }] as const;
    const body = await parse(
      { keys: 2, firstMs: 2_000, lastMs: 3_500, rows },
      {
        ...REST,
        warnings: [...warnings],
      },
    );
    assert.deepEqual(body.warnings, warnings);
    const { first, last } = body.randomness;
    assert.deepEqual(
      [first, last],
      ['1970-01-01T00:00:02.000+00:00', '1970-01-01T00:00:03.500+00:00'],
    );
    const figures = {
      uniformity_p: 0.75,
      proportion: 0.5,
      proportion_min: 0.9,
      proportion_max: 1,
    };
    const told = body.randomness.rows.map((row: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(row).slice(-5)),
    );
    assert.deepEqual(told, [
      { ...figures, verdict: 'pass' },
      { ...figures, verdict: 'fail' },
    ]);
  });
});
