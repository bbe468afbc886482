/** Runs the assessment that the options of `phm assess-entropy` ask for. */

import { randomBytes } from 'node:crypto';
import { grouped } from '../../../sp800-22/src/index.ts';
import {
  assessConditioned,
  assessIid,
  assessIidRestarts,
  assessNonIid,
  assessRestarts,
  type EstimatorProgress,
  type IidProgress,
  STATISTIC_NAMES,
} from '../../../sp800-90b/src/index.ts';
import { estimatorText } from './estimators.ts';
import { iidReport, iidRestartReport } from './iid.ts';
import type { EntropyReport } from './model.ts';
import { conditionedReport, nonIidReport } from './non-iid.ts';
import { PermutationPool } from './permutation-pool.ts';
import { restartReport } from './restarts.ts';

export interface EntropyRunFlags {
  readonly bitsPerSymbol?: number;
  readonly packed?: boolean;
  readonly truncate?: boolean;
  readonly conditioned?: boolean;
  readonly submitterEntropy?: number;
  readonly initialEntropy?: number;
  readonly iid?: boolean;
  /** Of the permutations. Only the IID track makes any. */
  readonly seed: string;
  readonly threads: number;
}

/** Where the progress is shown. */
interface Progress {
  show(text: string): void;
}

/** Bits that --truncate leaves, as in NIST's programs. */
const TRUNCATED_BITS = 1_000_000;

/** 128 bits, all that the generator of the permutations takes. */
const SEED_BYTES = 16;

/** Returns a random seed of the permutations. */
export function drawSeed(): string {
  return randomBytes(SEED_BYTES).toString('hex');
}

export function assessSamples(
  samples: Uint8Array,
  flags: EntropyRunFlags,
  progress: Progress,
): Promise<EntropyReport> {
  return flags.iid
    ? assessOnIidTrack(samples, flags, progress)
    : Promise.resolve(assessOnNonIidTrack(samples, flags, progress));
}

function sizesOf({ bitsPerSymbol, packed = false, truncate = false }: EntropyRunFlags): {
  bitsPerSymbol?: number;
  bitstringLimit?: number;
} {
  const width = packed ? 1 : bitsPerSymbol;
  return {
    ...(width !== undefined && { bitsPerSymbol: width }),
    ...(truncate && { bitstringLimit: TRUNCATED_BITS }),
  };
}

function assessOnNonIidTrack(
  samples: Uint8Array,
  flags: EntropyRunFlags,
  progress: Progress,
): EntropyReport {
  const onProgress = (state: EstimatorProgress): void => progress.show(estimatorText(state));
  const options = { ...sizesOf(flags), onProgress };
  const { initialEntropy, submitterEntropy } = flags;
  if (flags.conditioned) return conditionedReport(assessConditioned(samples, options));
  if (initialEntropy === undefined) {
    return nonIidReport(assessNonIid(samples, options), submitterEntropy);
  }
  const restarts = { ...options, initialMinEntropy: initialEntropy };
  return restartReport(assessRestarts(samples, restarts), submitterEntropy);
}

async function assessOnIidTrack(
  samples: Uint8Array,
  flags: EntropyRunFlags,
  progress: Progress,
): Promise<EntropyReport> {
  const { seed, threads, initialEntropy, submitterEntropy, conditioned = false } = flags;
  const openRunner = (data: Uint8Array): PermutationPool => new PermutationPool(data, threads);
  const onProgress = (state: IidProgress, input = 'samples'): void =>
    progress.show(iidProgressText(state, input));
  const options = { ...sizesOf(flags), seed, openRunner };
  if (initialEntropy === undefined) {
    const show = (state: IidProgress): void => onProgress(state, conditioned ? 'bits' : 'samples');
    const all = { ...options, conditioned, onProgress: show };
    return iidReport(await assessIid(samples, all), submitterEntropy);
  }
  const restarts = { ...options, initialMinEntropy: initialEntropy, onProgress };
  return iidRestartReport(await assessIidRestarts(samples, restarts), submitterEntropy);
}

function iidProgressText({ test, permutation }: IidProgress, input: string): string {
  if (test !== 'permutation') return `${test.replaceAll('_', ' ')}, on ${input}`;
  const { permutations, passed } = permutation;
  return `${grouped(permutations)} permutations of ${input}, ${passed} of ${STATISTIC_NAMES.length} statistics passed`;
}
