/**
 * Conditioning: SHA-256 turns tested samples into one draw.
 *
 * NIST SP 800-90B §3.1.5.1.1 lists the approved hash functions among the vetted conditioning
 * components. With h_in ≥ 256 bits of claimed min-entropy and n_out = nw = 256, the formula of
 * §3.1.5.1.2 gives more than 251 bits of output, however long the input. The credit is 192 bits,
 * because SP 800-90C §3.2.2.2 asks for n + 64 bits of input for n bits of full-entropy output. A
 * draw of 256 bits is not full-entropy output.
 */
import { createHash } from 'node:crypto';
import { newBytes, wipe } from '../bytes.ts';

/** Length of one conditioned draw in bytes. */
export const POOLED_DRAW_BYTES = 32;

/** Claimed min-entropy of the samples for one draw, in bits: the credit and 64 bits of headroom. */
export const CONDITIONED_INPUT_BITS = 256;

/** Min-entropy credited to one draw of a credited source, in bits. */
export const POOLED_CREDIT_BITS = 192;

/** Returns one draw from samples that hold `CONDITIONED_INPUT_BITS` of claimed min-entropy. */
export function condition(samples: Uint8Array): Buffer {
  const draw = newBytes(POOLED_DRAW_BYTES);
  const digest = createHash('sha256').update(samples).digest();
  draw.set(digest);
  wipe(digest);
  return draw;
}
