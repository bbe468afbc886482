/** `phm assess`: the statistical suite on a file. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Constants } from '../sts/index.ts';
import { assess, formatAssessText } from './assess.ts';
import { type CliContext, writeJson } from './context.ts';

interface AssessFlags {
  readonly bits?: number;
  readonly format: 'binary' | 'ascii';
  readonly constants: Constants;
  readonly json?: boolean;
}

export function addAssessCommand(program: Command, context: CliContext): void {
  program
    .command('assess <file>')
    .description('run the 15 tests of SP 800-22 on a file, as one sequence')
    .option('--bits <n>', 'only the first n bits; default: the whole file', parseBits)
    .addOption(
      new Option('--format <format>', 'binary: most significant bit first; ascii: digits 0 and 1')
        .choices(['binary', 'ascii'])
        .default('binary'),
    )
    .addOption(
      new Option(
        '--constants <set>',
        'exact, or nist: those of the NIST program, to compare with it',
      )
        .choices(['exact', 'nist'])
        .default('exact'),
    )
    .option('--json', 'write the report as JSON')
    .action(async (file: string, { json, ...flags }: AssessFlags) => {
      const report = await assess({ file, ...flags });
      if (json) writeJson(context, report);
      else context.out(formatAssessText(report));
    });
}

function parseBits(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new InvalidArgumentError('use a whole number of bits.');
  return Number(text);
}
