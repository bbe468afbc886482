/**
 * `phm assess`: runs the suite of SP 800-22 on the sequences of a file.
 *
 *   input → sequences → worker threads → reports, in order → output, and counts for the second level
 *
 * Reports describe sequences. NIST certifies nothing by SP 800-22.
 */
import { CommandError } from '../../../platform/src/commands/index.ts';
import { TEST_NAMES } from '../../../sp800-22/src/index.ts';
import { MAXIMUM_BITS } from '../input/cutter.ts';
import { type AssessOutput, type AssessSummary, RunCounts } from '../report/summary.ts';
import { countText } from '../report/text.ts';
import { DamagedInput } from './file-input.ts';
import { type AssessControl, type AssessOptions, openRun } from './file-run.ts';

/**
 * Runs the suite on every sequence and returns the result. If the run ends early, `output` gets the finished part and a
 * `CommandError` is thrown, with exit code 2 if an option is out of range, otherwise 1.
 */
export async function assess(
  options: AssessOptions,
  output: AssessOutput,
  control: AssessControl = {},
): Promise<AssessSummary> {
  assertBitsOption(options.bits);
  const counts = new RunCounts(options.tests ?? TEST_NAMES, options.offsetBits);
  const run = await openRun(options, {
    ...control,
    onSequence: (sequence, index) => {
      counts.take(sequence, index);
      control.onSequence?.(sequence, index);
    },
  });
  try {
    for await (const report of run.reports()) {
      counts.add(report);
      output.add(report);
    }
  } catch (error) {
    if (!(error instanceof CommandError) || counts.sequences === 0) throw error;
    if (error instanceof DamagedInput) throw error;
    control.onInputRead?.(run.input);
    output.end(counts.summary(false));
    const finished = `the report covers the finished part, ${countText(counts.sequences)}`;
    throw new CommandError(`${error.message}; ${finished}`, error.exitCode);
  }
  if (run.streamReports) counts.addStreams(run.streamReports);
  const summary = counts.summary(true);
  control.onInputRead?.(run.input);
  output.end(summary);
  return summary;
}

function assertBitsOption(bits: number | undefined): void {
  if (bits === undefined || (Number.isInteger(bits) && bits >= 1 && bits <= MAXIMUM_BITS)) return;
  throw new CommandError(`--bits needs a whole number from 1 to ${MAXIMUM_BITS}, got ${bits}`, 2);
}
