/** The samples of test/vectors/sp800-90b/ea-iid.json, from the key stream of `aesBytes`. */
import { aesBits, aesBytes } from './ea-non-iid.ts';

const LENGTH = 10_000;

/** The next sample, made of a byte of the stream and the sample before it. */
type Rule = (byte: number, before: number) => number;

const RULES: Readonly<Record<string, Rule>> = {
  bytes: (byte) => byte,
  nibbles: (byte) => byte & 15,
  /** One of four; the values are not 0 and 1. */
  'biased-bits': (byte) => (byte < 64 ? 7 : 3),
  /** Five values, three of them rare. */
  'rare-values': (byte) => (byte < 4 ? byte * 60 : 100),
  /** Half of the samples repeat the one before. */
  sticky: (byte, before) => (byte < 128 ? before : byte & 15),
};

export const SAMPLE_NAMES: readonly string[] = ['bits', ...Object.keys(RULES)];

export function iidSamples(name: string): Uint8Array {
  if (name === 'bits') return aesBits().subarray(0, LENGTH);
  const stream = Uint8Array.from(aesBytes().subarray(0, LENGTH));
  let before = 0;
  return stream.map((byte) => {
    before = RULES[name](byte, before);
    return before;
  });
}
