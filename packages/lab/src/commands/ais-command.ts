/** `phm assess-ais31`: runs the tests of an edition of AIS 20/31 on a file of bits. */

import { type Command, Option } from 'commander';
import {
  MAXIMUM_WIDTH,
  PROCEDURE_B_MINIMUM_BITS,
  type Procedure,
  type ProcedureResult,
  procedureA,
  procedureABits,
  procedureB,
  SUITE_IRN_BITS,
  type SuiteResult,
  suiteIrn,
} from '../../../ais-20-31/src/index.ts';
import { CommandError, parseCountTo, writeJson } from '../../../platform/src/commands/index.ts';
import { grouped } from '../../../sp800-22/src/index.ts';
import { EDITIONS } from '../ais/editions.ts';
import { aisReport } from '../ais/report.ts';
import { MAXIMUM_BITS } from '../input/cutter.ts';
import { HINT_BYTES, hintsOn } from '../input/hints.ts';
import type { InputFormat } from '../input/open.ts';
import type { InputSequence } from '../input/reader.ts';
import { textOf } from '../report/text.ts';
import type { LabContext } from './context.ts';
import { openInput } from './file-input.ts';
import { type InputRead, readOf } from './file-run.ts';
import { FORMS_HELP, formatOption } from './format-option.ts';
import { inputName, itemName } from './input-name.ts';
import type { InputUse } from './other-form.ts';
import { creationTime } from './trace.ts';

interface AisFlags {
  readonly edition: (typeof EDITIONS)[number];
  readonly procedure?: Procedure;
  readonly width?: number;
  readonly format?: InputFormat;
  readonly json?: boolean;
  readonly fail?: boolean;
}

const HELP = `
${FORMS_HELP}

Edition 3.0 (2024) has one suite for random numbers as an application gets them, T_irn: monobit, poker, and two predictors
that must find 0.95 bits of min-entropy a bit. A trial takes ${grouped(SUITE_IRN_BITS)} bits. After a failure there is one second trial,
with the bits that follow: a sound generator fails a trial once in 68, and two in a row once in 4,600. No more is read.

Edition 2.0 (2011) has two procedures: A for random numbers as an application gets them, B for the raw noise of a physical
source. If exactly one test fails, the procedure is repeated with the bits that follow, so give it enough for two runs: 2.1 MB
for A, 2 MB or more for B. At most 8 MiB are read.

The exit code is 0 if the command worked, whatever the verdict; --fail changes that.
`;

export function addAssessAisCommand(
  program: Command,
  context: LabContext,
  onExitCode: (exitCode: number) => void,
): void {
  program
    .command('assess-ais31 <file>')
    .description('run the tests of AIS 20/31 on a file or "-" (stdin)')
    .addOption(
      new Option(
        '--edition <version>',
        'of AIS 20/31: the suite T_irn of 3.0, or a procedure of 2.0',
      )
        .choices([...EDITIONS])
        .default(EDITIONS[0]),
    )
    .addOption(
      new Option(
        '--procedure <name>',
        'of edition 2.0. A: T0 to T5, for random numbers; B: T6 to T8, for raw noise',
      ).choices(['A', 'B']),
    )
    .option(
      '--width <bits>',
      'bits of one random number, for A: its places are also tested one by one; default: 1',
      parseCountTo(MAXIMUM_WIDTH),
    )
    .addOption(formatOption())
    .option('--json', 'write every statistic of every test as JSON')
    .option('--fail', 'exit with code 1 unless the suite or procedure is passed')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: AisFlags) => {
      const passed = await run(file, flags, context);
      if (flags.fail && !passed) onExitCode(1);
    });
}

/** What the flags ask for. */
interface Assessment {
  /** Its flags, as in advice. */
  readonly words: string;
  /** Its name, as in errors. */
  readonly name: string;
  /** Bits without which there is no verdict, and what further bits are for. */
  readonly least: number;
  readonly more: string;
  /** Bits that are read at most. */
  readonly most: number;
  readonly assess: (bytes: Uint8Array, bits: number) => ProcedureResult | SuiteResult;
}

function assessmentOf({ edition, procedure, width }: AisFlags): Assessment {
  if (procedure !== 'A' && width !== undefined) {
    throw new CommandError('--width is for --procedure A: leave it out', 2);
  }
  if (edition === '2.0') return procedureOf(procedure, width);
  if (procedure !== undefined) {
    throw new CommandError('--procedure is for --edition 2.0: add that, or leave it out', 2);
  }
  return {
    words: '',
    name: 'a trial of edition 3.0',
    least: SUITE_IRN_BITS,
    more: 'and as many again for a second trial',
    most: 2 * SUITE_IRN_BITS,
    assess: (bytes, bits) => suiteIrn(bytes, { bits }),
  };
}

function procedureOf(procedure: Procedure | undefined, width = 1): Assessment {
  if (procedure === undefined) {
    throw new CommandError('--edition 2.0 has two procedures: add --procedure A or B', 2);
  }
  const isA = procedure === 'A';
  return {
    words: ` --edition 2.0 --procedure ${procedure}`,
    name: `procedure ${procedure}`,
    least: isA ? procedureABits(width) : PROCEDURE_B_MINIMUM_BITS,
    more: isA ? 'and twice that for a repetition' : 'and 7 million for a whole run',
    most: MAXIMUM_BITS,
    assess: (bytes, bits) =>
      isA ? procedureA(bytes, { bits, width }) : procedureB(bytes, { bits }),
  };
}

/** Writes the report, and returns whether the suite or procedure is passed. */
async function run(file: string, flags: AisFlags, context: LabContext): Promise<boolean> {
  const assessment = assessmentOf(flags);
  const created = creationTime(context);
  const use = { launcher: context.launcher, words: `assess-ais31${assessment.words}` };
  const { bytes, bits, input } = await readBits(file, flags.format, use, assessment.most);
  try {
    refuseTooFew(file, bits, assessment);
    const result = assessment.assess(bytes, bits);
    const facts = {
      file: itemName(file),
      bits,
      width: flags.width ?? 1,
      input,
      created,
      software: context.software(),
    };
    const { text, json } = aisReport(result, facts);
    if (flags.json) writeJson(context, json);
    else context.outText(textOf(text));
    for (const hint of input.hints ?? []) context.err(`hint: ${hint}\n`);
    return result.verdict === 'passed';
  } finally {
    bytes.fill(0);
  }
}

/** Reads at most `most` bits, which the caller MUST wipe. */
async function readBits(
  file: string,
  format: InputFormat | undefined,
  use: InputUse,
  most: number,
): Promise<InputSequence & { input: InputRead }> {
  const reader = await openInput(file, format, use);
  try {
    const sequence = await reader.readSequence(most);
    await reader.finish?.();
    const { bytes, bits } = sequence;
    const hints = hintsOn(bytes.subarray(0, Math.min(HINT_BYTES, bits >>> 3)), 0, reader.format);
    return { ...sequence, input: { ...readOf(reader), hints } };
  } finally {
    await reader.close();
  }
}

function refuseTooFew(file: string, bits: number, { name, least, more }: Assessment): void {
  if (bits >= least) return;
  const input = inputName(file);
  if (bits === 0) throw new CommandError(`${input} is empty`, 1);
  throw new CommandError(
    `${input} contains ${grouped(bits)} bits; ${name} needs ${grouped(least)}, ${more}`,
    1,
  );
}
