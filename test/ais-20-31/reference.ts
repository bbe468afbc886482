/**
 * Figures of the BSI's reference program and of AnotherAIS31TestTool, and the streams behind them
 * (test/vectors/ais-20-31/README.md).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcedureResult, SUITE_IRN_BITS, suiteIrn } from '#ais-20-31';
import { aesCtr } from '../support/lab/aes-stream.ts';

interface ReferenceSequence {
  readonly sequence: number;
  readonly ones: number;
  readonly chi_squared: number;
  readonly runs_of_zeros: readonly number[];
  readonly runs_of_ones: readonly number[];
  readonly shift: number;
  readonly differences: number;
}

interface ReferenceA {
  readonly passed: boolean;
  readonly sequences: number;
  readonly sums: { readonly ones: number; readonly shift: number; readonly differences: number };
  readonly rows: readonly ReferenceSequence[];
}

interface ReferenceB {
  readonly deviation: number;
  readonly after_0: number;
  readonly after_1: number;
  readonly t7_two: readonly number[];
  readonly t7_three: readonly number[];
  readonly t8: number;
  readonly ends: readonly number[];
}

function readVectors(name: string): string {
  return readFileSync(join(import.meta.dirname, '../vectors/ais-20-31', name), 'utf8');
}

export const REFERENCE: {
  readonly aes: { readonly a: Readonly<Record<1 | 8 | 13, ReferenceA>>; readonly b: ReferenceB };
  readonly biased: { readonly b: ReferenceB };
} = JSON.parse(readVectors('bsi-program.json'));

interface ToolPrediction {
  readonly min_entropy: number;
  readonly correct: number;
  readonly predictions: number;
  readonly longest_run: number;
}

/** A trial of T_irn in the tool. */
interface ToolTrial {
  readonly stream: keyof typeof STREAMS;
  readonly offset_bits: number;
  readonly ones: number;
  readonly chi_squared: number;
  readonly t3: ToolPrediction;
  readonly t4: ToolPrediction;
  /** Whether T1 to T4 pass. */
  readonly passed: readonly boolean[];
}

export const TOOL_TRIALS: readonly ToolTrial[] = JSON.parse(readVectors('another-ais31-tool.json'));

const BYTES = 2_500_000;
const COUNTING_KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => i));

export function aesStream(): Buffer {
  return aesCtr(COUNTING_KEY, BYTES);
}

export function biasedStream(): Buffer {
  const other = aesCtr(Buffer.alloc(32, 7), BYTES);
  const shifted = (i: number, by: number) => other[(i + by) % BYTES];
  return aesStream().map(
    (byte, i) => byte | (other[i] & shifted(i, 999) & shifted(i, 5_000) & shifted(i, 777)),
  ) as Buffer;
}

/** A bit differs from the one before it if its byte of AES-256-CTR with the key 0b 0b … 0b is below 102. */
function stickyStream(): Buffer {
  const source = aesCtr(Buffer.alloc(32, 11), SUITE_IRN_BITS);
  const bytes = Buffer.alloc(SUITE_IRN_BITS / 8);
  let bit = 0;
  for (let i = 0; i < SUITE_IRN_BITS; i++) {
    if (source[i] < 102) bit ^= 1;
    bytes[i >> 3] |= bit << (7 - (i & 7));
  }
  return bytes;
}

const STREAMS = { sound: aesStream, biased: biasedStream, sticky: stickyStream };

/** Compares every figure of a trial: counts exactly, and the others to 12 digits. */
export function assertTrial({ stream, offset_bits, t3, t4, ...expected }: ToolTrial): void {
  const range = { offsetBits: offset_bits, bits: SUITE_IRN_BITS };
  const [{ tests }] = suiteIrn(STREAMS[stream](), range).runs;
  const near = (actual: unknown, value: number) =>
    assert.ok(
      Math.abs(Number(actual) - value) <= 1e-12 * Math.max(1, value),
      `${actual}, ${value}`,
    );
  const [monobit, poker, ...predictors] = tests.map(({ statistics }) => statistics);
  assert.equal(monobit.ones, expected.ones);
  near(poker.chi_squared, expected.chi_squared);
  for (const [i, { min_entropy, ...counts }] of [t3, t4].entries()) {
    const { min_entropy: ours, ...rest } = predictors[i];
    assert.deepEqual(rest, counts);
    near(ours, min_entropy);
  }
  assert.deepEqual(
    tests.map(({ passed }) => passed),
    expected.passed,
  );
}

/** Compares every reported figure of the rows, and the sums over all sequences. */
export function assertProcedureA(result: ProcedureResult, reference: ReferenceA): void {
  const [run] = result.runs;
  const [t0, ...rest] = run.tests;
  assert.equal(t0.passed && rest.every(({ passed }) => passed), reference.passed);
  assert.equal(rest.length, 5 * reference.sequences);
  const figure = (index: number, test: number, name: string) =>
    rest[5 * index + test].statistics[name];
  for (const row of reference.rows) {
    const i = row.sequence - 1;
    assert.equal(figure(i, 0, 'ones'), row.ones);
    assert.ok(Math.abs(Number(figure(i, 1, 'chi_squared')) - row.chi_squared) < 1e-9);
    assert.deepEqual(figure(i, 2, 'runs_of_zeros'), row.runs_of_zeros);
    assert.deepEqual(figure(i, 2, 'runs_of_ones'), row.runs_of_ones);
    assert.equal(figure(i, 4, 'shift'), row.shift);
    assert.equal(figure(i, 4, 'differences'), row.differences);
  }
  const sum = (test: number, name: string) =>
    Array.from({ length: reference.sequences }, (_, i) => Number(figure(i, test, name))).reduce(
      (total, value) => total + value,
    );
  assert.equal(sum(0, 'ones'), reference.sums.ones);
  assert.equal(sum(4, 'shift'), reference.sums.shift);
  assert.equal(sum(4, 'differences'), reference.sums.differences);
}

/** P(X ≤ k) for X binomial with n and 1/2, from the logarithms of the terms. */
export function halfBinomialLower(k: number, n: number): number {
  let logTerm = -n * Math.LN2;
  let sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((n - i) / (i + 1));
  }
  return sum;
}
