/** How the report judges, and where that differs from the standard (ISO/IEC 17025 §7.8.2.1 n and §7.8.6). */
import {
  resolveParameters,
  type SecondLevelVerdict,
  type SuiteReport,
  UNIFORMITY_ALPHA,
} from '../../../../sp800-22/src/index.ts';
import {
  PART_NAMES,
  PARTS_OF_P_VALUES,
  SHARES,
  SOURCE_ALPHA,
} from '../../../../sp800-22/src/source-rule/index.ts';
import { verdictNotes } from '../second-level-text.ts';
import type { AssessSummary } from '../summary.ts';
import { PARTS, percentText, ruleTexts, TEST_RULE } from '../verdict-text.ts';
import { type Markup, markup, NOTHING } from './markup.ts';

/** Returns the section. `first` is the report on the first sequence. */
export function ruleSection(summary: AssessSummary, first: SuiteReport): Markup {
  const { tests } = summary;
  const differences = [...constantsTexts(first), ...blockTexts(first)];
  return markup`<section id="rule"><h2>Decision rule</h2>
<p>The rule is that of this program: SP 800-22 ${tests.length === 0 ? 'has no supplements' : 'leaves the verdict to its reader'}.</p>
${rulesOf(summary).map((text) => markup`<p>${text}</p>`)}
${differences.length === 0 ? NOTHING : markup`<h3>Differences from SP 800-22</h3>\n<ul>${differences.map((text) => markup`<li>${text}</li>`)}</ul>`}
</section>
`;
}

function rulesOf({ secondLevel, supplements }: AssessSummary): string[] {
  return [
    ruleTexts(SOURCE_ALPHA).join(' '),
    PART_NAMES.map(
      (name) =>
        `${capital(PARTS[name].title)}, ${percentText(SHARES[name])}: ${PARTS[name].judges}.`,
    ).join(' '),
    TEST_RULE,
    ...(supplements ? [TWO_GROUPS] : []),
    ...(secondLevel.judged ? [verdictNotes(secondLevel).join(' '), limitsText(secondLevel)] : []),
    'How often the tests miss a defective source depends on its defect, and is not known.',
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const TWO_GROUPS = `The supplements are judged by the first three parts, as a group of their own. Both groups together fail at most ${percentText(SOURCE_ALPHA + PARTS_OF_P_VALUES.reduce((sum, name) => sum + SHARES[name], 0))} of sound sources.`;

/** Sets the standard's figures beside the verdict. */
function limitsText(secondLevel: SecondLevelVerdict): string {
  const { rowsJudged, rowsOutsideInterval, expectedOutsideInterval, rowsNotUniform } = secondLevel;
  return `SP 800-22 §4.2 has limits for one row alone: a proportion within ±3σ, and P-value_T of at least ${UNIFORMITY_ALPHA}. Of ${rowsJudged} rows, ${rowsOutsideInterval} are outside the first, where ${expectedOutsideInterval.toFixed(2)} are expected of a sound source, and ${rowsNotUniform} are below the second. These limits decide nothing here, because many sound sources have such a row.`;
}

const EXACT = `The class probabilities of longest_run, overlapping_template and linear_complexity are the exact ones. The standard prints rounded values, approximations for overlapping_template and for M = 10,000 of longest_run, and a misprint for linear_complexity.`;

function constantsTexts({ constants, tests }: SuiteReport): string[] {
  const affected = ['longest_run', 'overlapping_template', 'linear_complexity'];
  const isAffected = tests.some(({ name, applicable }) => applicable && affected.includes(name));
  return isAffected && constants === 'exact' ? [EXACT] : [];
}

/** §2.2.7 recommends fewer blocks than this. */
const MOST_BLOCKS = 100;

function blockTexts({ bits, parameters, tests }: SuiteReport): string[] {
  if (!tests.some(({ name, applicable }) => applicable && name === 'block_frequency')) return [];
  return resolveParameters(bits, parameters)
    .blockFrequencyM.filter((M) => Math.floor(bits / M) >= MOST_BLOCKS)
    .map(
      (M) =>
        `block_frequency also runs with M = ${M}, the value of the NIST program. §2.2.7 recommends fewer than ${MOST_BLOCKS} blocks, so a larger M at this length.`,
    );
}
