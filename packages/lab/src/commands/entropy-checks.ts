/** What `phm assess-entropy` refuses and warns of before it assesses. */

import { CommandError } from '../../../platform/src/commands/index.ts';
import { bitsOfGreatest } from '../../../sp800-90b/src/index.ts';
import type { EntropyRunFlags } from '../entropy/run.ts';
import { fewPairsWarning, formWarning, tooFewWarning } from '../entropy/warnings.ts';
import type { ReportFields } from '../report/identity.ts';
import {
  assertMatrix,
  assertTestable,
  assertTruncatable,
  type ReadSamples,
  type SampleFlags,
} from './entropy-samples.ts';

export interface EntropyFlags extends SampleFlags, Omit<EntropyRunFlags, 'seed'>, ReportFields {
  /** Drawn if it is not given. */
  readonly seed?: string;
  readonly restart?: boolean;
  readonly json?: boolean;
  readonly html?: string;
  readonly fail?: boolean;
}

/** Refuses options that contradict each other, or that would have no effect. */
export function assertOptionsFit(flags: EntropyFlags): void {
  const { seed, iid, packed, bitsPerSymbol = 1, conditioned, restart = false, truncate } = flags;
  if (restart !== (flags.initialEntropy !== undefined)) {
    throw new CommandError('--restart and --initial-entropy need each other: use both or none', 2);
  }
  if (seed !== undefined && !iid) throw new CommandError('--seed needs --iid', 2);
  if (packed && bitsPerSymbol !== 1) {
    throw new CommandError('--packed samples have 1 bit: leave out --bits-per-symbol', 2);
  }
  if (restart && (conditioned || truncate)) {
    throw new CommandError(
      '--restart reads raw symbols: leave out --conditioned and --truncate',
      2,
    );
  }
  if (flags.fail && !iid && !restart) {
    throw new CommandError('--fail needs --iid or --restart: nothing else can fail', 2);
  }
  if (conditioned && flags.submitterEntropy !== undefined) {
    throw new CommandError("--conditioned computes h', which --submitter-entropy cannot limit", 2);
  }
  const { initialEntropy = 0, submitterEntropy = Infinity } = flags;
  if (initialEntropy > submitterEntropy) {
    throw new CommandError(
      `--initial-entropy is H_I, at most --submitter-entropy, ${submitterEntropy} (SP 800-90B §3.1.3); got ${initialEntropy}`,
      2,
    );
  }
}

/** Refuses samples for which an option cannot work or has no effect. */
export function assertSamplesFit(file: string, samples: Uint8Array, flags: EntropyFlags): void {
  if (flags.restart) assertMatrix(file, samples);
  if (flags.iid) assertTestable(file, samples);
  if (flags.truncate && !flags.conditioned) assertTruncatable(samples);
  assertWithinSymbol('--initial-entropy', flags.initialEntropy, samples, flags);
  assertWithinSymbol('--submitter-entropy', flags.submitterEntropy, samples, flags);
}

/** Refuses more bits per symbol than a symbol has. */
function assertWithinSymbol(
  option: string,
  entropy: number | undefined,
  samples: Uint8Array,
  { packed, bitsPerSymbol }: EntropyFlags,
): void {
  if (entropy === undefined) return;
  const given = packed ? 1 : bitsPerSymbol;
  const width = given ?? bitsOfGreatest(samples);
  if (entropy <= width) return;
  const limit =
    given === undefined
      ? 'the bits of the greatest sample, or give the bits of a symbol as --bits-per-symbol'
      : 'the bits of a symbol';
  throw new CommandError(
    `${option} is in bits per symbol: use at most ${width}, ${limit}; got ${entropy}`,
    2,
  );
}

/** Returns warnings of samples that look like another form, and of too few. `name` is that of the input. */
export function sampleWarnings(
  name: string,
  { samples, looksLike }: ReadSamples,
  { packed = false, iid, conditioned }: EntropyFlags,
): string[] {
  return [
    looksLike && formWarning(name, looksLike, packed),
    tooFewWarning(samples.length),
    // The bits of conditioned output have two values only.
    iid && !conditioned ? fewPairsWarning(samples) : null,
  ].filter((warning) => warning !== null);
}
