/** Details of the generated key, and the results of its tests. */
import type { NistReport } from '../api.ts';
import { Figure } from '../components/figure.tsx';
import { type Tile, Tiles } from '../components/tiles.tsx';
import { Warnings } from '../components/warnings.tsx';
import { date, milliseconds, timeOfDay } from '../format.ts';
import type { Answer, Made } from './custody.tsx';
import { carrierPValues, PValuePlot, pValueTable } from './p-value-plot.tsx';
import { TestTables } from './tests-table.tsx';
import { Scores, TestsVerdict } from './tests-verdict.tsx';

export function Evidence({ made }: { made: Made }) {
  const { answer } = made;
  const report = answer.nist_report;
  return (
    <>
      <section class="panel" aria-labelledby="made-title">
        <header class="row">
          <h2 id="made-title">How it was generated</h2>
          <p class="note">
            {timeOfDay(answer.timestamp)} on {date(answer.timestamp)}, your local time
          </p>
        </header>
        <Tiles tiles={tilesOf(made)} />
        <Warnings warnings={answer.warnings} />
      </section>
      {report && <Tested answer={answer} report={report} />}
    </>
  );
}

function tilesOf({ answer, order, roundTripMs }: Made): Tile[] {
  return [
    {
      label: 'Strength',
      value: `${answer.security_strength_bits} bits`,
      note: 'the length of the key, or the strength of the generator if that is lower',
    },
    {
      label: 'Entropy credited',
      value: `${answer.entropy_bits.toFixed(2)} bits`,
      note: 'the credit of the sources times the bound of a screen for defects; a bound below 1 is no loss of entropy',
    },
    { label: 'Source', value: answer.source, note: sourceNote(answer) },
    quantumTile(answer),
    { label: 'Modulation', value: order.modulation, note: 'neither adds nor removes strength' },
    {
      label: 'Latency',
      value: milliseconds(answer.latency_ms),
      note: `${milliseconds(roundTripMs)} with network, commit and this page`,
    },
  ];
}

function sourceNote({ source }: Answer): string {
  if (source === 'os') return 'the operating system’s generator only';
  const origin = source === 'quantum-simulator' ? 'a pseudorandom imitation, ' : '';
  return `${origin}mixed with the operating system’s generator`;
}

function quantumTile({ quantum_hardware: isQuantum, entropy_job_id: job }: Answer): Tile {
  const jobText = job === null ? 'no job ID' : `job ${job}`;
  return isQuantum
    ? { label: 'Quantum hardware', value: 'yes', note: `according to the provider, ${jobText}` }
    : {
        label: 'Quantum hardware',
        value: 'no',
        note: `the source is not quantum hardware, ${jobText}`,
      };
}

function Tested({ answer, report }: { answer: Answer; report: NistReport }) {
  const values = carrierPValues(report);
  return (
    <>
      <TestsVerdict answer={answer} report={report} />
      <section class="panel" aria-label="All p-values of the generator’s output">
        <Figure
          heading="h2"
          title={`${values.length} p-values of the generator’s output, sorted, against an even spread`}
          caption="A sound source spreads its p-values evenly from 0 to 1: the points follow the line. Of independent values, 99 in 100 would lie within the band. The tests overlap in what they measure, so these p-values stray further."
          table={() => pValueTable(values)}
        >
          <PValuePlot values={values} alpha={report.alpha} />
        </Figure>
      </section>
      <TestTables report={report} />
      <Scores answer={answer} />
    </>
  );
}
