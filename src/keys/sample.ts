/** How samples of a generator are drawn: 2^20 bits that begin with requests as keys make them. */
import { wipe } from '../bytes.ts';
import { MAX_REQUEST_BITS } from '../drbg/index.ts';
import { PHASES_BYTES } from '../modulation/index.ts';

/** Length of the sample that evidence on a stream is gathered from. */
export const SAMPLE_BITS = 2 ** 20;

/**
 * Requests of a key's length that begin the sample of a stream. A head of 8 bytes that is the same in each of them fails
 * the gate (p below 10^-29 in 12 of 12 samples).
 */
const SHORT_REQUESTS = 48;

/**
 * Keys of each length that begin a sample between keys. A head of 4 bytes that is the same in all of them fails, and one
 * of 12 bytes that is the same in those of one length.
 */
const SAMPLED_KEYS = 32;

/** What is sampled: a generator, by its requests. */
interface Sampled {
  request(lengthBytes: number): Buffer;
}

type Draw = (lengthBytes: number) => void;

/**
 * A sample of one stream: 48 requests of `keyBytes`, the length by which a key is cut, and the rest in as few
 * requests as the limit allows. A key is the head of a request, of which long ones show few. The caller MUST wipe it.
 */
export function sampleOfStream(generator: Sampled, keyBytes: number): Buffer<ArrayBuffer> {
  return drawSample(generator, (draw) => {
    for (let i = 0; i < SHORT_REQUESTS; i++) draw(keyBytes);
  });
}

/**
 * A sample that begins with bits as plain keys are cut from: after a reseed and the phases, or after a reseed alone
 * (384 bits). The caller MUST wipe it.
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

/** A sample that begins with what `begin` draws. */
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
