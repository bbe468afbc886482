/**
 * Texts of digits that would be read by the rules of others: base32, base58 or plain letters and digits look like base64, UUIDs like
 * hexadecimal digits, and binary or octal numbers like decimal ones. The bits would be wrong, and fail the tests.
 */
import type { Remedy } from '../recognised-form.ts';

interface Alphabet {
  /** Follows "looks like". */
  readonly is: string;
  readonly remedy: Remedy;
  readonly digits: string;
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();
const DECIMAL = '0123456789';

const NO_WHOLE_BITS: Remedy = {
  kind: 'advice',
  advice: 'a character holds no whole number of bits: write the bits that the text was made of',
};

/** Narrow ones first: each also fits the wider ones. */
const ALPHABETS: readonly Alphabet[] = [
  { is: 'decimal digits without spaces', remedy: NO_WHOLE_BITS, digits: DECIMAL },
  ...[UPPER, LOWER].flatMap((letters): Alphabet[] => [
    { is: 'letters', remedy: NO_WHOLE_BITS, digits: letters },
    {
      is: 'base32',
      remedy: commandOf('base32 -d', letters),
      digits: `${letters}234567`,
    },
    {
      is: 'base32 with the digits of hexadecimal numbers',
      remedy: commandOf('basenc --base32hex -d', letters),
      digits: `${DECIMAL}${letters.slice(0, 22)}`,
    },
    { is: 'letters and digits', remedy: NO_WHOLE_BITS, digits: `${DECIMAL}${letters}` },
  ]),
  {
    is: 'base58',
    remedy: NO_WHOLE_BITS,
    digits: `${DECIMAL}${UPPER}${LOWER}`.replace(/[0OIl]/g, ''),
  },
  { is: 'letters and digits', remedy: NO_WHOLE_BITS, digits: `${DECIMAL}${UPPER}${LOWER}` },
];

/** The programs take capitals. */
function commandOf(program: string, letters: string): Remedy {
  const command = letters === UPPER ? `${program} FILE` : `tr a-z A-Z < FILE | ${program}`;
  return { kind: 'command', command };
}

/** Standard deviations of χ² within which counts are even: those of a biased source in base64 are not. */
const EVEN = 10;

/** The logarithm of the probability below which a text is no base64: a sound one lacks digits so rarely. */
const RARE = Math.log(1e-12);

/**
 * Returns the alphabet of a text whose characters are evenly those of one, and hardly those of base64; else null. Base64 of n
 * characters has only k of its 64 digits with a probability of at most C(64, k) (k / 64)^n.
 */
export function alphabetOf(text: string): Alphabet | null {
  const counts = countCharacters(text.replace(/[\s=]/g, ''));
  const n = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const found = ALPHABETS.find(
    ({ digits }) =>
      counts.size === digits.length && [...digits].every((digit) => counts.has(digit)),
  );
  if (!found) return null;
  const k = counts.size;
  const mean = n / k;
  const chiSquared = [...counts.values()].reduce((sum, c) => sum + (c - mean) ** 2 / mean, 0);
  const isEven = chiSquared < k - 1 + EVEN * Math.sqrt(2 * (k - 1));
  return isEven && logChoose(64, k) + n * Math.log(k / 64) < RARE ? found : null;
}

function countCharacters(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return counts;
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}

const UUID = /^[{"']?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[}"']?,?$/i;

/** True for lines of UUIDs (RFC 9562). The last one may be cut off. */
export function areUuids(text: string): boolean {
  const lines = text.trim().split(/\s+/);
  const whole = lines.length > 1 ? lines.slice(0, -1) : lines;
  return whole.every((line) => UUID.test(line));
}

export type ForeignBase = 'binary' | 'octal';

/** Digits that decide: decimal ones are such with a probability of 0.2^64, or of 0.8^128. */
const FEWEST_DIGITS = { binary: 64, octal: 128 } as const;

/**
 * Returns the base of numbers that decimal ones hardly are: of digits 0 and 1 alone, or of digits 0 to 7 that are filled up with
 * zeros; else null. One digit decides nothing: it is a bit.
 */
export function foreignBase(fields: readonly string[]): ForeignBase | null {
  const longest = fields.reduce((most, { length }) => Math.max(most, length), 0);
  const digits = fields.join('');
  if (digits.length < FEWEST_DIGITS.binary || longest < 2) return null;
  if (/^[01]+$/.test(digits)) {
    // A generator that is stuck at some of 0, 1, 10 and 11 is none of binary numbers.
    return longest > 2 || new Set(fields).size > 3 ? 'binary' : null;
  }
  if (digits.length < FEWEST_DIGITS.octal || longest < 3 || !/^[0-7]+$/.test(digits)) return null;
  const isFilledUp = fields.some((field) => field.startsWith('0'));
  return isFilledUp && fields.every((field) => field.length === longest) ? 'octal' : null;
}
