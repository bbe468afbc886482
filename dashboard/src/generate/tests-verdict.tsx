/** Results of the tests: counts and gate, what they do not prove, and last the labels of the API. */
import type { NistReport } from '../api.ts';
import { type Tile, Tiles } from '../components/tiles.tsx';
import { saveJson } from '../download.ts';
import { count, pValue } from '../format.ts';
import { testText } from '../tests.ts';
import type { Answer } from './custody.tsx';

/** Number of modulation tests in the gate of a modulated key. */
const MODULATION_TESTS = 4;

interface TestsVerdictProps {
  readonly answer: Answer;
  readonly report: NistReport;
}

export function TestsVerdict({ answer, report }: TestsVerdictProps) {
  const { tests_passed: passed, total_tests: total, gate, modulation_tests: ofModulation } = report;
  const { key: _key, hash_proof: _proof, opening: _opening, ...filed } = answer;
  return (
    <section class="panel verdict good" aria-labelledby="tests-title">
      <header class="row">
        <h2 id="tests-title">{testsText(report)}</h2>
        <button type="button" onClick={() => saveJson(`${answer.key_id}-report.json`, filed)}>
          Download report
        </button>
      </header>
      <Tiles tiles={gateTiles(report)} />
      <p>
        The tests judge the generator’s output before modulation. {findingsText(passed, total)} The
        key is cut from the bits after these {count(report.bits)}.
      </p>
      {ofModulation.length === 0 && (
        <p>
          This key has no modulation, so its {MODULATION_TESTS} tests were skipped and the gate has{' '}
          {gate.tests} tests instead of {gate.tests + MODULATION_TESTS}.
        </p>
      )}
      <p>
        <strong>What this does not prove:</strong> that the key cannot be guessed. A generator with
        a known seed can pass all of these tests. They find only gross defects.
        {gate.streams_judged > 1 && ' A first stream failed the gate, and no key was cut from it.'}
      </p>
    </section>
  );
}

/** Summarises the tests in neutral words. The gate has always passed, because no other key is released. */
export function testsText({ tests_passed: passed, total_tests: total }: NistReport): string {
  return `${passed} of ${total} tests passed, gate passed`;
}

function gateTiles({ gate, tests, modulation_tests: modulationTests }: NistReport): Tile[] {
  const { stream, name } = gate.weakest;
  const judged = stream === 'modulated' ? modulationTests : tests;
  const weakestP = judged.find((test) => test.name === name)?.corrected_p ?? gate.p_value;
  return [
    {
      label: 'Gate',
      value: `p = ${pValue(gate.p_value)}`,
      note: `no key is released below ${gate.alpha}; a higher p says nothing more`,
    },
    {
      label: 'Tests in the gate',
      value: String(gate.tests),
      note: 'p is their number times the smallest corrected p, at most 1',
    },
    {
      label: 'Weakest test',
      value: testText(name).title,
      note: `corrected p ${pValue(weakestP)}, ${stream === 'modulated' ? 'after modulation' : 'generator’s output'}`,
    },
  ];
}

function findingsText(passed: number, total: number): string {
  const skipped =
    total < 15
      ? ' The two random excursions tests do not apply to this sample, as with more than one in three sound samples.'
      : '';
  if (passed === total) return `No corrected p-value is below 1\u00a0%.${skipped}`;
  const below = total - passed;
  const words = below === 1 ? 'One corrected p-value is' : `${below} corrected p-values are`;
  return `${words} below 1\u00a0%. That happens with about one in eight sound samples and makes this key no worse: do not choose keys by their test results.${skipped}`;
}

/** Shows the words and scores of the API. They restate the figures above; an answer has all of them or none. */
export function Scores({ answer }: { answer: Answer }) {
  const { nist_validation: validation, nist_score: score, nist_grade: grade } = answer;
  const tiles = [
    { label: 'Status', value: validation?.certification_status },
    { label: 'Level', value: validation?.compliance_level },
    { label: 'Score', value: score === undefined ? undefined : `${score} of 100` },
    { label: 'Grade', value: grade },
  ].flatMap(({ label, value }) => (value === undefined ? [] : [{ label, value }]));
  return (
    <section class="panel plain" aria-labelledby="scores-title">
      <h2 id="scores-title">Status and score</h2>
      <p>
        The API has these fields for existing clients. They restate the figures above and add
        nothing. NIST certifies nothing by SP 800-22.
      </p>
      <Tiles tiles={tiles} isCompact={true} />
    </section>
  );
}
