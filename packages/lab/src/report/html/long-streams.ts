/** The section of the long streams: their results, and that they are not part of the standard. */
import {
  CATALOGUE,
  type LongStreamName,
  type LongStreams,
  NOT_OF_STANDARD,
  THOROUGH_TESTS,
} from '../../../../sp800-22/src/index.ts';
import { deviationText, longStreamVerdict, streamsText } from '../long-streams.ts';
import { pValueText } from '../p-value-text.ts';
import { SUPPLEMENT_DETECTS } from '../supplements.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { signedResult, table } from './table.ts';

const DETECTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(CATALOGUE).map(([name, { detects }]) => [name, detects])),
  ...SUPPLEMENT_DETECTS,
  ...Object.fromEntries(
    Object.entries(THOROUGH_TESTS).map(([name, { detects }]) => [name, detects]),
  ),
} satisfies Partial<Record<LongStreamName, string>>;

/** Returns the section, or nothing without long streams. */
export function longStreamsSection(all: LongStreams | undefined): Markup {
  if (!all || all.streams === 0) return NOTHING;
  const columns = ['Test', 'Result', { figures: 'Smallest p' }, { figures: 'Stream' }, 'Detects'];
  const rows = all.tests.map((test) => [
    test.name,
    markup`${signedResult(test.passed, 'FAILED')}${test.passed ? '' : ` ${deviationText(test)}`}`,
    pValueText(test.p),
    test.stream,
    DETECTS[test.name],
  ]);
  return markup`<section id="long-streams"><h2>Long streams, ${NOT_OF_STANDARD}</h2>
<p>The sequences one after another: ${streamsText(all)}. ${longStreamVerdict(all)}</p>
${table('Results of the long streams', columns, rows)}
</section>
`;
}
