/**
 * Broken modulations over a sound carrier, for the four quick tests on the modulated sample. If the tests miss one,
 * the row says if keys get worse.
 */
import { bits, lfsr31 } from './weak-sources.ts';

export interface ModulationDefect {
  readonly name: string;
  /** Description of the defect. */
  readonly does: string;
  /** How the quick tests find it: in each sample, in some samples, or never. */
  readonly sight: 'sample' | 'rate' | 'none';
  /** Reason why the quick tests miss it; null if they find it. */
  readonly because: string | null;
  /** Turns the output of a sound modulation of type `phase` into that of the broken one, in place. */
  readonly breaks: (modulated: Buffer, carrier: Uint8Array) => void;
}

const WORD_BYTES = 8;
const BLOCK_BYTES = 16;

function each(change: (modulated: number, carrier: number, index: number) => number) {
  return (modulated: Buffer, carrier: Uint8Array) => {
    for (let i = 0; i < modulated.length; i++) {
      modulated[i] = change(modulated[i], carrier[i], i);
    }
  };
}

function twice(size: number) {
  return (modulated: Buffer) => {
    for (let at = 0; at + size < modulated.length; at += 2 * size) {
      modulated.copy(modulated, at + size, at, at + size);
    }
  };
}

/** Applies the first modulation word of `phase`, the difference of carrier and output, to all words. */
function oneMask(modulated: Buffer, carrier: Uint8Array): void {
  const mask = modulated.subarray(0, WORD_BYTES).map((byte, i) => byte ^ carrier[i]);
  for (let i = 0; i < modulated.length; i++) modulated[i] = carrier[i] ^ mask[i % WORD_BYTES];
}

const QUICK_BLIND = 'The four tests count ones and runs; both are as many as they should be.';

export const MODULATION_DEFECTS: readonly ModulationDefect[] = [
  seen('zeros', 'the result is all zeros', (modulated) => modulated.fill(0)),
  seen(
    'half-words',
    'the upper half of each word is zero',
    each((k, _, i) => (i % 8 < 4 ? 0 : k)),
  ),
  seen(
    'zeroed-bit',
    'the top bit of each byte is zero',
    each((k) => k & 0x7f),
  ),
  seen(
    'and',
    'AND instead of XOR',
    each((k, c) => (k ^ c) & c),
  ),
  seen(
    'or',
    'OR instead of XOR',
    each((k, c) => (k ^ c) | c),
  ),
  seen('bytes-twice', 'every second byte repeats the one before', twice(1)),
  seen('words-twice', 'every second word repeats the one before', twice(WORD_BYTES)),
  {
    ...unseen(
      'blocks-twice',
      'every second 16-byte block repeats the one before',
      twice(BLOCK_BYTES),
      'The block frequency test has blocks of 16 bytes: it only counts each of them twice.',
    ),
    sight: 'rate',
  },
  {
    ...unseen(
      'alternating-top',
      'the top bit of each byte alternates',
      each((k, _, i) => (k & 0x7f) | ((i & 1) << 7)),
      'Ones and runs are as many as they should be; only the longest runs are slightly too short.',
    ),
    sight: 'rate',
  },
  unseen(
    'lfsr-31',
    'the result is a linear feedback shift register of 31 bits',
    (modulated) => bits(lfsr31(modulated.readUInt32BE(0)))(modulated),
    QUICK_BLIND,
  ),
  unseen(
    'no-carrier',
    'the result is the mask alone',
    each((k, c) => k ^ c),
    'The four tests find nothing in the mask; of the whole suite, only dft does. A key is then a function of 512 bits of phases.',
  ),
  unseen(
    'no-mask',
    'the result is the carrier',
    each((_, c) => c),
    'The result is the carrier, which the suite judges. The key is no worse.',
  ),
  unseen(
    'one-mask',
    'the mask is the same for every word',
    oneMask,
    'A sound carrier stays sound under any mask that does not depend on it. The key is no worse.',
  ),
];

function seen(name: string, does: string, breaks: ModulationDefect['breaks']): ModulationDefect {
  return { name, does, sight: 'sample', because: null, breaks };
}

function unseen(
  name: string,
  does: string,
  breaks: ModulationDefect['breaks'],
  because: string,
): ModulationDefect {
  return { name, does, sight: 'none', because, breaks };
}
