/**
 * Computes a known answer of the generator as NIST's DRBG Validation System (DRBGVS) does.
 *
 * A vector instantiates, reseeds if it contains a reseed, generates twice and compares the second
 * output. With prediction resistance each generate is a reseed with fresh entropy and the
 * additional input, then a generate without it (SP 800-90A Rev. 1 §9.3.1, step 7).
 */
import { CtrDrbg } from './ctr-drbg.ts';

/** Inputs of the two generate calls. */
type Pair = readonly [Uint8Array, Uint8Array];

export interface KnownAnswer {
  readonly entropyInput: Uint8Array;
  readonly nonce: Uint8Array;
  readonly personalization: Uint8Array;
  readonly reseed?: { readonly entropyInput: Uint8Array; readonly additionalInput: Uint8Array };
  readonly additionalInput: Pair;
  /** Entropy input of each call; only with prediction resistance. */
  readonly freshEntropy?: Pair;
  readonly returnedBits: Uint8Array;
}

/** Returns the generator's output for a vector. Throws `RangeError` on an invalid length. */
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
