/** `phm assess --doubling`: its options, and the run with its output. */

import { type Command, Option } from 'commander';
import {
  CommandError,
  OUTPUT_GONE,
  parseCount,
  untilInterrupted,
  writeJson,
} from '../../../platform/src/commands/index.ts';
import {
  isOfGate,
  minimumBits,
  resolveParameters,
  TEST_NAMES,
} from '../../../sp800-22/src/index.ts';
import { doublingEnd, doublingHead, doublingJson, levelLines } from '../doubling/report.ts';
import { checkFields, type ReportFields } from '../report/identity.ts';
import type { LabContext } from './context.ts';
import { type DoublingResult, runDoubling } from './doubling-run.ts';
import type { AssessControl, AssessOptions } from './file-run.ts';
import { itemName } from './input-name.ts';
import { creationTime, toTrace } from './trace.ts';

const SEQUENCE_BITS = 2 ** 20;
const MOST_BITS = 2 ** 34;

export interface DoublingFlags {
  readonly doubling?: boolean;
  readonly mostBits?: number;
  readonly json?: boolean;
}

export function addDoublingOptions(command: Command): void {
  const option = (flags: string, description: string): Option =>
    new Option(flags, description).helpGroup('Growing amounts of data:');
  command
    .addOption(
      option(
        '--doubling',
        'judge 1, 2, 4, … sequences until the source fails; --bits: 1048576 by default',
      ).conflicts(['sequences', 'csv', 'html', 'nistReport', 'supplements', 'thorough']),
    )
    .addOption(
      option('--most-bits <n>', `end --doubling here; default: ${MOST_BITS} (2 GiB)`).argParser(
        parseCount,
      ),
    );
}

/** Writes the report, and returns whether the source failed. */
export async function assessDoubling(
  options: AssessOptions,
  { mostBits = MOST_BITS, json, ...flags }: DoublingFlags & ReportFields,
  context: LabContext,
): Promise<boolean> {
  if (options.supplements?.length) {
    throw new CommandError('--doubling judges the tests of SP 800-22 only: name no supplement', 2);
  }
  const bits = options.bits ?? SEQUENCE_BITS;
  const created = creationTime(context);
  const report = checkFields(flags);
  assertCompared(options, bits);
  if (bits > mostBits)
    throw new CommandError(`--most-bits needs at least ${bits}, one sequence`, 2);
  const all = { ...options, bits, mostBits };
  return untilInterrupted(async (signal) => {
    const write = (text: string): void => {
      if (!json && signal.reason !== OUTPUT_GONE) context.outText(text);
    };
    const control: AssessControl = { signal };
    let heading = doublingHead(itemName(options.file), bits);
    const result = await runDoubling(all, control, (level) => {
      write(heading + levelLines(level));
      heading = '';
    });
    for (const hint of result.input.hints ?? []) context.err(`hint: ${hint}\n`);
    const trace = { ...toTrace(all, 'all', result.input, created, context.software()), report };
    if (json) writeJson(context, doublingJson(result, { bits, mostBits }, trace));
    else write(doublingEnd(result, bits, trace));
    return hasFailed(result);
  });
}

/** Throws `CommandError` if no level would compare a test of a sequence. */
function assertCompared({ tests = TEST_NAMES, parameters }: AssessOptions, bits: number): void {
  const resolved = resolveParameters(bits, parameters);
  const applicable = tests.filter((test) => minimumBits(test, resolved) <= bits);
  // If no test applies, the run says how many bits are needed.
  const usable = applicable.length === 0 ? tests : applicable;
  if (usable.some(isOfGate)) return;
  throw new CommandError(
    `--doubling does not compare ${usable.join(' and ')} of a single sequence: name another test`,
    2,
  );
}

/** Throws the error that ended the run early. */
function hasFailed({ end, error, levels }: DoublingResult): boolean {
  if (!error) return end === 'failure';
  const covered = `the report covers ${levels.length === 1 ? '1 level' : `${levels.length} levels`}`;
  throw new CommandError(`${error.message}; ${covered}`, error.exitCode);
}
