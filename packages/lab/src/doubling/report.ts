/** The output of `phm assess --doubling`: a line for each level and a verdict, or JSON. */

import { grouped } from '../../../sp800-22/src/index.ts';
import type { DoublingOptions, DoublingResult } from '../commands/doubling-run.ts';
import { alignColumns, textOf } from '../report/text.ts';
import { type Finished, type RunTrace, traceJson, traceRows } from '../report/trace.ts';
import { DOUBLING_ALPHA, type Finding, type Level } from './doubling.ts';

const WIDTHS = [16, 10, 9, 10, 10];

/** Returns the title and the heading of the table. */
export function doublingHead(input: string, bits: number): string {
  const heading = row(['bits', 'sequences', 'compared', 'p', 'limit'], 'smallest');
  return `SP 800-22 Rev. 1a, doubling: ${input}, sequences of ${grouped(bits)} bits\n\n${heading}`;
}

/** Returns the line of a level, and its findings. */
export function levelLines(level: Level): string {
  const { bits, sequences, compared, p, alpha, smallest, findings } = level;
  const cells = [grouped(bits), grouped(sequences), grouped(compared), figure(p), figure(alpha)];
  const worst = smallest ? `${smallest.test}, ${smallest.what}` : 'nothing compared';
  const failures = findings.map((finding) => `  FAILED ${findingText(finding)}\n`);
  return row(cells, worst) + failures.join('');
}

function row(cells: readonly string[], last: string): string {
  return `${cells.map((cell, i) => cell.padStart(WIDTHS[i])).join('')}  ${last}\n`;
}

function findingText({ test, what, p }: Finding): string {
  return `${test}, ${what}: p = ${figure(p)}`;
}

function figure(p: number): string {
  return p >= 0.001 ? p.toFixed(4) : p.toExponential(2);
}

/** Returns the verdict and the trace. */
export function doublingEnd(result: DoublingResult, bits: number, trace: RunTrace): string {
  const facts = traceRows(trace, result.report, finished(result));
  return `\n${textOf([[verdictText(result, bits)], alignColumns(facts)])}`;
}

function verdictText({ levels, end, error }: DoublingResult, bits: number): string {
  const last = levels[levels.length - 1];
  const size = `${grouped(last.bits)} bits`;
  const next = `${grouped(nextLevel(last.sequences) * bits)} bits`;
  const rate = `About ${100 * DOUBLING_ALPHA} % of sound sources fail, or fewer.`;
  if (end === 'failure') return `FAILED at ${size}. ${rate}`;
  const nothing = `No failure up to ${size}.`;
  if (end === 'limit') return `${nothing} The limit is reached. ${rate}`;
  if (end === 'input') return `${nothing} The input ended before ${next}. ${rate}`;
  return `${nothing} The run ended early: ${error?.message}.`;
}

/** Returns the sequences of the level after one of so many, which is cut if the input ended. */
function nextLevel(sequences: number): number {
  let next = 1;
  while (next <= sequences) next *= 2;
  return next;
}

/** Returns the result as plain JSON. */
export function doublingJson(
  result: DoublingResult,
  { bits, mostBits }: Pick<DoublingOptions, 'bits' | 'mostBits'>,
  trace: RunTrace,
): object {
  const { levels, end } = result;
  return {
    bits,
    most_bits: mostBits,
    alpha: DOUBLING_ALPHA,
    levels: levels.map(({ secondLevel, ...level }) => ({ ...level, second_level: secondLevel })),
    failed: levels.some(({ failed }) => failed),
    end,
    ...traceJson(trace, result.report, finished(result)),
  };
}

function finished({ levels, end }: DoublingResult): Finished {
  return { sequences: levels[levels.length - 1].sequences, complete: end !== 'error' };
}
