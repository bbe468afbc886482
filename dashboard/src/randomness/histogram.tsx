/** Histogram of the p-values of one row, or of all rows that judge the generator, against an even spread. */
import { useId } from 'preact/hooks';
import type { Randomness, RandomnessRow } from '../api.ts';
import { DataTable } from '../components/data-table.tsx';
import { Figure, useWidth } from '../components/figure.tsx';
import { count, percent, pValue } from '../format.ts';
import { MODULATION_TEXT } from '../tests.ts';
import {
  carrierRows,
  groupRows,
  pooledHistogram,
  rowId,
  rowTitle,
  testTitle,
} from './second-level.ts';

/** Number of standard deviations within which 99 in 100 counts lie. */
const BAND = 2.576;
const HEIGHT = 220;
const MARGIN = { left: 44, right: 8, top: 12, bottom: 36 };

interface HistogramPanelProps {
  readonly randomness: Randomness;
  /** ID of a row; empty for all rows of the generator's output together. */
  readonly chosen: string;
  onChoose(id: string): void;
}

export function HistogramPanel({ randomness, chosen, onChoose }: HistogramPanelProps) {
  const { rows } = randomness;
  const row = rows.find((one) => rowId(one) === chosen);
  const pooled = carrierRows(rows);
  const counts = row ? row.histogram : pooledHistogram(pooled);
  const total = counts.reduce((sum, one) => sum + one, 0);
  const title = row ? rowTitle(row) : `All ${pooled.length} rows of the generator’s output`;
  return (
    <section class="panel" id="histogram" aria-labelledby="histogram-title">
      <header class="row">
        <h2 id="histogram-title">Distribution of the p-values</h2>
        <RowSelect rows={rows} chosen={row ? chosen : ''} onChoose={onChoose} />
      </header>
      <Figure
        title={`${title}: ${count(total)} p-values in ten bins`}
        caption={row ? rowCaption(row) : ALL_CAPTION}
        table={() => (
          <DataTable
            caption={`${title}: p-values in ten bins`}
            head={['From', 'p-values', 'Expected']}
            rows={counts.map((value, bin) => [bin / 10, count(value), (total / 10).toFixed(1)])}
          />
        )}
      >
        <Histogram counts={counts} hasBand={row !== undefined} title={title} />
      </Figure>
    </section>
  );
}

const ALL_CAPTION =
  'The line marks an even spread. The rows of the modulation are left out. There is no band, because rows overlap in what they measure and some p-values are only nearly uniform.';

function rowCaption(row: RandomnessRow): string {
  const spread = 'The line marks an even spread. A count lies within the band 99 times in 100.';
  const band = row.stream === 'modulated' ? `${MODULATION_TEXT.purpose} ${spread}` : spread;
  if (row.uniformity_p === null || row.proportion === null) {
    return `${band} ${row.samples} samples: too few to judge.`;
  }
  return `${band} Uniformity: P-value_T = ${pValue(row.uniformity_p)}, not uniform below 0.0001. ${percent(row.proportion)} of ${row.samples} samples have p ≥ 0.01.`;
}

interface RowSelectProps {
  readonly rows: readonly RandomnessRow[];
  readonly chosen: string;
  onChoose(id: string): void;
}

function RowSelect({ rows, chosen, onChoose }: RowSelectProps) {
  const id = useId();
  const tests = groupRows(rows).flatMap(({ items }) => items);
  return (
    <div class="field inline">
      <label for={id}>Row</label>
      <select id={id} value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">All of the generator’s output</option>
        {tests.map((testRows) => (
          <optgroup key={rowId(testRows[0])} label={testTitle(testRows[0])}>
            {testRows.map((row) => (
              <option key={rowId(row)} value={rowId(row)}>
                {rowTitle(row)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}

interface HistogramProps {
  readonly counts: readonly number[];
  readonly hasBand: boolean;
  readonly title: string;
}

function Histogram({ counts, hasBand, title }: HistogramProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const total = counts.reduce((sum, one) => sum + one, 0);
  const expected = total / 10;
  const half = BAND * Math.sqrt(total * 0.09);
  const top = Math.max(1, ...counts, hasBand ? expected + half : expected) * 1.08;
  const innerWidth = Math.max(1, width - MARGIN.left - MARGIN.right);
  const innerHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
  const x = (value: number) => MARGIN.left + value * innerWidth;
  const y = (value: number) => MARGIN.top + (1 - Math.max(0, value) / top) * innerHeight;
  const odd = counts.filter((value) => Math.abs(value - expected) > half).length;
  const summary = `${title}: ${count(total)} p-values in ten bins, from ${count(Math.min(...counts))} to ${count(Math.max(...counts))} in a bin, ${expected.toFixed(1)} expected${hasBand ? `; ${odd} bins outside the band` : ''}.`;
  return (
    <div ref={ref} class="plot">
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
          {[0, expected].map((value) => (
            <text key={value} class="end" x={MARGIN.left - 8} y={y(value) + 4}>
              {count(total < 1000 ? Number(value.toFixed(1)) : Math.round(value))}
            </text>
          ))}
          <path class="grid" d={`M${x(0)} ${y(0)}H${x(1)}`} />
          {hasBand && (
            <rect
              class="band"
              x={x(0)}
              y={y(expected + half)}
              width={innerWidth}
              height={y(expected - half) - y(expected + half)}
            />
          )}
          {counts.map((value, bin) => (
            <rect
              key={bin}
              class={hasBand && Math.abs(value - expected) > half ? 'bar odd' : 'bar'}
              x={x(bin / 10) + 2}
              y={y(value)}
              width={Math.max(1, innerWidth / 10 - 4)}
              height={Math.max(0, y(0) - y(value))}
            />
          ))}
          <path class="diagonal" d={`M${x(0)} ${y(expected)}H${x(1)}`} />
          {[0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => (
            <text key={tick} class="middle" x={x(tick)} y={y(0) + 18}>
              {tick}
            </text>
          ))}
          <text class="middle" x={x(0.5)} y={HEIGHT - 2}>
            p-value
          </text>
        </svg>
      )}
    </div>
  );
}
