/** The long streams in text. Every place says that they are not part of SP 800-22. */
import {
  grouped,
  LONG_STREAM_MINIMUM_BITS,
  type LongStreams,
  type LongStreamTest,
  NOT_OF_STANDARD,
  THOROUGH_TESTS,
} from '../../../sp800-22/src/index.ts';
import { pValueText } from './p-value-text.ts';
import { alignColumns, countText, type Paragraph, resultText } from './text.ts';

const NO_STREAM = `none, the sequences have fewer than ${grouped(LONG_STREAM_MINIMUM_BITS)} bits together.`;

/** The text on the long streams. */
export function longStreamsText(all: LongStreams): Paragraph {
  if (all.streams === 0) return [`Long streams, ${NOT_OF_STANDARD}: ${NO_STREAM}`];
  const rows = all.tests.map((test) => [
    test.name,
    pValueText(test.p),
    grouped(test.stream),
    resultText(test.passed),
    deviationText(test),
  ]);
  return [
    `Long streams, ${NOT_OF_STANDARD}: ${streamsText(all)}`,
    ...alignColumns([['test', 'smallest p', 'stream', 'result', 'largest deviation'], ...rows]),
    longStreamVerdict(all),
  ];
}

/** Returns how many there are, and how long. */
export function streamsText({ streams, bits }: LongStreams): string {
  return `${countText(streams, 'stream')} of ${streams > 1 ? 'up to ' : ''}${grouped(bits)} bits`;
}

/** Returns the verdict in one sentence. */
export function longStreamVerdict({ streams, passed, pValues, p, alpha }: LongStreams): string {
  if (streams === 0) return `Long streams: ${NO_STREAM}`;
  const compared = `the smallest of ${countText(pValues, 'p-value')}, corrected, is ${pValueText(p)}`;
  return `Long streams: ${resultText(passed)}: ${compared}, ${passed ? 'not ' : ''}below ${alpha}.`;
}

/** Returns where the largest deviation is, such as "width 8, place 0, near 3, far 31, z 15.6"; empty for tests of the suite. */
export function deviationText({ name, p, statistics = {} }: LongStreamTest): string {
  if (!(name in THOROUGH_TESTS) || p > 0.01) return '';
  return Object.entries(statistics)
    .filter(([symbol]) => symbol !== 'streams' && symbol !== 'pairs' && symbol !== 'planes')
    .map(([symbol, value]) => `${symbol} ${figureText(value)}`)
    .join(', ');
}

function figureText(value: number | boolean | readonly number[]): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(3)));
}
