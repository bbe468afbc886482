/**
 * A known answer of the generator, and how it is worked out: as NIST's DRBG Validation System (DRBGVS) does.
 *
 * A vector instantiates, reseeds if it says so, generates twice and compares the second output. With
 * prediction resistance each generate is a reseed with fresh entropy and the additional input, then a
 * generate without (SP 800-90A Rev. 1 §9.3.1, step 7).
 */
import { CtrDrbg } from './ctr-drbg.ts';

/** The two calls of generate. */
type Pair = readonly [Uint8Array, Uint8Array];

export interface KnownAnswer {
  readonly entropyInput: Uint8Array;
  readonly nonce: Uint8Array;
  readonly personalization: Uint8Array;
  readonly reseed?: { readonly entropyInput: Uint8Array; readonly additionalInput: Uint8Array };
  readonly additionalInput: Pair;
  /** The entropy of each call; only with prediction resistance. */
  readonly freshEntropy?: Pair;
  readonly returnedBits: Uint8Array;
}

/** What the generator returns to a vector. Throws `RangeError` on a length that it does not take. */
export function answerOf(vector: KnownAnswer): Buffer {
  const { reseed, additionalInput, freshEntropy, returnedBits } = vector;
  const drbg = CtrDrbg.instantiate(vector);
  if (reseed) drbg.reseed(reseed.entropyInput, reseed.additionalInput);
  const generate = (call: 0 | 1): Buffer => {
    if (!freshEntropy) return drbg.generate(returnedBits.length, additionalInput[call]);
    drbg.reseed(freshEntropy[call], additionalInput[call]);
    return drbg.generate(returnedBits.length);
  };
  generate(0);
  return generate(1);
}
