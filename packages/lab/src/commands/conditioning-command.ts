/** `phm assess-conditioning`: the entropy of conditioned output by SP 800-90B. */

import { type Command, InvalidArgumentError } from 'commander';
import { CommandError, parseCountTo, writeJson } from '../../../platform/src/commands/index.ts';
import { conditioningReport } from '../entropy/conditioning.ts';
import { textOf } from '../report/text.ts';
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
  const made = { software: context.software(), created: creationTime(context) };
  const { text, json } = conditioningReport(input, hPrime, made);
  if (flags.json) writeJson(context, json);
  else context.outText(textOf(text));
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (!/^[0-9.]+$/.test(text) || !(value > 0)) {
    throw new InvalidArgumentError('use a number above 0, such as 307.2.');
  }
  return value;
}
