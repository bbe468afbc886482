/** `phm assess-entropy`: runs the non-IID track or the restart tests of SP 800-90B on a file of samples. */
import { type Command, InvalidArgumentError } from 'commander';
import { grouped } from '#sp800-22/report';
import {
  assessNonIid,
  assessRestarts,
  type EstimatorProgress,
  firstTooWide,
  MAX_ASSESSED_BITS,
  RESTARTS,
} from '#sp800-90b';
import { wipe } from '../../bytes.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, writeJson } from '../context.ts';
import { terminalLine } from '../status-line.ts';
import {
  entropyJson,
  formatEntropyText,
  formatRestartText,
  restartJson,
  tooFewWarning,
} from './entropy-report.ts';
import { inputName, openInput } from './input.ts';

interface EntropyFlags {
  readonly bitsPerSymbol?: number;
  readonly restart?: boolean;
  readonly initialEntropy?: number;
  readonly json?: boolean;
}

const MAX_BITS_PER_SYMBOL = 8;

const HELP = `
The input is at least 1,000,000 consecutive raw samples of a noise source: one sample per byte, in its low bits, as
in NIST's program. The result is an estimate that assumes nothing about the source. It does not prove entropy: the
output of any good generator gets a high estimate.

--restart reads a matrix of 1000 x 1000 samples instead, restart by restart, and compares it with the entropy from
an earlier assessment (SP 800-90B section 3.1.4). The exit code is 0 if the command worked, whatever the result.
`;

export function addAssessEntropyCommand(program: Command, context: CliContext): void {
  program
    .command('assess-entropy <file>')
    .description('estimate the min-entropy of noise samples in a file or "-" (stdin) by SP 800-90B')
    .option(
      '--bits-per-symbol <n>',
      'bits per sample, 1 to 8; default: the bits of the largest sample',
      parseBitsPerSymbol,
    )
    .option('--restart', 'run the restart tests on a matrix of 1000 x 1000 samples')
    .option(
      '--initial-entropy <h>',
      'bits per symbol from an earlier assessment, for --restart',
      parseEntropy,
    )
    .option('--json', 'write the figures of every estimator as JSON')
    .addHelpText('after', HELP)
    .action((file: string, flags: EntropyFlags) => run(file, flags, context));
}

async function run(file: string, flags: EntropyFlags, context: CliContext): Promise<void> {
  const { restart = false, initialEntropy } = flags;
  if (restart !== (initialEntropy !== undefined)) {
    throw new CommandError('--restart and --initial-entropy need each other: use both or none', 2);
  }
  const samples = await readSamples(file, flags.bitsPerSymbol);
  const progress = terminalLine(context.err);
  const onProgress = (state: EstimatorProgress): void => progress.show(estimatorText(state));
  const bits = flags.bitsPerSymbol === undefined ? {} : { bitsPerSymbol: flags.bitsPerSymbol };
  try {
    refuseTooWide(file, samples, flags.bitsPerSymbol);
    if (initialEntropy === undefined) {
      const warning = tooFewWarning(samples.length);
      if (warning) context.err(warning);
      const assessment = assessNonIid(samples, { ...bits, onProgress });
      progress.clear();
      if (flags.json) writeJson(context, entropyJson(assessment));
      else context.out(formatEntropyText(assessment));
    } else {
      assertMatrix(file, samples, flags);
      const options = { ...bits, initialMinEntropy: initialEntropy, onProgress };
      const assessment = assessRestarts(samples, options);
      progress.clear();
      if (flags.json) writeJson(context, restartJson(assessment));
      else context.out(formatRestartText(assessment));
    }
  } finally {
    progress.clear();
    wipe(samples);
  }
}

/** Reads all samples of the input, which the caller MUST wipe. */
async function readSamples(
  file: string,
  bitsPerSymbol: number = MAX_BITS_PER_SYMBOL,
): Promise<Uint8Array> {
  const name = inputName(file);
  const limit = Math.floor(MAX_ASSESSED_BITS / bitsPerSymbol);
  const reader = await openInput(file, 'binary');
  try {
    const size = Math.min(reader.sizeBytes ?? limit, limit);
    // One extra byte reveals an input that is too long.
    const { bytes, bits } = await reader.readSequence((size + 1) * 8);
    const samples = bytes.subarray(0, bits / 8);
    if (samples.length > limit) {
      wipe(samples);
      throw new CommandError(
        `${name} contains more than ${grouped(limit)} samples; shorten it, e.g. with head -c ${limit}`,
        1,
      );
    }
    if (samples.length < 2) throw new CommandError(`${name} contains fewer than 2 samples`, 1);
    return samples;
  } finally {
    await reader.close();
  }
}

function refuseTooWide(
  file: string,
  samples: Uint8Array,
  bitsPerSymbol: number = MAX_BITS_PER_SYMBOL,
): void {
  const offset = firstTooWide(samples, bitsPerSymbol);
  if (offset < 0) return;
  throw new CommandError(
    `${inputName(file)}: the sample at offset ${offset} has more than ${bitsPerSymbol} bits; raise --bits-per-symbol, or write one sample per byte, in its low bits`,
    1,
  );
}

function assertMatrix(
  file: string,
  samples: Uint8Array,
  { bitsPerSymbol = MAX_BITS_PER_SYMBOL, initialEntropy = 0 }: EntropyFlags,
): void {
  const wanted = RESTARTS * RESTARTS;
  if (samples.length !== wanted) {
    throw new CommandError(
      `${inputName(file)} contains ${grouped(samples.length)} samples; --restart needs exactly ${grouped(wanted)}: ${grouped(RESTARTS)} from each of ${grouped(RESTARTS)} restarts`,
      1,
    );
  }
  if (initialEntropy > bitsPerSymbol) {
    throw new CommandError(
      `--initial-entropy is in bits per symbol: use at most --bits-per-symbol, ${bitsPerSymbol}`,
      2,
    );
  }
}

/** Returns the progress line of the estimators. */
export function estimatorText({ estimator, input, finished, total }: EstimatorProgress): string {
  return `${finished + 1} of ${total}: ${estimator.replaceAll('_', ' ')}, on ${input}`;
}

function parseBitsPerSymbol(text: string): number {
  if (!/^[1-8]$/.test(text)) throw new InvalidArgumentError('use a whole number from 1 to 8.');
  return Number(text);
}

function parseEntropy(text: string): number {
  const entropy = Number(text);
  if (!/^[0-9.]+$/.test(text) || !(entropy > 0 && entropy <= MAX_BITS_PER_SYMBOL)) {
    throw new InvalidArgumentError('use a number of bits above 0 and at most 8, such as 7.2.');
  }
  return entropy;
}
