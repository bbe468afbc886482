/**
 * Which credits may be added.
 *
 * Min-entropies add up for independent draws alone (SP 800-90C §2.6). Each source's row in
 * `registry.ts` says whether there is an argument that it is separate from the machine's own noise;
 * docs/random-bit-generation.md has the arguments. Without one, the larger credit counts and the other
 * one nothing.
 */
import type { Draw, SourceName } from './source.ts';

/** Credits of the draws in one seed, in bits, by what they may be added to. */
export interface SeedCredit {
  /** The system source's. It is computational: it counts once for a key, not once for a reseed. */
  readonly osBits: number;
  /** The largest of the sources that share noise with the system source. */
  readonly sharedBits: number;
  /** The sum of the sources that are separate, from the machine and from each other. */
  readonly separateBits: number;
}

/** What of a draw its credit depends on. */
export interface CreditedDraw extends Pick<Draw, 'creditBits' | 'isSeparate'> {
  readonly name: SourceName;
}

/** A part of a key, and the credit of the reseed that precedes it. */
export interface KeyPart {
  readonly lengthBits: number;
  readonly credit: SeedCredit;
}

/** The credit of one seed from the credits of its draws. */
export function creditOfSeed(draws: readonly CreditedDraw[]): SeedCredit {
  const bitsOf = (isCounted: (draw: CreditedDraw) => boolean) =>
    draws.filter(isCounted).map(({ creditBits }) => creditBits);
  return {
    osBits: Math.max(0, ...bitsOf(({ name }) => name === 'os')),
    sharedBits: Math.max(0, ...bitsOf(({ name, isSeparate }) => name !== 'os' && !isSeparate)),
    separateBits: bitsOf(({ isSeparate }) => isSeparate).reduce((sum, bits) => sum + bits, 0),
  };
}

/**
 * The credit of a key: the separate sources' and, for the whole key, either the system source's or
 * that of the sources which share its noise, whichever gives more.
 */
export function creditOfKey(parts: readonly KeyPart[]): number {
  return Math.max(withSystem(parts), withShared(parts));
}

function withSystem(parts: readonly KeyPart[]): number {
  let bits = 0;
  let left = Number.POSITIVE_INFINITY;
  for (const { lengthBits, credit } of parts) {
    left = Math.min(left, credit.osBits);
    const separate = Math.min(lengthBits, credit.separateBits);
    const system = Math.min(lengthBits - separate, left);
    left -= system;
    bits += separate + system;
  }
  return bits;
}

function withShared(parts: readonly KeyPart[]): number {
  return parts.reduce(
    (sum, { lengthBits, credit: { sharedBits, separateBits } }) =>
      sum + Math.min(lengthBits, sharedBits + separateBits),
    0,
  );
}
