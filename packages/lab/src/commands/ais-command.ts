/** `phm assess-ais31`: runs test procedure A or B of AIS 20/31 on a file of bits. */

import { type Command, Option } from 'commander';
import {
  MAXIMUM_WIDTH,
  PROCEDURE_B_MINIMUM_BITS,
  type Procedure,
  procedureA,
  procedureABits,
  procedureB,
} from '../../../ais-20-31/src/index.ts';
import { CommandError, parseCountTo, writeJson } from '../../../platform/src/commands/index.ts';
import { grouped } from '../../../sp800-22/src/index.ts';
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
  readonly procedure: Procedure;
  readonly width?: number;
  readonly format?: InputFormat;
  readonly json?: boolean;
  readonly fail?: boolean;
}

const HELP = `
${FORMS_HELP}

Procedure A is for random numbers as an application gets them, procedure B for raw noise. If exactly one test fails,
the procedure is repeated with the bits that follow, so give it enough for two runs: 2.1 MB for A, 2 MB or more for B.
At most 8 MiB are read.

The procedures are those of version 2.0 (2011). Version 3.0 (2024) is not implemented: ask which one your evaluation needs.
The exit code is 0 if the command worked, whatever the verdict; --fail changes that.
`;

export function addAssessAisCommand(
  program: Command,
  context: LabContext,
  onExitCode: (exitCode: number) => void,
): void {
  program
    .command('assess-ais31 <file>')
    .description('run test procedure A or B of AIS 20/31 (T0 to T8) on a file or "-" (stdin)')
    .addOption(
      new Option(
        '--procedure <name>',
        'A: T0 to T5, for random numbers; B: T6 to T8, for raw noise',
      )
        .choices(['A', 'B'])
        .makeOptionMandatory(),
    )
    .option(
      '--width <bits>',
      'bits of one random number, for A: its places are also tested one by one; default: 1',
      parseCountTo(MAXIMUM_WIDTH),
    )
    .addOption(formatOption())
    .option('--json', 'write every statistic of every test as JSON')
    .option('--fail', 'exit with code 1 unless the procedure is passed')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: AisFlags) => {
      const passed = await run(file, flags, context);
      if (flags.fail && !passed) onExitCode(1);
    });
}

/** Writes the report, and returns whether the procedure is passed. */
async function run(file: string, flags: AisFlags, context: LabContext): Promise<boolean> {
  const { procedure, width = 1 } = flags;
  if (procedure === 'B' && flags.width !== undefined) {
    throw new CommandError('--width is for --procedure A: leave it out', 2);
  }
  const created = creationTime(context);
  const use = { launcher: context.launcher, words: `assess-ais31 --procedure ${procedure}` };
  const { bytes, bits, input } = await readBits(file, flags.format, use);
  try {
    refuseTooFew(file, bits, procedure, width);
    const result =
      procedure === 'A' ? procedureA(bytes, { bits, width }) : procedureB(bytes, { bits });
    const facts = {
      file: itemName(file),
      bits,
      width,
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

/** Reads at most `MAXIMUM_BITS` bits, which the caller MUST wipe. */
async function readBits(
  file: string,
  format: InputFormat | undefined,
  use: InputUse,
): Promise<InputSequence & { input: InputRead }> {
  const reader = await openInput(file, format, use);
  try {
    const sequence = await reader.readSequence(MAXIMUM_BITS);
    await reader.finish?.();
    const { bytes, bits } = sequence;
    const hints = hintsOn(bytes.subarray(0, Math.min(HINT_BYTES, bits >>> 3)), 0, reader.format);
    return { ...sequence, input: { ...readOf(reader), hints } };
  } finally {
    await reader.close();
  }
}

function refuseTooFew(file: string, bits: number, procedure: Procedure, width: number): void {
  const needed = procedure === 'A' ? procedureABits(width) : PROCEDURE_B_MINIMUM_BITS;
  if (bits >= needed) return;
  const name = inputName(file);
  if (bits === 0) throw new CommandError(`${name} is empty`, 1);
  const more =
    procedure === 'A' ? 'and twice that for a repetition' : 'and 7 million for a whole run';
  throw new CommandError(
    `${name} contains ${grouped(bits)} bits; procedure ${procedure} needs ${grouped(needed)}, ${more}`,
    1,
  );
}
