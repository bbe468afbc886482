/** Estimates the min-entropy of a file's samples, as `phm assess-entropy` does. */

import { openReader } from '../../../../packages/sp800-22/src/assess/index.ts';
import { Sha256 } from '../../../../packages/sp800-22/src/sha256.ts';
import { assessNonIid, type EstimatorProgress } from '../../../../packages/sp800-90b/src/index.ts';
import { claimJson, claimText, initialClaim } from '../../../../src/cli/assess/entropy-claim.ts';
import { entropyJson, formatEntropyText } from '../../../../src/cli/assess/entropy-report.ts';
import { PROGRAM } from './build-facts.ts';
import type { EntropyRequest, EntropyResult } from './messages.ts';
import { formatOf } from './run.ts';
import { openSource } from './source.ts';

/** SP 800-90B §3.1.1 asks for so many samples. More would take minutes. */
export const MAX_SAMPLES = 1_000_000;

export async function estimateEntropy(
  { file, recipe, bitsPerSymbol }: EntropyRequest,
  onProgress: (progress: EstimatorProgress) => void,
): Promise<EntropyResult> {
  const reader = openReader(openSource(file, recipe), formatOf(recipe));
  const isPacked = bitsPerSymbol === 1;
  const { bytes, bits } = await reader.readSequence(MAX_SAMPLES * (isPacked ? 1 : 8));
  await reader.close();
  const samples = isPacked ? unpack(bytes, bits) : bytes.subarray(0, bits >>> 3);
  const result = assessNonIid(samples, isPacked ? { bitsPerSymbol, onProgress } : { onProgress });
  const claim = initialClaim(undefined, result.minEntropyPerSymbol);
  const hash = new Sha256();
  hash.update(samples);
  const input = {
    name: file.name,
    samples: samples.length,
    sha256: hash.hex(),
    subset: null,
    packed: isPacked,
    program: PROGRAM,
  };
  const json = `${JSON.stringify({ input, ...entropyJson(result), ...claimJson(claim) })}\n`;
  const text = `${formatEntropyText(result)}${claimText(claim)}`;
  return { kind: 'entropy', text, json };
}

function unpack(bytes: Uint8Array, bits: number): Uint8Array {
  return Uint8Array.from(
    { length: bits },
    (_, i) => ((bytes[i >>> 3] as number) >>> (7 - (i & 7))) & 1,
  );
}
