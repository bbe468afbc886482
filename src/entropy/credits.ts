/**
 * The rule for adding the credits of several sources.
 *
 * Min-entropies add up only for independent draws (SP 800-90C §2.6). The row of a source in
 * `registry.ts` says whether there is an argument that its noise is separate from the machine's
 * own; docs/random-bit-generation.md has the arguments. Without an argument only the larger credit
 * counts.
 */
import type { Draw, SourceName } from './source.ts';

/** Credits of the draws in one seed, in bits, grouped by what they may be added to. */
export interface SeedCredit {
  /** Credit of `os`. It is computational, so it counts once for a key, not once for a reseed. */
  readonly osBits: number;
  /** Largest credit of the sources that share noise with `os`. */
  readonly sharedBits: number;
  /** Sum of the credits of sources that are separate from the machine and from each other. */
  readonly separateBits: number;
}

/** The fields of a draw that its credit depends on. */
interface CreditedDraw extends Pick<Draw, 'creditBits' | 'isSeparate'> {
  readonly name: SourceName;
}

/** A source whose draws went into a key, with the bits credited to them. */
export interface SourceCredit {
  readonly name: SourceName;
  readonly creditBits: number;
}

/** A part of a key, and the credit of the reseed that precedes it. */
export interface KeyPart {
  readonly lengthBits: number;
  readonly credit: SeedCredit;
}

/** Returns the credit of one seed from the credits of its draws. */
export function creditOfSeed(draws: readonly CreditedDraw[]): SeedCredit {
  let [osBits, sharedBits, separateBits] = [0, 0, 0];
  for (const { name, creditBits, isSeparate } of draws) {
    if (isSeparate) separateBits += creditBits;
    else if (name === 'os') osBits = Math.max(osBits, creditBits);
    else sharedBits = Math.max(sharedBits, creditBits);
  }
  return { osBits, sharedBits, separateBits };
}

/**
 * Returns the credit of a key in bits: the separate sources plus, for the whole key, the larger of
 * `os` and the sources that share its noise.
 */
export function creditOfKey(parts: readonly KeyPart[]): number {
  return Math.max(withSystem(parts), withShared(parts));
}

/**
 * Returns the sources that were drawn for a key, from the draws of each of its seeds, in the order of their
 * first draws. The credits of a source's draws add up. The credit of `os` counts once, because it is
 * computational. The rule for adding sources does not apply here, so a key's credit may be lower than the sum.
 */
export function sourcesOfKey(seeds: readonly (readonly SourceCredit[])[]): SourceCredit[] {
  if (seeds.length === 1) return [...seeds[0]];
  const credits = new Map<SourceName, number>();
  for (const { name, creditBits } of seeds.flat()) {
    const before = credits.get(name);
    if (before === undefined) credits.set(name, creditBits);
    else credits.set(name, name === 'os' ? Math.min(before, creditBits) : before + creditBits);
  }
  return [...credits].map(([name, creditBits]) => ({ name, creditBits }));
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
