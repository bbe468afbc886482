/**
 * Writes files of samples, one per byte, for comparisons with NIST's programs for SP 800-90B.
 *
 *   node packages/lab/studies/noise-files.ts FOLDER [SAMPLES]
 *
 * A name is KIND-BITS.bin, such as `biased-4.bin`; the default is 1,000,000 samples. Samples come from AES-256-CTR
 * under a key for each file, so every file can be repeated byte by byte.
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WIDTHS = [1, 4, 8];

/** Samples of a restart (§3.1.4.1). */
const ROW = 1_000;

/** What a sample is made of. */
interface Place {
  /** An unbiased sample, and another one. */
  readonly fresh: number;
  readonly other: number;
  /** Uniform from 0 to 255, independent of both. */
  readonly chance: number;
  readonly index: number;
  /** Position in the file, from 0 to 1. */
  readonly share: number;
  /** The samples before this one. */
  readonly before: Uint8Array;
}

const KINDS: Readonly<Record<string, (place: Place) => number>> = {
  // Independent and identically distributed.
  'sound-a': ({ fresh }) => fresh,
  'sound-b': ({ fresh }) => fresh,
  'sound-c': ({ fresh }) => fresh,
  biased: ({ fresh, other }) => Math.min(fresh, other),
  'slightly-biased': ({ fresh, chance }) => (chance < 8 ? 0 : fresh),
  'mostly-zero': ({ fresh, chance }) => (chance < 230 ? 0 : fresh),
  // Not independent, or not identically distributed.
  repeating: ({ fresh, chance, before, index }) =>
    chance < 16 && index > 0 ? before[index - 1] : fresh,
  sticky: ({ fresh, chance, before, index }) =>
    chance < 128 && index > 0 ? before[index - 1] : fresh,
  drifting: ({ fresh, chance, share }) => (chance < 32 * share ? 0 : fresh),
  periodic: ({ fresh, index }) => (index % 32 === 0 ? 1 : fresh),
  // Restarts that resemble each other.
  'equal-restarts': ({ fresh, before, index }) => (index < ROW ? fresh : before[index - ROW]),
  'similar-restarts': ({ fresh, chance, before, index }) =>
    index < ROW || chance < 64 ? fresh : before[index - ROW],
  'constant-place': ({ fresh, index }) => (index % ROW === 17 ? 1 : fresh),
};

function samplesOf(rule: (place: Place) => number, seed: number, bits: number, length: number) {
  const key = new Uint8Array(32).fill(seed);
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  const stream = cipher.update(Buffer.alloc(3 * length));
  const before = new Uint8Array(length);
  const mask = 2 ** bits - 1;
  for (let index = 0; index < length; index++) {
    const [fresh, other, chance] = stream.subarray(3 * index);
    const share = index / length;
    before[index] = rule({
      fresh: fresh & mask,
      other: other & mask,
      chance,
      index,
      share,
      before,
    });
  }
  return before;
}

const [folder, samples = '1000000'] = process.argv.slice(2);
if (folder === undefined || !/^[1-9]\d{0,8}$/.test(samples)) {
  process.stderr.write('usage: node packages/lab/studies/noise-files.ts FOLDER [SAMPLES]\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
Object.entries(KINDS).forEach(([kind, rule], i) => {
  for (const bits of WIDTHS) {
    const bytes = samplesOf(rule, 16 * (i + 1) + bits, bits, Number(samples));
    writeFileSync(join(folder, `${kind}-${bits}.bin`), bytes);
  }
});
