/** `phm assess-entropy`: runs either track of SP 800-90B, or its restart tests, on a file of samples. */

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, parseCountTo } from '../../../platform/src/commands/index.ts';
import { entropyForms } from '../entropy/report.ts';
import { assessSamples, drawSeed } from '../entropy/run.ts';
import { type EntropyTrace, entropyTrace } from '../entropy/trace.ts';
import { checkFields } from '../report/identity.ts';
import type { Software } from '../report/trace.ts';
import type { LabContext } from './context.ts';
import {
  assertOptionsFit,
  assertSamplesFit,
  type EntropyFlags,
  sampleWarnings,
} from './entropy-checks.ts';
import {
  MAX_BITS_PER_SYMBOL,
  parseSubset,
  type ReadSamples,
  readSamples,
} from './entropy-samples.ts';
import { formatOption } from './format-option.ts';
import { inputName, itemName } from './input-name.ts';
import { claimPagePath, replaceFile } from './page-file.ts';
import { addReportOptions } from './report-options.ts';
import { creationTime } from './trace.ts';

/** More than any machine has cores. */
const MAX_THREADS = 256;

const help = (name: string): string => `
The input is at least 1,000,000 consecutive raw samples of a noise source, of at most 8 bits: one sample per byte, in its
low bits, as in NIST's program, or as --format says; "${name} assess --help" lists the forms. The result is an estimate that assumes nothing about the source. It does not prove entropy: the
output of any good generator gets a high estimate.

--iid takes the IID track instead, for samples that are independent and identically distributed: it tests whether
they look so, by up to 10,000 permutations, and estimates from the most common value alone. The same --seed gives the
same result with any number of threads.

--conditioned computes h' of section 3.1.5.2 from output of a conditioning component, for "${name} assess-conditioning".
--subset and --truncate are -l and -t of NIST's programs.

--restart reads a matrix of 1000 x 1000 samples instead, restart by restart, and compares it with the entropy from
an earlier assessment (SP 800-90B section 3.1.4). The exit code is 0 if the command worked, whatever the result;
--fail changes that.
`;

export function addAssessEntropyCommand(
  program: Command,
  context: LabContext,
  onExitCode: (exitCode: number) => void,
): void {
  const command = program
    .command('assess-entropy <file>')
    .description('estimate the min-entropy of noise samples in a file or "-" (stdin) by SP 800-90B')
    .option(
      '--bits-per-symbol <n>',
      'bits per sample, 1 to 8; default: the bits of the largest sample',
      parseBitsPerSymbol,
    )
    .option(
      '--packed',
      'the input holds eight 1-bit samples per byte, the most significant bit first',
    )
    .option(
      '--subset <index,samples>',
      'read only the part with this index, from 0, of so many samples',
      parseSubset,
    )
    .addOption(formatOption())
    .option('--truncate', 'assess only the first 1,000,000 bits of the bit string')
    .option('--conditioned', "compute h' of conditioned output, from its bits")
    .option(
      '--submitter-entropy <h>',
      "H_submitter, the designer's claim in bits per symbol",
      parseEntropy,
    )
    .option('--iid', 'test whether the samples are IID, and take the IID track')
    .option(
      '--seed <hex>',
      'seed of the permutations for --iid, 1 to 32 hexadecimal digits; default: random',
      parseSeed,
    )
    .addOption(
      new Option('--threads <n>', 'permutations to make at once for --iid')
        .argParser(parseCountTo(MAX_THREADS))
        .default(availableParallelism(), 'all cores'),
    )
    .option('--restart', 'run the restart tests on a matrix of 1000 x 1000 samples')
    .option(
      '--initial-entropy <h>',
      'bits per symbol from an earlier assessment, for --restart',
      parseEntropy,
    )
    .option('--json', 'write the figures of every estimator as JSON')
    .option('--html <file>', 'also write the report as a web page')
    .option('--fail', 'exit with code 1 if a test of --iid or --restart says FAILED')
    .addHelpText('after', help(context.name))
    .action(async (file: string, given: EntropyFlags, self: Command) => {
      if (!given.iid && self.getOptionValueSource('threads') === 'cli') {
        throw new CommandError('--threads needs --iid', 2);
      }
      const passed = await run(file, given, context);
      if (given.fail && passed === false) onExitCode(1);
    });
  addReportOptions(command);
}

/** Returns whether the tests passed; null if there were none. */
async function run(
  file: string,
  given: EntropyFlags,
  context: LabContext,
): Promise<boolean | null> {
  assertOptionsFit(given);
  const flags = { ...given, seed: given.seed ?? drawSeed() };
  const created = creationTime(context);
  const target = flags.html === undefined ? null : claimPagePath(flags.html, file);
  const read = await readSamples(file, flags, context.launcher);
  const { samples } = read;
  const progress = context.status;
  try {
    assertSamplesFit(file, samples, flags);
    for (const warning of sampleWarnings(inputName(file), read, flags)) context.err(warning);
    const report = await assessSamples(samples, flags, progress);
    progress.clear();
    const trace = traceOf(file, read, flags, { created, ...context.software() });
    const warnings = sampleWarnings(itemName(file), read, flags);
    const { text, json, html } = entropyForms(trace, report, warnings);
    context.outText(flags.json ? json : text);
    if (target !== null) replaceFile(target, html);
    return report.page.passed;
  } finally {
    progress.clear();
    samples.fill(0);
  }
}

function traceOf(
  file: string,
  { samples, input }: ReadSamples,
  flags: EntropyFlags,
  { created, program, build }: Software & { created: string },
): EntropyTrace {
  return entropyTrace({
    report: checkFields(flags),
    input: {
      name: itemName(file),
      size: input.sizeBytes ?? null,
      bytes: input.bytes,
      bytes_sha256: input.sha256,
      format: input.format,
      samples: samples.length,
      sha256: createHash('sha256').update(samples).digest('hex'),
      subset: flags.subset ?? null,
      packed: flags.packed ?? false,
      program,
    },
    flags,
    build,
    created,
  });
}

function parseBitsPerSymbol(text: string): number {
  if (!/^[1-8]$/.test(text)) throw new InvalidArgumentError('use a whole number from 1 to 8.');
  return Number(text);
}

function parseSeed(text: string): string {
  if (!/^[0-9a-f]{1,32}$/i.test(text)) {
    throw new InvalidArgumentError('use 1 to 32 hexadecimal digits.');
  }
  return text.toLowerCase();
}

function parseEntropy(text: string): number {
  const entropy = Number(text);
  if (!/^[0-9.]+$/.test(text) || !(entropy > 0 && entropy <= MAX_BITS_PER_SYMBOL)) {
    throw new InvalidArgumentError('use a number of bits above 0 and at most 8, such as 7.2.');
  }
  return entropy;
}
