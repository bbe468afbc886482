/** `phm stream`: writes the generator's output, as the service's suite judges it, for assessment elsewhere. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, parseCount, untilInterrupted, untilStopped } from '#platform/commands';
import { wipe } from '../bytes.ts';
import { Generator, requireSelfTests, SAMPLE_BITS, sampleStream } from '../keys/index.ts';
import { MODULATION_TYPES, type ModulationType } from '../modulation/index.ts';
import type { CliContext } from './context.ts';

const HELP = `
Without --bits the stream ends when its reader closes the pipe, or with Ctrl-C or SIGTERM. The exit code is then 0.

Each 2^20 bits are the sample of one stream, after nine reseeds. They are drawn like the sample that the
statistical suite judges for a validated key: from the generator, before modulation. They contain no key.

--modulation applies a modulation to this output. Do not judge the generator by the result: phase and amplitude hide a
broken generator from every test.

Examples:
  phm stream --bits 1048576 > one-sample.bin
  phm stream | phm assess - --bits 1048576 --sequences 1000
  phm stream | RNG_test stdin64
  phm stream | dieharder -g 200 -a
`;

interface StreamFlags {
  readonly bits?: number;
  readonly modulation: ModulationType;
}

export function addStreamCommand(program: Command, context: CliContext): void {
  program
    .command('stream')
    .description("write the generator's output to standard output, for assessment elsewhere")
    .addOption(
      new Option('--bits <n>', 'bits to write, a multiple of 8; default: without an end').argParser(
        parseBits,
      ),
    )
    .addOption(
      new Option('--modulation <type>', 'modulation type')
        .choices(MODULATION_TYPES)
        .default('none'),
    )
    .addHelpText('after', HELP)
    .action(({ bits, modulation }: StreamFlags) => {
      refuseTerminal();
      const run = bits === undefined ? untilStopped : untilInterrupted;
      return run((signal) => stream(context, bits ?? Infinity, modulation, signal)).finally(
        context.leaveOutput,
      );
    });
}

function refuseTerminal(): void {
  if (!process.stdout.isTTY) return;
  throw new CommandError(
    'the stream is binary and cannot be written to a terminal: use a pipe (phm stream | dieharder -g 200 -a) or a file',
    2,
  );
}

async function stream(
  context: CliContext,
  bits: number,
  modulation: ModulationType,
  signal: AbortSignal,
): Promise<void> {
  requireSelfTests();
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  try {
    for (let left = bits / 8; left > 0; left -= SAMPLE_BITS / 8) {
      const sample = sampleStream(generator, modulation);
      await write(context, sample.subarray(0, left), signal);
      // Not after an abort: the reader may still take the sample.
      wipe(sample);
      // A file takes each write at once: without a turn of the event loop no signal would arrive.
      await nextTurn();
      signal.throwIfAborted();
    }
  } finally {
    generator.close();
  }
}

/** Writes bytes. Rejects when the signal aborts, even if the reader takes nothing and keeps the pipe open. */
async function write(context: CliContext, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([context.outBytes(bytes), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function parseBits(text: string): number {
  const bits = parseCount(text);
  if (bits % 8 !== 0) throw new InvalidArgumentError('use a multiple of 8.');
  return bits;
}
