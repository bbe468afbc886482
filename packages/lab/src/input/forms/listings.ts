/**
 * Texts whose lines hold more than the bytes they show: addresses, counts and checksums. Read as hexadecimal digits, all of
 * them would count as random bits.
 */

export type ListingName = 'intel_hex' | 's_record' | 'listing';

/** Offsets have six digits or more: `od` writes six or seven, `hexdump` seven or eight, `xxd` eight. */
const MINIMUM_OFFSET_DIGITS = 6;
/** Enough if five lines or more continue them. */
const FEWEST_OFFSET_DIGITS = 4;

/** Lines that `isListing` compares. */
const MOST_LINES = 64;

const BASES = [16, 8, 10] as const;

/** Lines that show what follows them to be a listing, whatever it is: its reader finds the fault. */
const ENOUGH_LINES = 3;

/**
 * Returns what a text looks like whose first characters these are, or `null`. The last line may be cut off. A part of the lines
 * may be at fault, or of another form: half of them decide. `isWhole`: other bytes do not follow the characters.
 */
export function listingOf(text: string, isWhole = true): ListingName | null {
  const lines = linesOf(text);
  const whole = lines.length > 1 ? lines.slice(0, -1) : lines;
  if (whole.length === 0 || (!isWhole && whole.length < ENOUGH_LINES)) return null;
  if (areRecords(whole, isIntelHex)) return 'intel_hex';
  if (areRecords(whole, isSRecord)) return 's_record';
  return isListing(lines.slice(0, MOST_LINES)) ? 'listing' : null;
}

/** Returns what begins within a text of digits: records or lines with offsets, several in a row; or `null`. */
export function listingWithin(text: string): ListingName | null {
  const lines = text.split(/[\r\n]+/);
  const isRecord = (line: string): boolean => line.startsWith(':') && isIntelHex(line, true);
  if (longestRun(lines, isRecord) > 1) return 'intel_hex';
  // Offsets of lines in a row begin alike, which random digits hardly do: the rest is compared of few texts.
  const beginsAlike = (line: string, i: number): boolean =>
    line.slice(0, 3) === lines[i - 1]?.slice(0, 3);
  if (longestRun(lines, beginsAlike) < ENOUGH_LINES) return null;
  const cut = lines.map(lineOf);
  const isListed = BASES.some(
    (base) =>
      longestRun(cut, (line, i) => {
        const before = cut[i - 1];
        if ((before?.offset?.length ?? 0) < MINIMUM_OFFSET_DIGITS) return false;
        const step = offsetOf(line.offset ?? '', base) - offsetOf(before?.offset ?? '', base);
        return step > 1 && holds(before?.rest ?? '', step);
      }) >= ENOUGH_LINES,
  );
  return isListed ? 'listing' : null;
}

function longestRun<Item>(
  items: readonly Item[],
  fits: (item: Item, i: number) => boolean,
): number {
  let longest = 0;
  let run = 0;
  for (const [i, item] of items.entries()) {
    run = fits(item, i) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

function areRecords(lines: readonly string[], isRecord: typeof isIntelHex): boolean {
  if (lines.every((line) => isRecord(line, lines.length < ENOUGH_LINES))) return true;
  const sound = lines.filter((line) => isRecord(line, true)).length;
  return sound > 1 && 2 * sound >= lines.length;
}

function linesOf(text: string): string[] {
  return text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
}

/**
 * A colon, the number of data bytes, an address of two bytes, a type from 0 to 5, the data and a checksum, which need not
 * be right in a file of many lines.
 */
function isIntelHex(line: string, checks: boolean): boolean {
  const digits = /^\s*:([0-9a-f]{2}[0-9a-f]{4}0[0-5](?:[0-9a-f]{2})*)\s*$/i.exec(line)?.[1];
  if (!digits) return false;
  const bytes = bytesOf(digits);
  return bytes.length === 5 + (bytes[0] ?? 0) && (!checks || (sum(bytes) & 0xff) === 0);
}

/** S, a type, the number of bytes that follow, and a checksum at the end. */
function isSRecord(line: string, checks: boolean): boolean {
  const digits = /^\s*S[0-9]((?:[0-9a-f]{2}){3,})\s*$/i.exec(line)?.[1];
  if (!digits) return false;
  const bytes = bytesOf(digits);
  return bytes.length === 1 + (bytes[0] ?? 0) && (!checks || (sum(bytes) & 0xff) === 0xff);
}

function bytesOf(digits: string): number[] {
  return (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
}

function sum(bytes: readonly number[]): number {
  return bytes.reduce((total, byte) => total + byte, 0);
}

interface Line {
  /** Null for a line of `*`, which stands for equal lines that are left out. */
  readonly offset: string | null;
  readonly rest: string;
}

/** True if the offsets of at least half of the lines grow by the bytes of the line before, in one of the bases. */
function isListing(texts: readonly string[]): boolean {
  const lines = texts.map(lineOf);
  const width = lines[0]?.offset?.length ?? 0;
  if (width < (lines.length < 5 ? MINIMUM_OFFSET_DIGITS : FEWEST_OFFSET_DIGITS)) return false;
  return BASES.some((base) => grows(lines, base));
}

function lineOf(text: string): Line {
  if (text.trim() === '*') return { offset: null, rest: '' };
  const parts = /^\s*((?:0x)?[0-9a-f]+)(?::|\s|$)[:\s]*(.*)$/i.exec(text);
  const [, offset = '', rest = ''] = parts ?? [];
  return { offset, rest };
}

function grows(lines: readonly Line[], base: number): boolean {
  let pairs = 0;
  const steps: number[] = [];
  for (const [i, line] of lines.entries()) {
    const before = lines[i - 1];
    if (before?.offset == null || line.offset === null) continue;
    pairs++;
    const step = offsetOf(line.offset, base) - offsetOf(before.offset, base);
    if (holds(before.rest, step)) steps.push(step);
  }
  // Two lines alone are enough only from 0 on. Numbers of lines grow by 1, which a last line of bytes may do too.
  const startsAtZero = /^(?:0x)?0+$/i.test(lines[0]?.offset ?? '');
  const isEnough = steps.length >= (startsAtZero ? 1 : ENOUGH_LINES);
  const byBytes = steps.filter((step) => step > 1).length;
  return isEnough && 2 * byBytes >= pairs;
}

function offsetOf(text: string, base: number): number {
  const digits = text.replace(/^0x/i, '');
  const allowed = { 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-f]+$/i }[base];
  return allowed?.test(digits) ? Number.parseInt(digits, base) : Number.NaN;
}

/** True if the line can show so many bytes: as pairs of digits, or as words of 8 bytes at most. */
function holds(rest: string, bytes: number): boolean {
  const fields = rest.trim().split(/\s+/);
  const digits = /^[0-9a-f\s]*/i.exec(rest)?.[0].replace(/\s/g, '') ?? '';
  return bytes > 0 && (digits.length >= 2 * bytes || bytes <= 8 * fields.length);
}
