/** What came with the key: figures, the verdict of the tests, and what they do not prove. */
import type { GeneratedKey, NistReport } from '../api.ts';
import { Figure } from '../components/figure.tsx';
import { type Tile, Tiles } from '../components/tiles.tsx';
import { Warnings } from '../components/warnings.tsx';
import { saveJson } from '../download.ts';
import { count, date, milliseconds, pValue, timeOfDay } from '../format.ts';
import type { Made } from './custody.tsx';
import { allPValues, PValuePlot, pValueTable } from './p-value-plot.tsx';
import { TestsTable } from './tests-table.tsx';

export function Evidence({ made }: { made: Made }) {
  const { answer } = made;
  const report = answer.nist_report;
  return (
    <>
      <section class="panel" aria-labelledby="made-title">
        <header class="row">
          <h2 id="made-title">How it was made</h2>
          <p class="note">
            {timeOfDay(answer.timestamp)} on {date(answer.timestamp)}, your local time
          </p>
        </header>
        <Tiles tiles={tilesOf(made)} />
        <Warnings warnings={answer.warnings} />
      </section>
      {report ? <Tested answer={answer} report={report} /> : <Untested />}
    </>
  );
}

function tilesOf({ answer, order, roundTripMs }: Made): Tile[] {
  return [
    {
      label: 'Strength',
      value: `${answer.security_strength_bits} bits`,
      note: 'the length of the key, or the strength of the generator if that is less',
    },
    {
      label: 'Entropy credited',
      value: `${answer.entropy_bits.toFixed(2)} bits`,
      note: 'a claim about the sources, scaled by a screen for defects',
    },
    { label: 'Source', value: answer.source, note: sourceNote(answer) },
    quantumTile(answer),
    { label: 'Modulation', value: order.modulation, note: 'neither adds nor takes strength' },
    {
      label: 'Latency',
      value: milliseconds(answer.latency_ms),
      note: `${milliseconds(roundTripMs)} with network, commit and this page`,
    },
  ];
}

function sourceNote({ source }: GeneratedKey): string {
  if (source === 'os') return 'the operating system’s generator, and no other source';
  const origin = source === 'quantum-simulator' ? 'a pseudorandom imitation, ' : '';
  return `${origin}mixed with the operating system’s generator`;
}

function quantumTile({ quantum_hardware: isQuantum, entropy_job_id: job }: GeneratedKey): Tile {
  const jobText = job === null ? 'no job id' : `job ${job}`;
  return isQuantum
    ? { label: 'Quantum hardware', value: 'yes', note: `on its provider’s word, ${jobText}` }
    : {
        label: 'Quantum hardware',
        value: 'no',
        note: `the source is not quantum hardware, ${jobText}`,
      };
}

function Untested() {
  return (
    <section class="panel plain" aria-labelledby="untested-title">
      <h2 id="untested-title">Not tested</h2>
      <p>
        You did not ask for the statistical tests. The key is as strong as a tested one: the same
        generator makes both in the same way.
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
        <Tiles tiles={labelTiles(answer)} isCompact={true} />
        <p>{verdictText(passed, total)}</p>
        <p>
          <strong>What this does not prove:</strong> that the key cannot be guessed. A generator
          whose seed is known passes all of these tests; they find gross defects. They ran on{' '}
          {count(report.bits)} other bits of the stream, never on the key.
        </p>
        <p class="note">
          Status, level, score and grade are this service’s own labels: NIST certifies nothing by SP
          800-22. The gate’s p-value is {pValue(gate.p_value)}; the status is FAIL below{' '}
          {gate.alpha}.
          {gate.streams_judged > 1 &&
            ' A first stream failed the gate, and no key was cut from it.'}
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

/** The labels that the API gives the result. They come together, whenever the tests ran. */
function labelTiles(answer: GeneratedKey): Tile[] {
  const { nist_validation: validation, nist_score: score, nist_grade: grade } = answer;
  return [
    { label: 'Status', value: validation?.certification_status },
    { label: 'Score', value: score === undefined ? undefined : `${score} of 100` },
    { label: 'Grade', value: grade },
    { label: 'Level', value: validation?.compliance_level },
  ].flatMap(({ label, value }) => (value === undefined ? [] : [{ label, value }]));
}
