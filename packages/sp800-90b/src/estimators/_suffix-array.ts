/**
 * Suffix arrays by induced sorting (Nong, Zhang, Chan: Two Efficient Algorithms for Linear Time
 * Suffix Array Construction, IEEE Transactions on Computers 60(10), 2011), and the lengths of the
 * prefixes shared by neighbours in them. Both take linear time for every text.
 *
 * A suffix is of type S if it is smaller than the suffix one symbol later, else of type L. The last
 * suffix is of type L. "LMS" is an S after an L. A bucket holds the suffixes that begin with the
 * same symbol, those of type L first.
 */
type Text = Uint8Array | Int32Array;

const EMPTY = -1;

/**
 * Returns the start positions of the suffixes of `text` in sorted order. Symbols MUST be below
 * `alphabetSize`.
 */
export function suffixArray(text: Uint8Array, alphabetSize: number): Int32Array {
  const sa = new Int32Array(text.length);
  sortSuffixes(text, alphabetSize, sa);
  return sa;
}

/**
 * Returns, for each suffix in order, the number of symbols it shares with the previous suffix; 0
 * for the first.
 */
export function sharedPrefixes(text: Uint8Array, alphabetSize: number): Int32Array {
  const sa = suffixArray(text, alphabetSize);
  const n = text.length;
  if (n === 0) return sa;
  // Indexed by start position: first the preceding suffix in the order, later the shared length.
  const byStart = new Int32Array(n);
  byStart[sa[0]] = EMPTY;
  for (let i = 1; i < n; i++) byStart[sa[i]] = sa[i - 1];
  // The suffix one symbol later shares at most one symbol less.
  let shared = 0;
  for (let start = 0; start < n; start++) {
    const before = byStart[start];
    if (before === EMPTY) shared = 0;
    else {
      const limit = n - Math.max(start, before);
      while (shared < limit && text[start + shared] === text[before + shared]) shared++;
    }
    byStart[start] = shared;
    if (shared > 0) shared--;
  }
  for (let i = 0; i < n; i++) sa[i] = byStart[sa[i]];
  return sa;
}

/**
 * Fills `sa`, which is as long as `text`. It sorts LMS substrings, LMS suffixes by their names, and
 * then all suffixes.
 */
export function sortSuffixes(text: Text, alphabetSize: number, sa: Int32Array): void {
  const n = text.length;
  if (n === 0) return;
  const buckets = new Buckets(text, alphabetSize);
  sa.fill(EMPTY);
  forEachLms(text, (start) => {
    sa[--buckets.ends[text[start]]] = start;
  });
  induce(text, sa, buckets);
  const count = gatherLms(text, sa, buckets);
  const names = nameLms(text, sa, count);
  sortLms(text, sa, count, names);
  sa.fill(EMPTY, count);
  buckets.reset();
  for (let i = count - 1; i >= 0; i--) {
    const start = sa[i];
    sa[i] = EMPTY;
    sa[--buckets.ends[text[start]]] = start;
  }
  induce(text, sa, buckets);
}

/** Bounds of the buckets in the suffix array, by first symbol. Both move as the array is filled. */
class Buckets {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #bounds: Int32Array;

  constructor(text: Text, alphabetSize: number) {
    this.#bounds = new Int32Array(alphabetSize + 1);
    for (let i = 0; i < text.length; i++) this.#bounds[text[i] + 1]++;
    for (let c = 0; c < alphabetSize; c++) this.#bounds[c + 1] += this.#bounds[c];
    this.starts = new Int32Array(alphabetSize);
    this.ends = new Int32Array(alphabetSize);
    this.reset();
  }

  reset(): void {
    this.starts.set(this.#bounds.subarray(0, -1));
    this.resetEnds();
  }

  resetEnds(): void {
    this.ends.set(this.#bounds.subarray(1));
  }
}

/** Calls `visit` with the start of each LMS suffix, from the last to the first. */
function forEachLms(text: Text, visit: (start: number) => void): void {
  let isS = false;
  for (let i = text.length - 2; i >= 0; i--) {
    const difference = text[i] - text[i + 1];
    if (difference < 0) isS = true;
    else if (difference > 0) {
      if (isS) visit(i + 1);
      isS = false;
    }
  }
}

/**
 * Induces the order from the LMS suffixes at the ends of their buckets: all of type L from left to
 * right, then all of type S from right to left, which also overwrites the LMS. Afterwards `ends` is
 * where type S begins.
 */
function induce(text: Text, sa: Int32Array, buckets: Buckets): void {
  const n = text.length;
  const { starts, ends } = buckets;
  sa[starts[text[n - 1]]++] = n - 1;
  for (let i = 0; i < n; i++) {
    const start = sa[i] - 1;
    if (start < 0) continue;
    const symbol = text[start];
    if (symbol >= text[start + 1]) sa[starts[symbol]++] = start;
  }
  buckets.resetEnds();
  for (let i = n - 1; i >= 0; i--) {
    const start = sa[i] - 1;
    if (start < 0) continue;
    const symbol = text[start];
    const next = text[start + 1];
    // Of two equal symbols, the first has the type of the second.
    if (symbol < next || (symbol === next && i >= ends[symbol])) sa[--ends[symbol]] = start;
  }
}

/** Moves the LMS suffixes, in order, to the front of `sa` and returns their number. */
function gatherLms(text: Text, sa: Int32Array, { ends }: Buckets): number {
  let count = 0;
  for (let i = 0; i < sa.length; i++) {
    const start = sa[i];
    if (start > 0 && i >= ends[text[start]] && text[start - 1] > text[start]) sa[count++] = start;
  }
  return count;
}

/**
 * Gives equal LMS substrings the same name, with names in their order. A substring runs from one
 * LMS to the next. LMS are at least two apart, so `sa[count + start / 2]` is the name of the one at
 * `start`.
 */
function nameLms(text: Text, sa: Int32Array, count: number): number {
  sa.fill(EMPTY, count);
  let end = text.length;
  // Lengths first. The last substring ends after the text and differs from all others.
  forEachLms(text, (start) => {
    sa[count + (start >> 1)] = end - start + 1;
    end = start;
  });
  let names = 0;
  let previous = 0;
  let previousLength = 0;
  for (let i = 0; i < count; i++) {
    const start = sa[i];
    const length = sa[count + (start >> 1)];
    const isSame =
      length === previousLength &&
      Math.max(start, previous) + length <= text.length &&
      areEqual(text, start, previous, length);
    if (!isSame) names++;
    sa[count + (start >> 1)] = names - 1;
    previous = start;
    previousLength = length;
  }
  return names;
}

function areEqual(text: Text, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (text[a + i] !== text[b + i]) return false;
  return true;
}

/** Sorts the LMS suffixes, as suffixes of the text of their names, into the front of `sa`. */
function sortLms(text: Text, sa: Int32Array, count: number, names: number): void {
  // If all names differ, they are already in order.
  if (names === count) return;
  const ordered = sa.subarray(0, count);
  const rest = sa.subarray(sa.length - count);
  for (let i = sa.length - 1, to = count - 1; i >= count; i--) {
    if (sa[i] !== EMPTY) rest[to--] = sa[i];
  }
  sortSuffixes(rest, names, ordered);
  let lms = count;
  forEachLms(text, (start) => {
    rest[--lms] = start;
  });
  for (let i = 0; i < count; i++) ordered[i] = rest[ordered[i]];
}
