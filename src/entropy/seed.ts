/**
 * Seed material: the outputs of all sources, separated by length prefixes.
 *
 * Encoding, for `os` first and then each further source in the given order: u32be(length of name) ‖
 * name in ASCII ‖ u32be(length of output) ‖ output. The encoding is injective, so no source can
 * imitate another's bytes by the length of its output. Draws with credit are entropy input, those
 * without are additional input (SP 800-90C §2.6); `os` is entropy input always. The derivation
 * function of stage 2 conditions the whole. A hostile source cannot remove what `os` contributes,
 * unless it sees those bytes first.
 */
import { newBytes, wipe } from '../bytes.ts';
import { AppError } from '../errors.ts';
import { creditOfSeed, type SeedCredit, type SourceCredit } from './credits.ts';
import type { Draw, EntropySource, SourceName } from './source.ts';

export interface SeedMaterial {
  /** Entropy input of the generator: `os` and the draws with credit. The receiver owns it and MUST wipe it. */
  readonly entropyInput: Buffer;
  /** The draws without credit, for the additional input. The receiver MUST wipe it, too. */
  readonly uncredited: Buffer;
  readonly credit: SeedCredit;
  /** The sources that were drawn, `os` first, with their credits. */
  readonly sources: readonly SourceCredit[];
  /** The first hardware job among the draws, if any. */
  readonly jobId: string | null;
}

/** A draw and the source it came from. */
interface NamedDraw extends Draw {
  readonly name: SourceName;
}

/** Bytes of the two lengths that precede a name and an output. */
const LENGTHS_BYTES = 8;

/**
 * Draws once from `os`, once from each of `required`, and once from each of `optional` that has a
 * draw. The other optional sources add no bytes and no credit. Throws `TypeError` if `os` is not
 * the system source, and `AppError('entropy_unavailable')` if a required source has no draw. All
 * draws are wiped.
 */
export function gatherSeed(
  os: EntropySource,
  required: readonly EntropySource[],
  optional: readonly EntropySource[] = [],
): SeedMaterial {
  if (os.name !== 'os') throw new TypeError(`"os" expected the system source, got ${os.name}`);
  const draws = [drawFrom(os)];
  try {
    for (const source of required) draws.push(drawFrom(source));
    for (const source of optional) draws.push(...drawIfAvailable(source));
    const [first, ...further] = draws;
    return {
      entropyInput: encode([first, ...further.filter(({ creditBits }) => creditBits > 0)]),
      uncredited: encode(further.filter(({ creditBits }) => creditBits === 0)),
      credit: creditOfSeed(draws),
      sources: draws.map(({ name, creditBits }) => ({ name, creditBits })),
      jobId: draws.find((draw) => draw.jobId !== null)?.jobId ?? null,
    };
  } finally {
    for (const draw of draws) wipe(draw.bytes);
  }
}

function drawFrom(source: EntropySource): NamedDraw {
  const { bytes, creditBits, isSeparate, jobId } = source.draw();
  return { name: source.name, bytes, creditBits, isSeparate, jobId };
}

function drawIfAvailable(source: EntropySource): NamedDraw[] {
  try {
    return [drawFrom(source)];
  } catch (error) {
    if (error instanceof AppError && error.code === 'entropy_unavailable') return [];
    throw error;
  }
}

function encode(draws: readonly NamedDraw[]): Buffer {
  let lengthBytes = 0;
  for (const { name, bytes } of draws) lengthBytes += LENGTHS_BYTES + name.length + bytes.length;
  const material = newBytes(lengthBytes);
  let offset = 0;
  for (const { name, bytes } of draws) {
    offset = material.writeUInt32BE(name.length, offset);
    offset += material.write(name, offset, 'latin1');
    offset = material.writeUInt32BE(bytes.length, offset);
    material.set(bytes, offset);
    offset += bytes.length;
  }
  return material;
}
