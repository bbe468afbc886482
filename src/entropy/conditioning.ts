/**
 * Conditioning: tested samples in, one draw out, by SHA-256.
 *
 * NIST SP 800-90B §3.1.5.1.1 lists the approved hash functions among the vetted conditioning
 * components. With h_in ≥ 256 bits of claimed min-entropy and n_out = nw = 256 the formula of
 * §3.1.5.1.2 gives more than 251 bits of output, however long the input. Credited are 192: SP 800-90C
 * §3.2.2.2 asks for n + 64 bits of input for n bits of full-entropy output. A draw of 256 bits is none.
 */
import { createHash } from 'node:crypto';
import { wipe } from '../bytes.ts';

/** Bytes of one conditioned draw. */
export const POOLED_DRAW_BYTES = 32;

/** Claimed min-entropy that goes into one draw, in bits: the credit and 64 bits of headroom. */
export const CONDITIONED_INPUT_BITS = 256;

/** Min-entropy credited to one draw of a credited source, in bits. */
export const POOLED_CREDIT_BITS = 192;

/** One draw from samples that hold `CONDITIONED_INPUT_BITS` of claimed min-entropy. */
export function condition(samples: Uint8Array): Buffer {
  const draw = Buffer.alloc(POOLED_DRAW_BYTES);
  const digest = createHash('sha256').update(samples).digest();
  draw.set(digest);
  wipe(digest);
  return draw;
}
