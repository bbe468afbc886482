/** `phm stream`: writes the generator's output, as the service's suite judges it, for assessment elsewhere. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { wipe } from '../bytes.ts';
import { Generator, requireSelfTests, SAMPLE_BITS, sampleStream } from '../keys/index.ts';
import { MODULATION_TYPES, type ModulationType } from '../modulation/index.ts';
import type { CliContext } from './context.ts';
import { untilInterrupted } from './interruption.ts';
import { parseCount } from './parse-count.ts';

const HELP = `
Each 2^20 bits are the sample of one stream, after a separate reseed. They are drawn like the sample that the
statistical suite judges for a validated key: from the generator, before modulation. They contain no key.

--modulation applies a modulation to this output. Do not judge the generator by the result: phase and amplitude hide a
broken generator from every test.

Examples:
  phm stream --bits 1048576 > one-sample.bin
  phm stream --bits 1048576000 | phm assess - --bits 1048576 --sequences 1000
`;

export function addStreamCommand(program: Command, context: CliContext): void {
  program
    .command('stream')
    .description("write the generator's output to standard output, for assessment elsewhere")
    .addOption(
      new Option('--bits <n>', 'bits to write, a multiple of 8')
        .argParser(parseBits)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--modulation <type>', 'modulation type')
        .choices(MODULATION_TYPES)
        .default('none'),
    )
    .addHelpText('after', HELP)
    .action((options: { bits: number; modulation: ModulationType }) =>
      untilInterrupted((signal) => stream(context, options, signal)),
    );
}

async function stream(
  context: CliContext,
  { bits, modulation }: { bits: number; modulation: ModulationType },
  signal: AbortSignal,
): Promise<void> {
  requireSelfTests();
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  try {
    for (let left = bits / 8; left > 0; left -= SAMPLE_BITS / 8) {
      signal.throwIfAborted();
      const sample = sampleStream(generator, modulation);
      try {
        await context.outBytes(sample.subarray(0, left));
      } finally {
        wipe(sample);
      }
    }
  } finally {
    generator.close();
  }
}

function parseBits(text: string): number {
  const bits = parseCount(text);
  if (bits % 8 !== 0) throw new InvalidArgumentError('use a multiple of 8.');
  return bits;
}
