/**
 * Seed material: the outputs of all sources, told apart by length prefixes.
 *
 * Encoding, for the system source first and then each further source in the order given:
 * u32be(length of name) ‖ name in ASCII ‖ u32be(length of output) ‖ output. It is injective, so no
 * source can imitate another's bytes by the length of its own. The derivation function of stage 2
 * conditions the whole; a hostile source cannot take away what the system source brings unless it
 * sees those bytes first.
 */
import { wipe } from '../bytes.ts';
import type { Draw, EntropySource } from './source.ts';

export interface SeedMaterial {
  /** For the generator's entropy input. The receiver owns it and MUST wipe it. */
  readonly bytes: Buffer;
  /** Credit of the system source's draw, in bits. */
  readonly osCreditBits: number;
  /** The sum of the other draws' credits, in bits. */
  readonly extraCreditBits: number;
  /** The first hardware job among the draws, if any. */
  readonly jobId: string | null;
}

/**
 * Draws once from `os` and once from each of `extras`. Throws `TypeError` when `os` is not the
 * system source, and `AppError('entropy_unavailable')` when any source has nothing to give: nothing
 * drawn is kept then.
 */
export function gatherSeed(os: EntropySource, extras: readonly EntropySource[]): SeedMaterial {
  if (os.name !== 'os') throw new TypeError(`"os" expected the system source, got ${os.name}`);
  const sources = [os, ...extras];
  const draws: Draw[] = [];
  try {
    for (const source of sources) draws.push(source.draw());
    return {
      bytes: encode(sources, draws),
      osCreditBits: draws[0].creditBits,
      extraCreditBits: draws.slice(1).reduce((sum, draw) => sum + draw.creditBits, 0),
      jobId: draws.find((draw) => draw.jobId !== null)?.jobId ?? null,
    };
  } finally {
    for (const draw of draws) wipe(draw.bytes);
  }
}

function encode(sources: readonly EntropySource[], draws: readonly Draw[]): Buffer {
  const lengthBytes = draws.reduce(
    (n, draw, i) => n + 8 + sources[i].name.length + draw.bytes.length,
    0,
  );
  const material = Buffer.alloc(lengthBytes);
  let offset = 0;
  for (const [i, { bytes }] of draws.entries()) {
    const { name } = sources[i];
    offset = material.writeUInt32BE(name.length, offset);
    offset += material.write(name, offset, 'latin1');
    offset = material.writeUInt32BE(bytes.length, offset);
    material.set(bytes, offset);
    offset += bytes.length;
  }
  return material;
}
