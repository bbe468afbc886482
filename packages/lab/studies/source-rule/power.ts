/** What the rule finds, beside the rule before it: the second level alone, or below 55 sequences the smallest p-value. */
import {
  judgeSecondLevel,
  PValueTally,
  runPackedSuite,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  SmallestPValues,
  type SuiteReport,
  sequencePValues,
  TEST_NAMES,
} from '../../../sp800-22/src/index-node.ts';
import { PART_NAMES } from '../../../sp800-22/src/source-rule/index.ts';
import { RunCounts } from '../../src/index-node.ts';
import { namedSource } from './sources.ts';

/** A length whose transform is quick. */
const SHORT = 2 ** 14;

/** Sources of each defect. */
const SOURCES = 20;

/** The share of sound sources that the earlier rule failed, at most. */
const EARLIER_ALPHA = 0.01;

interface Defect {
  readonly name: string;
  readonly bits: number;
  readonly sequences: number;
  /** Changes sound data. */
  readonly spoil: (data: Buffer) => void;
}

function dead(sequences: number, count: number): Defect {
  const bits = SHORT;
  return {
    name: `${count} dead of ${sequences.toLocaleString('en')}`,
    bits,
    sequences,
    spoil: (data) => data.fill(0, ((sequences - count) * bits) / 8),
  };
}

const TEXT = 'Model TRNG-7; serial 004711; firmware 1.2.3; captured 2026-11-29T10:00:00Z; ';

function header(bytes: number): Defect {
  return {
    name: `text header of ${bytes.toLocaleString('en')} bytes`,
    bits: 2 ** 20,
    sequences: 60,
    spoil: (data) => data.write(TEXT.repeat(Math.ceil(bytes / TEXT.length)).slice(0, bytes)),
  };
}

function restart(shift: number): Defect {
  return {
    name: `restart in the middle${shift === 0 ? '' : ', one byte later'}`,
    bits: SHORT,
    sequences: 200,
    spoil: (data) => data.copy(data, data.length / 2 + shift, 0, data.length / 2 - shift),
  };
}

/** The share of ones rises evenly from 1/2: a zero bit becomes a one with a probability that grows with its byte. */
function drift(rise: number): Defect {
  return {
    name: `share of ones rises from 0.5 to ${0.5 + rise}`,
    bits: SHORT,
    sequences: 200,
    spoil: (data) => {
      const noise = namedSource('drift')(2 * data.length);
      for (let i = 0; i < data.length; i++) {
        // One random place of each byte is set with eight times the probability for a bit.
        const chance = (16 * rise * i) / data.length;
        if (noise[2 * i] / 256 < chance) data[i] |= 1 << (noise[2 * i + 1] & 7);
      }
    },
  };
}

const DEFECTS: readonly Defect[] = [
  ...[55, 200, 1000].flatMap((sequences) => [1, 2, 5, 10].map((count) => dead(sequences, count))),
  ...[64, 128, 512, 1024, 4096].map(header),
  restart(0),
  restart(1),
  ...[0.001, 0.002, 0.004, 0.008].map(drift),
];

/** Returns a Markdown table: of 20 sources, how many fail before and now, and by which parts. */
export function* measurePower(): Generator<string> {
  yield `| Defect | Bits | m | Before | Now | ${PART_NAMES.join(' | ')} |`;
  yield `|---|---|---|---|---|${PART_NAMES.map(() => '---|').join('')}`;
  for (const defect of DEFECTS) yield powerLine(defect);
}

function powerLine(defect: Defect): string {
  const { name, bits, sequences } = defect;
  let [before, now] = [0, 0];
  const byPart = PART_NAMES.map(() => 0);
  for (let source = 0; source < SOURCES; source++) {
    const judged = judge(defect, source);
    if (judged.before) before++;
    if (judged.parts.includes(true)) now++;
    for (const [i, failed] of judged.parts.entries()) if (failed) byPart[i]++;
  }
  const size = [bits, sequences].map((value) => value.toLocaleString('en'));
  return `| ${[name, ...size, before, now, ...byPart].join(' | ')} |`;
}

/** Returns whether the earlier rule fails the source, and each part of this one. */
function judge(
  { name, bits, sequences, spoil }: Defect,
  source: number,
): { before: boolean; parts: boolean[] } {
  const data = namedSource(`power ${name} ${source}`)((bits / 8) * sequences);
  spoil(data);
  const counts = new RunCounts(TEST_NAMES);
  const earlier = new EarlierRule(bits);
  for (let i = 0; i < sequences; i++) {
    const bytes = Uint8Array.from(data.subarray((i * bits) / 8, ((i + 1) * bits) / 8));
    counts.take({ bytes, bits, offsetBits: 0 }, i);
    const report = runPackedSuite(bytes, { bits, scan: true });
    counts.add(report);
    earlier.add(report);
  }
  const { verdict } = counts.summary(true);
  return {
    before: earlier.fails(),
    parts: verdict.parts.map((part) => part.judged && !part.passed),
  };
}

class EarlierRule {
  readonly #bits: number;
  readonly #tally: PValueTally;
  readonly #smallest = new SmallestPValues();

  constructor(bits: number) {
    this.#bits = bits;
    this.#tally = new PValueTally(TEST_NAMES, bits);
  }

  add(report: SuiteReport): void {
    this.#tally.add(report);
    this.#smallest.add(sequencePValues(report));
  }

  fails(): boolean {
    const { sequences, rows } = this.#tally;
    if (sequences < SECOND_LEVEL_MINIMUM_SEQUENCES) {
      const { pValues, smallest } = this.#smallest;
      return pValues * smallest[0].p < EARLIER_ALPHA;
    }
    const verdict = judgeSecondLevel(sequences, rows, this.#bits);
    return verdict.judged && !verdict.passed;
  }
}
