/**
 * Samples of a generator: 2^20 bits with requests like those of keys, in segments of at most 2^16 bits after a reseed each.
 * So no path draws more than `MAX_BITS_PER_RESEED` (`seeded-drbg.ts`).
 */
import { wipe } from '../bytes.ts';
import { PHASES_BYTES } from '../modulation/index.ts';

/** Length in bits of a sample. */
export const SAMPLE_BITS = 2 ** 20;

/** Bits of a sample between two reseeds, so that the phases and the key fit into the limit behind the last of them. */
const SEGMENT_BITS = 2 ** 16;

const SEGMENTS = SAMPLE_BITS / SEGMENT_BITS;

/**
 * Requests of a key's length at the start of each segment of a stream's sample: 48 in all. If the first 8 bytes of each are
 * equal, the gate fails (p below 10^-20 in 180 of 180 samples).
 */
const SHORT_REQUESTS = 3;

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
 * Draws a sample of one stream in 16 segments, after a reseed each: three requests of `keyBytes`, the length of a key's
 * requests, and one for the rest. A key is the start of a request, and long requests have few starts. `reseed` is told
 * which segment follows. The caller MUST wipe the sample.
 */
export function sampleOfStream(
  generator: Sampled,
  keyBytes: number,
  reseed: (segment: 'last' | 'earlier') => void,
): Buffer<ArrayBuffer> {
  return drawSample(generator, (drawing) => {
    for (let left = SEGMENTS; left > 0; left--) {
      reseed(left === 1 ? 'last' : 'earlier');
      for (let i = 0; i < SHORT_REQUESTS; i++) drawing.draw(keyBytes);
      drawing.draw(SEGMENT_BITS / 8 - SHORT_REQUESTS * keyBytes);
    }
  });
}

/**
 * Draws a sample that begins with requests like those of plain keys: after a reseed and the phases, or after a reseed
 * alone (384 bits). The rest is in segments, after a reseed each. The caller MUST wipe the sample.
 */
export function sampleOfKeys(generator: Sampled, reseed: () => void): Buffer<ArrayBuffer> {
  return drawSample(generator, (drawing) => {
    for (let i = 0; i < SAMPLED_KEYS; i++) {
      reseed();
      wipe(generator.request(PHASES_BYTES));
      for (const keyBytes of i % 2 === 0 ? [16, 32] : [32, 16]) drawing.draw(keyBytes);
      reseed();
      drawing.draw(24);
    }
    while (drawing.leftBytes > 0) {
      reseed();
      drawing.draw(Math.min(SEGMENT_BITS / 8, drawing.leftBytes));
    }
  });
}

/** Draws a sample by the requests of `fill`, and wipes it if one of them fails. */
function drawSample(generator: Sampled, fill: (drawing: Drawing) => void): Buffer<ArrayBuffer> {
  const sample = Buffer.alloc(SAMPLE_BITS / 8);
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
    return sample;
  } catch (error) {
    wipe(sample);
    throw error;
  }
}
