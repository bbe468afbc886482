/** `phm assess-conditioning`: the entropy of conditioned output by SP 800-90B. */

import { type Command, InvalidArgumentError } from 'commander';
import { CommandError, parseCountTo, writeJson } from '../../../platform/src/commands/index.ts';
import {
  assessConditioning,
  type Conditioning,
  type ConditioningInput,
} from '../../../sp800-90b/src/index.ts';
import { alignColumns } from '../report/text.ts';
import type { LabContext } from './context.ts';
import { creationTime } from './trace.ts';

interface ConditioningFlags {
  readonly nIn: number;
  readonly nOut: number;
  readonly nw: number;
  readonly hIn: number;
  readonly nonVetted?: boolean;
  readonly hPrime?: number;
  readonly json?: boolean;
}

/** Greatest number of bits, as in NIST's program. */
const MAX_BITS = 2 ** 32 - 1;

/** Above this share of n_out, it matters how close the output is to full entropy. */
const NEARLY_FULL = 0.999;

const help = (name: string): string => `
A vetted component (a hash, HMAC, CMAC, CBC-MAC or derivation function of SP 800-90B section 3.1.5.1.1, validated) has
h_out = Output_Entropy(n_in, n_out, nw, h_in). With --non-vetted, h_out is at most 0.999 n_out and h' n_out, where h' is
what "${name} assess-entropy --conditioned" finds in 1,000,000 bits of its output. NIST's ea_conditioning gives the same figures.

Example: SHA-256 on 512 samples of 1 bit, each with 0.6 bits of entropy:
  ${name} assess-conditioning --n-in 512 --n-out 256 --nw 256 --h-in 307.2
`;

export function addAssessConditioningCommand(program: Command, context: LabContext): void {
  program
    .command('assess-conditioning')
    .description('compute the entropy of the output of a conditioning component by SP 800-90B')
    .requiredOption('--n-in <bits>', 'bits of an input', parseCountTo(MAX_BITS))
    .requiredOption('--n-out <bits>', 'bits of an output', parseCountTo(MAX_BITS))
    .requiredOption('--nw <bits>', 'narrowest internal width', parseCountTo(MAX_BITS))
    .requiredOption('--h-in <bits>', 'entropy of an input, at most --n-in', parsePositive)
    .option('--non-vetted', 'the component is not vetted; needs --h-prime')
    .option('--h-prime <h>', "h': entropy per bit of conditioned output, at most 1", parsePositive)
    .option('--json', 'write the figures as JSON')
    .addHelpText('after', help(context.name))
    .action((flags: ConditioningFlags) => run(flags, context));
}

function run(flags: ConditioningFlags, context: LabContext): void {
  const { nIn, nOut, nw, hIn, nonVetted = false, hPrime } = flags;
  if (nonVetted !== (hPrime !== undefined)) {
    throw new CommandError('--non-vetted and --h-prime need each other: use both or none', 2);
  }
  if (hIn > nIn) throw new CommandError(`--h-in is ${hIn}: use at most --n-in, ${nIn}`, 2);
  if (hPrime !== undefined && hPrime > 1) {
    throw new CommandError(`--h-prime is ${hPrime}: use at most 1, bits per bit of output`, 2);
  }
  const input = { inputBits: nIn, outputBits: nOut, narrowestWidth: nw, inputEntropy: hIn };
  const result = assessConditioning(input, hPrime);
  const created = creationTime(context);
  const { program, build } = context.software();
  if (flags.json) {
    const trace = { program, software: { build }, created };
    writeJson(context, { ...conditioningJson(input, hPrime, result), ...trace });
    return;
  }
  context.outText(conditioningText(input, hPrime, result));
  const rows = [
    ['Program', `${program}, ${build}`],
    ['Created', created],
  ];
  context.outText(`\n${alignColumns(rows).join('\n')}\n`);
}

function isNearlyFull({ outputBits }: ConditioningInput, { outputEntropy }: Conditioning): boolean {
  return outputEntropy > NEARLY_FULL * outputBits;
}

function conditioningText(
  input: ConditioningInput,
  hPrime: number | undefined,
  result: Conditioning,
): string {
  const { inputBits, outputBits, narrowestWidth, inputEntropy } = input;
  const { outputEntropy, fullEntropyExponent, hOut } = result;
  const rows = [
    ['n_in', `${inputBits}`],
    ['n_out', `${outputBits}`],
    ['nw', `${narrowestWidth}`],
    ['h_in', `${inputEntropy}`],
    ['Output_Entropy', figure(outputEntropy)],
  ];
  if (hPrime !== undefined) {
    rows.push(['0.999 n_out', figure(NEARLY_FULL * outputBits)]);
    rows.push(["h' n_out", figure(hPrime * outputBits)]);
  } else if (isNearlyFull(input, result)) {
    rows.push(['epsilon', `2^-${fullEntropyExponent.toFixed(3)}, for (1 - epsilon) n_out`]);
  }
  const kind = hPrime === undefined ? 'vetted' : 'not vetted';
  rows.push(['h_out', `${figure(hOut)} bits, ${figure(hOut / outputBits)} per bit (${kind})`]);
  return `${alignColumns(rows).join('\n')}\n`;
}

function figure(bits: number): string {
  return bits.toFixed(6);
}

function conditioningJson(
  input: ConditioningInput,
  hPrime: number | undefined,
  result: Conditioning,
): Record<string, unknown> {
  return {
    vetted: hPrime === undefined,
    n_in: input.inputBits,
    n_out: input.outputBits,
    nw: input.narrowestWidth,
    h_in: input.inputEntropy,
    h_prime: hPrime ?? null,
    output_entropy: result.outputEntropy,
    full_entropy_exponent: isNearlyFull(input, result) ? result.fullEntropyExponent : null,
    h_out: result.hOut,
  };
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (!/^[0-9.]+$/.test(text) || !(value > 0)) {
    throw new InvalidArgumentError('use a number above 0, such as 307.2.');
  }
  return value;
}
