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
import { type EntropyClaim, initialClaim } from './claim.ts';
import { estimatorText } from './estimators.ts';
import {
  formatIidRestartText,
  formatIidText,
  iidJson,
  iidPage,
  iidRestartJson,
  iidRestartPage,
} from './iid.ts';
import {
  conditionedJson,
  conditionedPage,
  formatConditionedText,
  nonIidResult,
} from './non-iid.ts';
import { PermutationPool } from './permutation-pool.ts';
import type { EntropyResult } from './report.ts';
import { formatRestartText, restartJson, restartPage } from './restarts.ts';

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
): Promise<EntropyResult> {
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
): EntropyResult {
  const onProgress = (state: EstimatorProgress): void => progress.show(estimatorText(state));
  const options = { ...sizesOf(flags), onProgress };
  const { initialEntropy, submitterEntropy } = flags;
  if (flags.conditioned) {
    const result = assessConditioned(samples, options);
    return {
      text: () => formatConditionedText(result),
      json: () => conditionedJson(result),
      claim: null,
      page: () => conditionedPage(result),
    };
  }
  if (initialEntropy === undefined) {
    return nonIidResult(assessNonIid(samples, options), submitterEntropy);
  }
  const result = assessRestarts(samples, { ...options, initialMinEntropy: initialEntropy });
  const claim = restartClaim(flags, initialEntropy, result.minEntropyPerSymbol);
  return {
    text: () => formatRestartText(result),
    json: () => restartJson(result),
    claim,
    page: () => restartPage(result),
  };
}

async function assessOnIidTrack(
  samples: Uint8Array,
  flags: EntropyRunFlags,
  progress: Progress,
): Promise<EntropyResult> {
  const { seed, threads, initialEntropy, submitterEntropy, conditioned = false } = flags;
  const openRunner = (data: Uint8Array): PermutationPool => new PermutationPool(data, threads);
  const onProgress = (state: IidProgress, input = 'samples'): void =>
    progress.show(iidProgressText(state, input));
  const options = { ...sizesOf(flags), seed, openRunner };
  if (initialEntropy === undefined) {
    const show = (state: IidProgress): void => onProgress(state, conditioned ? 'bits' : 'samples');
    const result = await assessIid(samples, { ...options, conditioned, onProgress: show });
    const claim = conditioned ? null : initialClaim(submitterEntropy, result.minEntropyPerSymbol);
    const form = { conditioned };
    return {
      text: () => formatIidText(result, form),
      json: () => iidJson(result, form),
      claim,
      page: () => iidPage(result, form),
    };
  }
  const restarts = { ...options, initialMinEntropy: initialEntropy, onProgress };
  const result = await assessIidRestarts(samples, restarts);
  const claim = restartClaim(flags, initialEntropy, result.minEntropyPerSymbol);
  return {
    text: () => formatIidRestartText(result),
    json: () => iidRestartJson(result),
    claim,
    page: () => iidRestartPage(result),
  };
}

function restartClaim(
  { submitterEntropy }: EntropyRunFlags,
  hInitial: number,
  assessed: number | null,
): EntropyClaim {
  return { hSubmitter: submitterEntropy ?? null, hInitial, assessed };
}

function iidProgressText({ test, permutation }: IidProgress, input: string): string {
  if (test !== 'permutation') return `${test.replaceAll('_', ' ')}, on ${input}`;
  const { permutations, passed } = permutation;
  return `${grouped(permutations)} permutations of ${input}, ${passed} of ${STATISTIC_NAMES.length} statistics passed`;
}
