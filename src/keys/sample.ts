/**
 * Samples of a generator: 2^20 bits with requests like those of keys, in segments after a reseed each, so that no path draws
 * more than `MAX_BITS_PER_RESEED` (`seeded-drbg.ts`).
 */
import { newBytes, wipe } from '../bytes.ts';
import { PHASES_BYTES } from '../modulation/index.ts';
import { MAX_BITS_PER_RESEED } from './seeded-drbg.ts';

/** Length in bits of a sample. */
export const SAMPLE_BITS = 2 ** 20;

/** The same in bytes. */
export const SAMPLE_BYTES: number = SAMPLE_BITS / 8;

/** Bits of a stream's sample after each reseed. Behind the last of them the phases and the key stay below the limit. */
const SEGMENTS: readonly number[] = [
  ...Array.from({ length: 7 }, () => MAX_BITS_PER_RESEED),
  MAX_BITS_PER_RESEED / 2,
  MAX_BITS_PER_RESEED / 2,
];

/**
 * Requests of a key's length at the start of each segment of a stream's sample: 45 in all. If the first 8 bytes of each are
 * equal, the gate fails (p below 10^-17 in 180 of 180 samples; with 36 requests, in 176).
 */
const SHORT_REQUESTS = 5;

/**
 * Keys of each length at the start of a sample between keys. The gate fails if the first 4 bytes are equal in all of them,
 * or the first 12 bytes in those of one length.
 */
const SAMPLED_KEYS = 32;

/** Source of a sample: a generator's requests. */
interface Sampled {
  request(lengthBytes: number): Buffer;
}

/** Fills a sample, and reports how many bytes are left. */
interface Drawing {
  draw(lengthBytes: number): void;
  readonly leftBytes: number;
}

/**
 * Fills `sample`, of `SAMPLE_BYTES`, from one stream in nine segments, after a reseed each: five requests of `keyBytes`, the
 * length of a key's requests, and one for the rest. A key is the start of a request, and long requests have few starts.
 * `reseed` is told which segment follows. The caller MUST wipe the sample; it is wiped if this function throws.
 */
export function sampleStreamInto(
  sample: Buffer,
  generator: Sampled,
  keyBytes: number,
  reseed: (segment: 'last' | 'earlier') => void,
): void {
  fillSample(sample, generator, (drawing) => {
    for (const [i, bits] of SEGMENTS.entries()) {
      reseed(i === SEGMENTS.length - 1 ? 'last' : 'earlier');
      for (let request = 0; request < SHORT_REQUESTS; request++) drawing.draw(keyBytes);
      drawing.draw(bits / 8 - SHORT_REQUESTS * keyBytes);
    }
  });
}

/**
 * Draws a sample that begins with requests like those of plain keys: after a reseed and the phases, or after a reseed
 * alone (384 bits). The rest is in segments, after a reseed each. The caller MUST wipe the sample.
 */
export function sampleOfKeys(generator: Sampled, reseed: () => void): Buffer<ArrayBuffer> {
  const sample = newBytes(SAMPLE_BYTES);
  fillSample(sample, generator, (drawing) => {
    for (let i = 0; i < SAMPLED_KEYS; i++) {
      reseed();
      wipe(generator.request(PHASES_BYTES));
      for (const keyBytes of i % 2 === 0 ? [16, 32] : [32, 16]) drawing.draw(keyBytes);
      reseed();
      drawing.draw(24);
    }
    while (drawing.leftBytes > 0) {
      reseed();
      drawing.draw(Math.min(MAX_BITS_PER_RESEED / 8, drawing.leftBytes));
    }
  });
  return sample;
}

/** Fills a sample by the requests of `fill`, and wipes it if one of them fails. */
function fillSample(sample: Buffer, generator: Sampled, fill: (drawing: Drawing) => void): void {
  let offset = 0;
  const drawing: Drawing = {
    draw(lengthBytes) {
      const part = generator.request(lengthBytes);
      sample.set(part, offset);
      wipe(part);
      offset += lengthBytes;
    },
    get leftBytes() {
      return sample.length - offset;
    },
  };
  try {
    fill(drawing);
  } catch (error) {
    wipe(sample);
    throw error;
  }
}
