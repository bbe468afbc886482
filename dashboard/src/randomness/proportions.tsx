/** Table of the tests: proportion of samples that pass, and uniformity, over the rows of each test. */
import type { Randomness, RandomnessRow } from '../api.ts';
import { DataTable } from '../components/data-table.tsx';
import { Unfold } from '../components/figure.tsx';
import { Strip } from '../components/strip.tsx';
import { count, pValue } from '../format.ts';
import { MODULATION_TEXT, testText } from '../tests.ts';
import {
  carrierRows,
  groupRows,
  isOutside,
  MINIMUM_KEYS,
  rowId,
  rowTitle,
  type TestRows,
  UNIFORMITY_ALPHA,
} from './second-level.ts';

interface ProportionsPanelProps {
  readonly randomness: Randomness;
  onChoose(id: string): void;
}

export function ProportionsPanel({ randomness, onChoose }: ProportionsPanelProps) {
  const { rows } = randomness;
  const low = lowEnd(rows);
  const carrier = carrierRows(rows).length;
  return (
    <section class="panel" aria-labelledby="proportions-title">
      <h2 id="proportions-title">Test by test</h2>
      <p>
        Each stroke is one of {rows.length} rows: {carrier} judge the generator’s output before
        modulation, {rows.length - carrier} the modulation. Proportion is the share of keys with p ≥
        0.01, drawn from {low.toFixed(2)} to 1. §4.2.1 accepts the shaded interval.{' '}
        <span class="wide">
          Uniformity is P-value_T of the row’s p-values, drawn from 0 to 1. Below {UNIFORMITY_ALPHA}{' '}
          they are not uniform (§4.2.2).
        </span>
      </p>
      <table class="tests" aria-labelledby="proportions-title">
        <thead>
          <tr>
            <th scope="col">Test</th>
            <th scope="col" class="number wide">
              Keys
            </th>
            <th scope="col">
              Proportion<span class="wide"> · accepted</span>
            </th>
            <th scope="col" class="wide">
              Uniformity
            </th>
            <th scope="col">Rows</th>
          </tr>
        </thead>
        {groupRows(rows).map(({ title, items }) => (
          <tbody key={title}>
            <tr class="group">
              <th scope="rowgroup" colSpan={5}>
                {title}
                {title === MODULATION_TEXT.title && (
                  <span class="note">{MODULATION_TEXT.purpose}</span>
                )}
              </th>
            </tr>
            {items.map((testRows) => (
              <TestRow key={rowId(testRows[0])} rows={testRows} low={low} onChoose={onChoose} />
            ))}
          </tbody>
        ))}
      </table>
      <Unfold summary={`Numbers: all ${rows.length} rows`}>{() => allRows(rows)}</Unfold>
    </section>
  );
}

/** Returns the common left end of all proportion strips, in whole hundredths. It makes them comparable. */
function lowEnd(rows: readonly RandomnessRow[]): number {
  const values = rows.flatMap(({ proportion, proportion_min: min }) =>
    proportion === null || min === null ? [] : [proportion, min],
  );
  return Math.floor((Math.min(0.985, ...values) - 0.005) * 100) / 100;
}

interface TestRowProps {
  readonly rows: TestRows;
  readonly low: number;
  onChoose(id: string): void;
}

function TestRow({ rows, low, onChoose }: TestRowProps) {
  const [first] = rows;
  const choose = () => {
    onChoose(rowId(first));
    const histogram = document.getElementById('histogram');
    histogram?.querySelector('select')?.focus({ preventScroll: true });
    histogram?.scrollIntoView({ block: 'nearest' });
  };
  const { proportion_min: min, proportion_max: max } = first;
  const proportions = rows.flatMap(({ proportion }) => proportion ?? []);
  const uniformities = rows.flatMap(({ uniformity_p: p }) => p ?? []);
  const smallest = Math.min(...proportions);
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" onClick={choose}>
          {testText(first.test).title}
          <span class="unseen">
            {first.stream === 'modulated' && ', after modulation'}: show its histogram
          </span>
        </button>
      </th>
      <td class="number wide">{count(first.samples)}</td>
      <td>
        {proportions.length > 0 && min !== null && max !== null ? (
          <div class="gauge">
            <Strip
              values={proportions}
              range={[low, 1]}
              band={[min, max]}
              isOdd={(value) => value < min || value > max}
            />
            <span class="note">
              {rows.length > 1 ? 'min ' : ''} {smallest.toFixed(3)}
              <span class="wide">
                {' '}
                · {min.toFixed(3)} to {max === 1 ? 1 : max.toFixed(3)}
              </span>
            </span>
          </div>
        ) : (
          <span class="note">
            {first.samples} of {MINIMUM_KEYS} samples
          </span>
        )}
      </td>
      <td class="wide">
        {uniformities.length > 0 && (
          <div class="gauge">
            <Strip values={uniformities} isOdd={(value) => value < UNIFORMITY_ALPHA} />
            <span class="note">
              {rows.length > 1 ? 'min ' : ''} {pValue(Math.min(...uniformities))}
            </span>
          </div>
        )}
      </td>
      <td>
        <RowsVerdict rows={rows} />
      </td>
    </tr>
  );
}

function RowsVerdict({ rows }: { rows: readonly RandomnessRow[] }) {
  const judged = rows.filter(({ verdict }) => verdict !== null);
  if (judged.length === 0) return <span class="state">not judged</span>;
  const failed = judged.filter(({ verdict }) => verdict === 'fail').length;
  const outside = judged.filter(isOutside).length;
  return (
    <>
      {failed === 0 ? (
        <span class="state good">
          <span aria-hidden="true">✓</span> {rows.length > 1 ? `${judged.length} pass` : 'pass'}
        </span>
      ) : (
        <span class="state bad">
          <span aria-hidden="true">!</span> {rows.length > 1 ? `${failed} fail` : 'fail'}
        </span>
      )}
      {outside > 0 && <span class="note">{outside} outside</span>}
    </>
  );
}

function allRows(rows: readonly RandomnessRow[]) {
  const orDash = (value: number | null, digits: number) =>
    value === null ? '–' : value.toFixed(digits);
  return (
    <DataTable
      caption="All rows of the second level"
      head={['Row', 'Samples', 'Passed', 'Proportion', 'From', 'To', 'Uniformity', 'Verdict']}
      rows={rows.map((row) => [
        rowTitle(row),
        row.samples,
        row.passed,
        orDash(row.proportion, 4),
        orDash(row.proportion_min, 4),
        orDash(row.proportion_max, 4),
        row.uniformity_p === null ? '–' : pValue(row.uniformity_p),
        row.verdict ?? 'not judged',
      ])}
    />
  );
}
