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
  return markup`<section id="long-streams"><h2>Long streams, ${NOT_OF_STANDARD}</h2>
<p>The sequences one after another: ${streamsText(all)}. ${longStreamVerdict(all)}</p>
<div class="scroll" tabindex="0"><table>
<caption>Results of the long streams</caption>
<thead><tr><th scope="col">Test</th><th scope="col">Result</th><th scope="col" class="number">Smallest p</th><th scope="col" class="number">Stream</th><th scope="col">Detects</th></tr></thead>
<tbody>
${all.tests.map(
  (
    test,
  ) => markup`<tr><th scope="row">${test.name}</th><td>${test.passed ? markup`<span class="passed">✓ passed</span>` : markup`<span class="failed">✗ FAILED</span> ${deviationText(test)}`}</td><td class="number">${pValueText(test.p)}</td><td class="number">${String(test.stream)}</td><td>${DETECTS[test.name]}</td></tr>
`,
)}</tbody></table></div>
</section>
`;
}
