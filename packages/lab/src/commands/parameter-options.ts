/** The options of `phm assess` for the parameters that SP 800-22 leaves open. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, parseCount, parseCountAs } from '../../../platform/src/commands/index.ts';
import {
  type BlockLength,
  PARAMETER_TESTS,
  resolveParameters,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';

/** The options as commander names them. */
export interface ParameterFlags {
  readonly blockFrequencyM?: readonly BlockLength[];
  readonly templateLength?: number;
  readonly overlappingTemplateLength?: number;
  readonly serialM?: number;
  readonly approximateEntropyM?: number;
  readonly linearComplexityM?: number;
}

/** Adds the options to the command, in a group of their own. */
export function addParameterOptions(command: Command): void {
  const option = (flags: string, description: string): Option =>
    new Option(flags, description).helpGroup('Parameters of SP 800-22:');
  command
    .addOption(
      option(
        '--block-frequency-m <M>',
        'block length (§2.2): a number, "recommended" (§2.2.7) or "nist" (128); repeat the option for more rows; default: nist and recommended',
      ).argParser(collectBlockLengths),
    )
    .addOption(
      option(
        '--template-length <m>',
        'bits of the non-overlapping templates (§2.7); default: 9',
      ).argParser(counted('templateM')),
    )
    .addOption(
      option(
        '--overlapping-template-length <m>',
        'ones of the overlapping template (§2.8); default: 9',
      ).argParser(counted('overlappingM')),
    )
    .addOption(
      option(
        '--serial-m <m>',
        'bits of a pattern in the serial test (§2.11); default: 16',
      ).argParser(counted('serialM')),
    )
    .addOption(
      option(
        '--approximate-entropy-m <m>',
        'bits of a pattern in approximate entropy (§2.12); default: 10',
      ).argParser(counted('approximateEntropyM')),
    )
    .addOption(
      option(
        '--linear-complexity-m <M>',
        'block length of linear complexity (§2.10); default: 500',
      ).argParser(counted('linearComplexityM')),
    );
}

/** Refuses a parameter of a test that is not run. */
export function assertParametersUsed(
  parameters: TestParameters,
  tests: readonly TestName[] | undefined,
): void {
  if (!tests) return;
  for (const name of Object.keys(parameters) as (keyof TestParameters)[]) {
    const test = PARAMETER_TESTS[name];
    if (tests.includes(test)) continue;
    throw new CommandError(`${OPTIONS[name]} needs --test ${test}, or no --test at all`, 2);
  }
}

/** Returns the suite's parameters. */
export function toParameters(flags: ParameterFlags): TestParameters {
  const { blockFrequencyM, templateLength, overlappingTemplateLength } = flags;
  const { serialM, approximateEntropyM, linearComplexityM } = flags;
  return {
    ...(blockFrequencyM && { blockFrequencyM }),
    ...(templateLength && { templateM: templateLength }),
    ...(overlappingTemplateLength && { overlappingM: overlappingTemplateLength }),
    ...(serialM && { serialM }),
    ...(approximateEntropyM && { approximateEntropyM }),
    ...(linearComplexityM && { linearComplexityM }),
  };
}

/** Returns a parser that checks the bounds that do not depend on the length of the sequences. */
function counted(name: keyof TestParameters): (text: string) => number {
  return (text) => {
    const value = parseCount(text);
    assertParameters({ [name]: value });
    return value;
  };
}

function collectBlockLengths(
  text: string,
  before: readonly BlockLength[] = [],
): readonly BlockLength[] {
  const isNamed = text === 'nist' || text === 'recommended';
  const length = isNamed ? text : parseCountAs('"nist", "recommended" or a whole number', text);
  assertParameters({ blockFrequencyM: length });
  return [...before, length];
}

function assertParameters(parameters: TestParameters): void {
  try {
    resolveParameters(0, parameters);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidArgumentError(
      error.message.replace(/^"\w+" expected (.*), got .*$/, 'use $1.'),
    );
  }
}

/** The options by the parameters in messages of the package. */
const OPTIONS: Readonly<Record<keyof TestParameters, string>> = {
  blockFrequencyM: '--block-frequency-m',
  templateM: '--template-length',
  overlappingM: '--overlapping-template-length',
  serialM: '--serial-m',
  approximateEntropyM: '--approximate-entropy-m',
  linearComplexityM: '--linear-complexity-m',
};

/** Returns an error about a parameter that does not suit the sequences with the name of its option, any other as it is. */
export function withOptionName(error: unknown): unknown {
  if (!(error instanceof RangeError || error instanceof CommandError)) return error;
  const { message } = error;
  const named = Object.entries(OPTIONS).find(([name]) => message.startsWith(`"${name}" expected`));
  return named ? new CommandError(message.replace(/^"\w+"/, named[1]), 2) : error;
}
