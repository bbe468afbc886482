/**
 * The verdict on a source, by one rule for any number of sequences. It has six parts, and the source fails if one of them does.
 * Each part has a fixed share of the false-alarm rate, so at most `SOURCE_ALPHA` of sound sources fail (union bound: the
 * parts need not be independent). The share of a part that does not apply stays unused.
 *
 * A single average over all sequences would let more data hide a defect: one dead sequence of 200 moves no row of §4.2. So the
 * parts look for different defects: a sequence that is impossible (`smallest`), a deviation of all sequences (`second_level`,
 * `walks`), some sequences from elsewhere (`counts`), a piece within a sequence (`scan`) and data that come twice (`repeats`).
 */
import type { SecondLevel } from '../second-level.ts';
import { type Repeat, repeatBound } from './repeats.ts';
import { type Scan, WINDOW_BITS } from './scan.ts';
import { type LimitCount, SequenceCounts } from './sequence-counts.ts';
import { type Entered, SmallestPValues, type SmallPValue } from './sequence-p-values.ts';
import { type Walk, Walks } from './walks.ts';

/** The share of sound sources that a part fails, at most. */
export const SHARES = {
  smallest: 0.003,
  second_level: 0.003,
  counts: 0.002,
  scan: 0.0004,
  walks: 0.0004,
  repeats: 0.0002,
} as const;

export type PartName = keyof typeof SHARES;

export const PART_NAMES: readonly PartName[] = Object.keys(SHARES) as PartName[];

/** The parts that need the bits themselves: not the p-values of supplements. */
export const PARTS_OF_P_VALUES: readonly PartName[] = ['smallest', 'second_level', 'counts'];

/** The share of sound sources that the rule fails, at most: 0.9 %. */
export const SOURCE_ALPHA: number = shareOf(PART_NAMES);

/** Returns the sum of the shares. */
function shareOf(names: readonly PartName[]): number {
  return Number(names.reduce((sum, name) => sum + SHARES[name], 0).toPrecision(12));
}

/** A part that was judged. It fails if `p` is below `alpha`. */
interface JudgedPart {
  readonly name: PartName;
  readonly judged: true;
  readonly alpha: number;
  /** Bounds the probability that a sound source gives as much. */
  readonly p: number;
  readonly passed: boolean;
}

interface UnjudgedPart {
  readonly name: PartName;
  readonly judged: false;
  readonly alpha: number;
  /** A clause for messages. */
  readonly reason: string;
}

/** What the parts found: the figures behind their p. */
interface Findings {
  /** The smallest bounded p-value and the number of all. */
  readonly smallest?: SmallPValue & { readonly compared: number };
  /** The sequences that count, and those of them below each limit. */
  readonly counts?: { readonly compared: number; readonly limits: readonly LimitCount[] };
  /** The most unlikely piece, its sequence from 1, and the windows and measures of all sequences. */
  readonly scan?: Omit<Scan, 'totals' | 'bits'> & { readonly sequence: number };
  readonly walks?: Walk;
  /** Null: no data occur twice. */
  readonly repeats?: Repeat | null;
}

export type SourcePart = JudgedPart | UnjudgedPart;

/** The verdict on a source. */
export interface SourceVerdict {
  /** False if a part failed, null if none was judged. */
  readonly passed: boolean | null;
  readonly alpha: number;
  /** In the order of `PART_NAMES`. The shares of the rule's parts sum to `alpha`. */
  readonly parts: readonly SourcePart[];
  readonly findings: Findings;
}

/** What the rule takes of a sequence. */
export interface SequenceEvidence {
  readonly bits: number;
  /** P-values whose tails hold however far out. */
  readonly bounded: Entered;
  /** P-values, one of each test, whose distribution is known. */
  readonly tests: Entered;
  readonly scan?: Scan;
}

/** Gathers what the rule needs, sequence by sequence. Its size does not grow with them. */
export class SourceRule {
  readonly #bounded = new SmallestPValues();
  readonly #counts = new SequenceCounts();
  readonly #walks = new Walks();
  #scan: (Scan & { readonly sequence: number }) | undefined;
  #scans = 0;
  #sequences = 0;
  /** Bits of a sequence: all have as many. */
  #bits = 0;
  readonly #names: readonly PartName[];

  /** `names` are the parts of the rule, by default all. */
  constructor(names: readonly PartName[] = PART_NAMES) {
    this.#names = names;
  }

  /** Takes the next sequence. */
  add({ bits, bounded, tests, scan }: SequenceEvidence): void {
    const sequence = ++this.#sequences;
    this.#bits = bits;
    this.#bounded.add(bounded);
    this.#counts.add(tests);
    if (!scan) return;
    this.#scans++;
    this.#walks.add(scan, sequence);
    if (!this.#scan || scan.p < this.#scan.p) this.#scan = { ...scan, sequence };
  }

  /** Judges the sequences so far. `repeat`: data that occur twice; undefined if the data were not compared. */
  judge(secondLevel: SecondLevel, repeat?: Repeat | null): SourceVerdict {
    const [smallest] = this.#bounded.smallest;
    const { limits } = this.#counts;
    const walk = this.#walks.farthest;
    const parts = [
      this.#judgeSmallest(smallest),
      judgeRows(secondLevel),
      judgeCounts(limits),
      this.#judgeScan(),
      walk ? judged('walks', walk.p) : unjudged('walks', this.#whyUnscanned()),
      this.#judgeRepeats(repeat),
    ].filter(({ name }) => this.#names.includes(name));
    const findings = {
      ...(smallest && { smallest: { ...smallest, compared: this.#bounded.pValues } }),
      ...(limits.length > 0 && { counts: { compared: this.#counts.sequences, limits } }),
      ...(this.#scan && { scan: this.#scanFound(this.#scan) }),
      ...(walk && { walks: walk }),
      ...(repeat !== undefined && { repeats: repeat }),
    };
    return { passed: passedAll(parts), alpha: shareOf(this.#names), parts, findings };
  }

  #judgeSmallest(smallest: SmallPValue | undefined): SourcePart {
    return smallest
      ? judged('smallest', this.#bounded.pValues * smallest.p)
      : unjudged('smallest', 'no test with an exact bound applies');
  }

  #judgeScan(): SourcePart {
    return this.#scan
      ? judged('scan', this.#scans * this.#scan.p)
      : unjudged('scan', this.#whyUnscanned());
  }

  #scanFound({ p, compared, piece, sequence }: Scan & { readonly sequence: number }) {
    return { p, compared: compared * this.#scans, piece, sequence };
  }

  #whyUnscanned(): string {
    return this.#bits < WINDOW_BITS ? `needs at least ${WINDOW_BITS} bits` : ALL_TESTS;
  }

  #judgeRepeats(repeat: Repeat | null | undefined): SourcePart {
    if (repeat === undefined) return unjudged('repeats', ALL_TESTS);
    return judged('repeats', repeat ? repeatBound((this.#sequences * this.#bits) / 8) : 1);
  }
}

const ALL_TESTS = 'only with all tests of SP 800-22';

function judgeCounts(limits: readonly LimitCount[]): SourcePart {
  return limits.length > 0
    ? judged('counts', limits.length * Math.min(...limits.map(({ p }) => p)))
    : unjudged('counts', 'no test with a known distribution applies');
}

function judgeRows(secondLevel: SecondLevel): SourcePart {
  if (!secondLevel.judged) return unjudged('second_level', secondLevel.reason);
  const { rows, checks, passed } = secondLevel;
  const probabilities = rows.flatMap((row) =>
    row.judged ? [row.proportionCheck, row.uniformityCheck] : [],
  );
  const least = probabilities.reduce((p, one) => (one.judged ? Math.min(p, one.p) : p), 1);
  return { ...judged('second_level', checks * least), passed };
}

function judged(name: PartName, probability: number): JudgedPart {
  const alpha = SHARES[name];
  const p = Math.min(1, probability);
  return { name, judged: true, alpha, p, passed: p >= alpha };
}

function unjudged(name: PartName, reason: string): UnjudgedPart {
  return { name, judged: false, alpha: SHARES[name], reason };
}

function passedAll(parts: readonly SourcePart[]): boolean | null {
  const results = parts.flatMap((part) => (part.judged ? [part.passed] : []));
  return results.length === 0 ? null : !results.includes(false);
}
