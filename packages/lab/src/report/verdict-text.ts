/** The verdict on a source in words: what each part of the rule found, for the text report and the page. */
import { ALPHA, grouped, NOT_OF_STANDARD, type SuiteReport } from '../../../sp800-22/src/index.ts';
import type {
  PartName,
  SourcePart,
  SourceVerdict,
} from '../../../sp800-22/src/source-rule/index.ts';
import { pValueText } from './p-value-text.ts';
import type { SmallestRow } from './smallest-row.ts';
import type { AssessSummary, GroupSummary } from './summary.ts';
import { alignColumns, countText, resultText } from './text.ts';

type Found = SourceVerdict['findings'];

/** What a part is called, and what it judges. */
interface PartTexts {
  readonly title: string;
  readonly judges: string;
}

export const PARTS: Readonly<Record<PartName, PartTexts>> = {
  smallest: {
    title: 'smallest p-value',
    judges: 'the smallest of all p-values whose tails are exact or bounded, times their number',
  },
  second_level: {
    title: 'second level',
    judges: 'proportion and uniformity of each row over all sequences (SP 800-22 §4.2)',
  },
  counts: {
    title: 'low sequences',
    judges: 'how many sequences have a corrected p-value below fixed limits',
  },
  scan: {
    title: 'pieces',
    judges: 'windows of 256 bits and more within sequences: a piece from elsewhere',
  },
  walks: {
    title: 'drift',
    judges: 'small deviations that add up over all sequences',
  },
  repeats: {
    title: 'repeats',
    judges: 'data that occur twice',
  },
};

/** One part as cells: its title, p, limit, result, and what was found. */
interface PartRow {
  readonly part: SourcePart;
  readonly title: string;
  readonly p: string;
  readonly limit: string;
  readonly result: string;
  readonly found: string;
}

export function partRows(group: GroupSummary): PartRow[] {
  return group.verdict.parts.map((part) => ({
    part,
    title: PARTS[part.name].title,
    p: part.judged ? probabilityText(part.p) : '-',
    limit: String(part.alpha),
    result: resultText(part.judged ? part.passed : null),
    found: part.judged ? FOUND[part.name](group) : part.reason,
  }));
}

function probabilityText(p: number): string {
  return p >= 1 ? '1' : pValueText(p);
}

const FOUND: Readonly<Record<PartName, (group: GroupSummary) => string>> = {
  smallest: ({ verdict }) => smallestFound(verdict.findings),
  second_level: ({ secondLevel }) =>
    secondLevel.judged
      ? `${grouped(secondLevel.rowsFailed)} of ${grouped(secondLevel.rowsJudged)} rows failed`
      : '',
  counts: ({ verdict }) => countsFound(verdict.findings),
  scan: ({ verdict }) => scanFound(verdict.findings),
  walks: ({ verdict }) => walkFound(verdict.findings),
  repeats: ({ verdict }) => repeatFound(verdict.findings),
};

function smallestFound({ smallest }: Found): string {
  if (!smallest) return '';
  const { test, sequence, p, compared } = smallest;
  return `${test} of sequence ${grouped(sequence)}: ${pValueText(p)}, of ${grouped(compared)}`;
}

/** Names the limit with the least probable count. */
function countsFound({ counts }: Found): string {
  if (!counts) return '';
  const { compared, limits } = counts;
  const least = limits.reduce((one, other) => (other.p < one.p ? other : one));
  const expected = Number((least.probability * compared).toPrecision(2));
  return `${countText(least.sequences)} below ${least.below}, at most ${expected} expected`;
}

function scanFound({ scan }: Found): string {
  if (!scan) return '';
  const { measure, from, bits, count, trials } = scan.piece;
  const place = `bits ${grouped(from)} to ${grouped(from + bits - 1)} of sequence ${grouped(scan.sequence)}`;
  return `${place}: ${grouped(count)} of ${grouped(trials)} ${measure}`;
}

function walkFound({ walks }: Found): string {
  if (!walks) return '';
  const { deviation, sequence, measure, steps } = walks;
  const sign = deviation < 0 ? '−' : '+';
  return `${measure}: ${sign}${grouped(Math.abs(deviation))} after sequence ${grouped(sequence)}, of ${grouped(steps)}`;
}

function repeatFound({ repeats }: Found): string {
  // A short period may have none of these places.
  if (!repeats) return 'none at the compared places, one in 4,096';
  const { sequence, bit, earlier_sequence, earlier_bit } = repeats;
  return `bit ${grouped(bit)} of sequence ${grouped(sequence)} on is as bit ${grouped(earlier_bit)} of sequence ${grouped(earlier_sequence)} on`;
}

/**
 * Returns the verdict on the source, and that of each group if there are others than the tests, such as
 * "Source: FAILED (tests passed, long streams FAILED)".
 */
export function sourceText(summary: AssessSummary): string {
  const { passed, tests, verdict, supplements, longStreams } = summary;
  const groups = [
    ...(tests.length > 0 ? [`tests ${resultText(verdict.passed)}`] : []),
    ...(supplements ? [`supplements ${resultText(supplements.verdict.passed)}`] : []),
    ...(longStreams?.streams ? [`long streams ${resultText(longStreams.passed)}`] : []),
  ];
  const isOfTests = groups.length === 1 && tests.length > 0;
  return `Source: ${resultText(passed)}${isOfTests ? '' : ` (${groups.join(', ')})`}`;
}

/** Returns the smallest p-value with its place, as a sentence. */
export function smallestText(smallest: SmallestRow): string {
  const { test, label, sequence, offset_bits: from, bits, p } = smallest;
  const name = label === '' ? test : `${test} ${label}`;
  const place = `sequence ${grouped(sequence)}, bits ${grouped(from)} to ${grouped(from + bits - 1)} of the input`;
  return `Smallest p-value: ${pValueText(p)}, ${name}, ${place}.`;
}

/** Returns "0.3 %". */
export function percentText(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}

/** Returns what the rule is, in lines. `alpha` is the sum of the limits. */
export function ruleTexts(alpha: number): readonly string[] {
  return [
    'The source fails if p of one part is below its limit. p bounds the probability that a sound source gives',
    `as much. The limits sum to ${percentText(alpha)}: at most so many sound sources fail. A pass shows no defect`,
    'that these parts find; the fewer the sequences, the less they find.',
  ];
}

/** Returns the first line of a report on so many sequences. It names no standard if only supplements were run. */
export function heading({ bits, constants, tests }: SuiteReport, sequences: number): string {
  const size = `${sequences === 1 ? '' : `${countText(sequences)} of `}${grouped(bits)} bits`;
  return tests.length === 0
    ? `Supplements, ${NOT_OF_STANDARD}: ${size}`
    : `SP 800-22 Rev. 1a: ${size}, ${constants} constants`;
}

/** Returns "15 of 15 tests passed", followed by `note` and the number of tests that do not apply, if any. */
export function passedText(passed: number, applicable: number, tests: number, note = ''): string {
  if (applicable === tests) return `${passed} of ${tests} tests passed${note}`;
  const rest = `${tests - applicable} of ${tests} not applicable`;
  return `${passed} of ${applicable} applicable tests passed${note}; ${rest}`;
}

export const TEST_RULE: string = `A test passes if its smallest p-value, corrected for their number, is at least ${ALPHA}.`;

export const NO_CERTIFICATE: readonly string[] = [
  '"passed" and "FAILED" are labels of this program: NIST certifies nothing by SP 800-22, and a',
  'sequence that passes may still be predictable.',
];

/** Returns the parts of the verdict by the tests, or by the supplements. */
export function partLines(group: GroupSummary): string[] {
  const rows = partRows(group).map(({ title, p, limit, result, found }) => [
    title,
    p,
    limit,
    result,
    found,
  ]);
  return [
    ...(group.smallest ? [smallestText(group.smallest)] : []),
    ...alignColumns([['part', 'p', 'limit', 'result', 'most extreme'], ...rows]),
    ...ruleTexts(group.verdict.alpha),
  ];
}
