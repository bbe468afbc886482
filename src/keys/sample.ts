/** Samples of a generator: 2^20 bits that begin with requests like those of keys. */
import { wipe } from '../bytes.ts';
import { MAX_REQUEST_BITS } from '../drbg/index.ts';
import { PHASES_BYTES } from '../modulation/index.ts';

/** Length in bits of a sample. */
export const SAMPLE_BITS = 2 ** 20;

/**
 * Requests of a key's length at the start of a stream's sample. If the first 8 bytes of each are equal, the gate fails
 * (p below 10^-20 in 180 of 180 samples).
 */
const SHORT_REQUESTS = 48;

/**
 * Keys of each length at the start of a sample between keys. The gate fails if the first 4 bytes are equal in all of them,
 * or the first 12 bytes in those of one length.
 */
const SAMPLED_KEYS = 32;

/** Source of a sample: a generator's requests. */
interface Sampled {
  request(lengthBytes: number): Buffer;
}

type Draw = (lengthBytes: number) => void;

/**
 * Draws a sample of one stream: 48 requests of `keyBytes`, the length of a key's requests, and the rest in as few
 * requests as the limit allows. A key is the start of a request, and long requests have few starts. The caller MUST
 * wipe the sample.
 */
export function sampleOfStream(generator: Sampled, keyBytes: number): Buffer<ArrayBuffer> {
  return drawSample(generator, (draw) => {
    for (let i = 0; i < SHORT_REQUESTS; i++) draw(keyBytes);
  });
}

/**
 * Draws a sample that begins with requests like those of plain keys: after a reseed and the phases, or after a reseed
 * alone (384 bits). The caller MUST wipe the sample.
 */
export function sampleOfKeys(generator: Sampled, reseed: () => void): Buffer<ArrayBuffer> {
  return drawSample(generator, (draw) => {
    for (let i = 0; i < SAMPLED_KEYS; i++) {
      reseed();
      wipe(generator.request(PHASES_BYTES));
      for (const keyBytes of i % 2 === 0 ? [16, 32] : [32, 16]) draw(keyBytes);
      reseed();
      draw(24);
    }
  });
}

/** Draws a sample that begins with the requests of `begin`. */
function drawSample(generator: Sampled, begin: (draw: Draw) => void): Buffer<ArrayBuffer> {
  const sample = Buffer.alloc(SAMPLE_BITS / 8);
  let offset = 0;
  const draw: Draw = (lengthBytes) => {
    const part = generator.request(lengthBytes);
    sample.set(part, offset);
    wipe(part);
    offset += lengthBytes;
  };
  try {
    begin(draw);
    while (offset < sample.length) draw(Math.min(MAX_REQUEST_BITS / 8, sample.length - offset));
    return sample;
  } catch (error) {
    wipe(sample);
    throw error;
  }
}
