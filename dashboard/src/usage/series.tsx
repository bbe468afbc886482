/** The charts of an account over time. */
import { useMemo } from 'preact/hooks';
import type { Series, SeriesPoint } from '../api.ts';
import { DataTable } from '../components/data-table.tsx';
import { count, dateTime, milliseconds, percent, rate } from '../format.ts';
import { Chart, type ChartSpec } from './chart.tsx';

interface SeriesChart {
  readonly title: string;
  readonly caption: string;
  readonly spec: ChartSpec;
  readonly lines: readonly ((point: SeriesPoint) => number | null)[];
}

const CHARTS: readonly SeriesChart[] = [
  {
    title: 'Keys per second',
    caption: 'Generated keys, averaged over each step.',
    spec: { lines: ['keys/s'], format: rate, range: (_low, high) => [0, high * 1.1 || 1] },
    lines: [(point) => point.keys_per_second],
  },
  {
    title: 'Latency',
    caption:
      'From acceptance until key and proof are ready, including queues. Percentiles are off by at most 9.1\u00a0%. Gaps have no keys.',
    spec: {
      lines: ['p50', 'p90', 'p99'],
      format: milliseconds,
      range: (_low, high) => [0, high * 1.1 || 1],
    },
    lines: [
      (point) => point.latency_ms?.p50 ?? null,
      (point) => point.latency_ms?.p90 ?? null,
      (point) => point.latency_ms?.p99 ?? null,
    ],
  },
  {
    title: 'Errors',
    caption: 'Generate calls answered 5xx, as a share of those answered 2xx or 5xx.',
    spec: {
      lines: ['share'],
      format: percent,
      range: (_low, high) => [0, Math.min(1, high * 1.1) || 0.01],
      isWarning: true,
    },
    lines: [(point) => point.error_rate],
  },
];

/** Stands on Evidence: it says nothing about the use of the service. */
export const GATE_CHART: SeriesChart = {
  title: 'Streams past the gate',
  caption: 'Share of tested streams. A sound generator fails a few in a million.',
  spec: {
    lines: ['share'],
    format: percent,
    range: (low) => [Math.max(0, Math.min(0.9, low - 0.02)), 1],
  },
  lines: [(point) => point.nist_compliance_rate],
};

/** Nothing was generated, and nothing failed. */
export function isQuiet(points: readonly SeriesPoint[]): boolean {
  return points.every(({ requests, failures }) => requests === 0 && failures === 0);
}

export function SeriesCharts({ series, isStale }: { series: Series; isStale: boolean }) {
  return (
    <section aria-label="Over time">
      {isQuiet(series.points) && (
        <p class="notice">
          No key was generated in this period. Choose a longer period or generate a key.
        </p>
      )}
      <div class={isStale ? 'charts stale' : 'charts'}>
        {CHARTS.map((chart) => (
          <SeriesChartOf key={chart.title} chart={chart} series={series} />
        ))}
      </div>
    </section>
  );
}

interface SeriesChartOfProps {
  readonly chart: SeriesChart;
  readonly series: Series;
}

/** One chart; without values, a line of text. */
export function SeriesChartOf({ chart, series }: SeriesChartOfProps) {
  const { title, caption, spec, lines } = chart;
  const { points, step_minutes: step } = series;
  const times = useMemo(() => points.map(({ start }) => Date.parse(start) / 1000), [points]);
  const values = useMemo(() => lines.map((line) => points.map(line)), [points, lines]);
  if (values.every((line) => line.every((value) => !value))) {
    return (
      <p class="panel chart-empty">
        <strong>{title}:</strong> {values.flat().includes(0) ? 'none' : 'no values'} in this period.
      </p>
    );
  }
  return (
    <Chart
      title={title}
      caption={caption}
      spec={spec}
      step={step}
      times={times}
      values={values}
      summary={summaryOf(spec, values)}
      table={() => table(title, spec, points, lines)}
    />
  );
}

/** Describes a chart in words: the smallest, largest and last value of each line. */
function summaryOf(spec: ChartSpec, values: readonly (readonly (number | null)[])[]): string {
  return spec.lines
    .map((name, i) => {
      const known = (values[i] ?? []).filter((value) => value !== null);
      if (known.length === 0) return `${name}: no values`;
      const last = spec.format(known.at(-1) ?? 0);
      return `${name}: ${spec.format(Math.min(...known))} to ${spec.format(Math.max(...known))}, last ${last}`;
    })
    .join('; ');
}

/** Returns the numbers of a chart, without steps that had no requests. */
function table(
  title: string,
  spec: ChartSpec,
  points: readonly SeriesPoint[],
  lines: SeriesChart['lines'],
) {
  const busy = points.filter(({ requests, failures }) => requests + failures > 0);
  if (busy.length === 0) return <p class="note">There are no values in this period.</p>;
  return (
    <DataTable
      caption={`${title}, steps with requests`}
      head={['From', 'Keys', ...spec.lines]}
      rows={busy.map((point) => [
        dateTime(point.start),
        count(point.keys),
        ...lines.map((line) => {
          const value = line(point);
          return value === null ? '–' : spec.format(value);
        }),
      ])}
    />
  );
}
