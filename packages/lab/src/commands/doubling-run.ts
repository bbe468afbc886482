/** One run of `phm assess --doubling`. */

import { CommandError } from '../../../platform/src/commands/index.ts';
import { type SuiteReport, TEST_NAMES } from '../../../sp800-22/src/index.ts';
import { Doubling, type Level } from '../doubling/doubling.ts';
import { DamagedInput } from './file-input.ts';
import { type AssessControl, type AssessOptions, type InputRead, openRun } from './file-run.ts';

/** Why a run ended: a level failed, the limit was reached, the input ended, or an error or Ctrl-C. */
type DoublingEnd = 'failure' | 'limit' | 'input' | 'error';

export interface DoublingResult {
  readonly levels: readonly Level[];
  readonly end: DoublingEnd;
  /** The error that ended the run. */
  readonly error?: CommandError;
  readonly input: InputRead;
  /** The report on the last sequence. */
  readonly report: SuiteReport;
}

export interface DoublingOptions extends AssessOptions {
  readonly bits: number;
  readonly mostBits: number;
}

/**
 * Judges 1, 2, 4, … sequences, and all complete ones if the input ends between. Calls `onLevel` after each level.
 * Throws `CommandError` if no level was judged.
 */
export async function runDoubling(
  options: DoublingOptions,
  control: AssessControl,
  onLevel: (level: Level) => void,
): Promise<DoublingResult> {
  const run = await openRun(options, control);
  const levels: Level[] = [];
  let report: SuiteReport | undefined;
  const judged = judgeLevels(run.reports(), options, (level, last) => {
    levels.push(level);
    report = last;
    onLevel(level);
  });
  try {
    const end = await judged;
    if (report) return { levels, end, input: run.input, report };
  } catch (error) {
    if (!(error instanceof CommandError) || !report || error instanceof DamagedInput) throw error;
    return { levels, end: 'error', error, input: run.input, report };
  }
  throw new CommandError('no sequence was tested', 1);
}

/** Resolves with the reason for the end. */
async function judgeLevels(
  reports: AsyncIterable<SuiteReport>,
  { tests = TEST_NAMES, bits, mostBits }: DoublingOptions,
  onLevel: (level: Level, last: SuiteReport) => void,
): Promise<DoublingEnd> {
  const doubling = new Doubling(tests);
  let last: SuiteReport | undefined;
  let next = 1;
  for await (const report of reports) {
    doubling.add(report);
    last = report;
    if (doubling.sequences < next) continue;
    const level = doubling.judge();
    onLevel(level, report);
    if (level.failed) return 'failure';
    next *= 2;
    if (next * bits > mostBits) return 'limit';
  }
  if (!last || doubling.sequences * 2 === next) return 'input';
  const level = doubling.judge();
  onLevel(level, last);
  return level.failed ? 'failure' : 'input';
}
