/** What came with the key: figures, the verdict of the tests, and what they do not prove. */
import type { GeneratedKey, NistReport } from '../api.ts';
import { Figure } from '../components/figure.tsx';
import { Tiles } from '../components/tiles.tsx';
import { saveJson } from '../download.ts';
import { count, date, milliseconds, pValue, timeOfDay } from '../format.ts';
import type { Made } from './custody.tsx';
import { allPValues, PValuePlot, pValueTable } from './p-value-plot.tsx';
import { TestsTable } from './tests-table.tsx';

export function Evidence({ made }: { made: Made }) {
  const { answer, order, roundTripMs } = made;
  const report = answer.nist_report;
  return (
    <>
      <section class="panel" aria-labelledby="made-title">
        <h2 id="made-title">How it was made</h2>
        <Tiles
          tiles={[
            {
              label: 'Entropy credited',
              value: `${answer.entropy_bits.toFixed(2)} bits`,
              note: 'a claim about the sources, scaled by a screen for defects',
            },
            {
              label: 'Latency',
              value: milliseconds(answer.latency_ms),
              note: `${milliseconds(roundTripMs)} with network, commit and this page`,
            },
            { label: 'Modulation', value: order.modulation, note: 'adds no strength, takes none' },
            {
              label: 'Source',
              value: answer.source,
              note: 'beside the operating system’s',
            },
            {
              label: 'Made',
              value: timeOfDay(answer.timestamp),
              note: `${date(answer.timestamp)}, your local time`,
            },
          ]}
        />
        <SourceNote answer={answer} />
      </section>
      {report ? <Tested answer={answer} report={report} /> : <Untested />}
    </>
  );
}

/** What the name of a source does not say. */
function SourceNote({ answer }: { answer: GeneratedKey }) {
  if (answer.quantum_hardware) {
    const job = answer.entropy_job_id === null ? '' : ` Job ${answer.entropy_job_id}.`;
    return <p class="note">Quantum hardware took part, by its provider’s word.{job}</p>;
  }
  if (answer.source !== 'quantum-simulator') return null;
  return (
    <p class="note">
      No quantum hardware took part: the simulator is a pseudorandom imitation, credited with no
      entropy.
    </p>
  );
}

function Untested() {
  return (
    <section class="panel plain" aria-labelledby="untested-title">
      <h2 id="untested-title">Not tested</h2>
      <p>
        The statistical tests were not asked for. The key is as strong as a tested one: it comes
        from the same generator in the same way.
      </p>
    </section>
  );
}

function Tested({ answer, report }: { answer: GeneratedKey; report: NistReport }) {
  const { tests_passed: passed, total_tests: total, gate } = report;
  const values = allPValues(report);
  const { key: _key, hash_proof: _proof, ...filed } = answer;
  return (
    <>
      <section class="panel verdict good" aria-labelledby="tests-title">
        <header class="row">
          <h2 id="tests-title">
            {passed} of {total} tests passed
          </h2>
          <button type="button" onClick={() => saveJson(`${answer.key_id}-report.json`, filed)}>
            Download report
          </button>
        </header>
        <p>{verdictText(passed, total)}</p>
        <p>
          <strong>What this does not prove:</strong> that the key cannot be guessed. A generator
          whose seed is known passes all of these tests; they find gross defects. They ran on{' '}
          {count(report.bits)} other bits of the stream, never on the key.
        </p>
        <p class="note">
          {labelsOf(answer)} Gate: p = {pValue(gate.p_value)}, FAIL below {gate.alpha}.
          {gate.streams_judged > 1 && ' A first stream failed the gate and was dropped whole.'}
        </p>
      </section>
      <section class="panel" aria-label="All p-values">
        <Figure
          heading="h2"
          title={`${values.length} p-values, sorted, against an even spread`}
          caption="A sound source gives p-values spread evenly from 0 to 1: points along the line. Of independent values 99 in 100 would lie within the band; these overlap in what they measure, and wander further."
          table={() => pValueTable(values)}
        >
          <PValuePlot values={values} alpha={report.alpha} />
        </Figure>
      </section>
      <TestsTable report={report} />
    </>
  );
}

function verdictText(passed: number, total: number): string {
  const skipped =
    total < 15
      ? ' The two random excursions tests do not apply to this sample, as to more than one in three sound ones.'
      : '';
  if (passed === total) return `Nothing unusual was found.${skipped}`;
  const below = total - passed === 1 ? 'One test fell' : `${total - passed} tests fell`;
  return `${below} below 1\u00a0%. That happens to about one sound key in eight, and this key is no worse for it: do not choose keys by their test results.${skipped}`;
}

function labelsOf(answer: GeneratedKey): string {
  const { nist_validation: found, nist_score: score, nist_grade: grade } = answer;
  const labels = `${found?.certification_status}, ${found?.compliance_level}, score ${score}, grade ${grade}`;
  return `Labels of the API: ${labels}. They are this service’s own; NIST certifies nothing by SP 800-22.`;
}
