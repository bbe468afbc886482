/** Plots all p-values of the generator's output, sorted, against the even spread of a sound source. */
import { useState } from 'preact/hooks';
import type { NistReport } from '../api.ts';
import { DataTable } from '../components/data-table.tsx';
import { useWidth } from '../components/figure.tsx';
import { pValue } from '../format.ts';
import { testText } from '../tests.ts';

interface NamedPValue {
  readonly name: string;
  readonly p: number;
}

/** Returns the p-values of every test that applies, smallest first. */
export function carrierPValues(report: NistReport): NamedPValue[] {
  return report.tests
    .flatMap(({ name, labels, p_values }) =>
      p_values.map((p, i) => ({ name: `${testText(name).title} ${labels[i] ?? ''}`.trim(), p })),
    )
    .sort((a, b) => a.p - b.p);
}

export function pValueTable(values: readonly NamedPValue[]) {
  return (
    <DataTable
      caption="All p-values of the generator’s output, smallest first"
      head={['Rank', 'p-value', 'Even spread', 'Test']}
      rows={values.map(({ name, p }, i) => [
        i + 1,
        pValue(p),
        expected(i, values.length).toFixed(4),
        name,
      ])}
    />
  );
}

/** Returns the mean of the i-th smallest of n independent uniform values, i from 0. */
function expected(i: number, n: number): number {
  return (i + 1) / (n + 1);
}

/** Number of standard deviations within which 99 in 100 values lie. */
const BAND = 2.576;

function bandHalfWidth(q: number, n: number): number {
  return BAND * Math.sqrt((q * (1 - q)) / (n + 2));
}

const HEIGHT = 280;
const MARGIN = { left: 40, right: 12, top: 10, bottom: 38 };
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

interface PValuePlotProps {
  readonly values: readonly NamedPValue[];
  readonly alpha: number;
}

export function PValuePlot({ values, alpha }: PValuePlotProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [near, setNear] = useState<number>();
  const n = values.length;
  const innerWidth = Math.max(1, width - MARGIN.left - MARGIN.right);
  const innerHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
  const x = (q: number) => MARGIN.left + q * innerWidth;
  const y = (p: number) => MARGIN.top + (1 - Math.min(1, Math.max(0, p))) * innerHeight;
  const below = values.filter(({ p }) => p < alpha).length;
  const summary = `${n} p-values sorted from ${pValue(values[0]?.p ?? 0)} to ${pValue(values[n - 1]?.p ?? 1)}; ${below} of them below ${alpha} before correction, ${(n * alpha).toFixed(1)} expected; at most ${largestGap(values).toFixed(2)} from an even spread.`;

  const follow = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const q = (event.clientX - box.left - MARGIN.left) / innerWidth;
    setNear(Math.min(n - 1, Math.max(0, Math.round(q * (n + 1)) - 1)));
  };
  const pointed = near === undefined ? undefined : values[near];
  return (
    <div ref={ref} class="plot">
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={summary}
          onPointerMove={follow}
          onPointerLeave={() => setNear(undefined)}
        >
          {TICKS.map((tick) => (
            <g key={tick}>
              <path class="grid" d={`M${x(0)} ${y(tick)}H${x(1)}M${x(tick)} ${y(0)}V${y(1)}`} />
              <text class="end" x={x(0) - 8} y={y(tick) + 4}>
                {tick}
              </text>
              <text class="middle" x={x(tick)} y={y(0) + 18}>
                {tick}
              </text>
            </g>
          ))}
          <text class="middle" x={x(0.5)} y={HEIGHT - 2}>
            even spread
          </text>
          <path class="band" d={bandPath(n, x, y)} />
          <path class="diagonal" d={`M${x(0)} ${y(0)}L${x(1)} ${y(1)}`} />
          <path class="dots" d={dotsPath(values, alpha, false, x, y)} />
          <path class="dots odd" d={dotsPath(values, alpha, true, x, y)} />
          {pointed && near !== undefined && (
            <circle class="pointed" cx={x(expected(near, n))} cy={y(pointed.p)} r="6" />
          )}
        </svg>
      )}
      <p class="readout note">
        {pointed
          ? `${pointed.name}: p = ${pValue(pointed.p)}`
          : `Before correction, ${below} of ${n} p-values ${below === 1 ? 'is' : 'are'} below ${alpha}; ${(n * alpha).toFixed(1)} are expected.`}
      </p>
    </div>
  );
}

type Scale = (value: number) => number;

function bandPath(n: number, x: Scale, y: Scale): string {
  const steps = Array.from({ length: 51 }, (_, i) => i / 50);
  const edge = (sign: number) => (q: number) =>
    `${x(q).toFixed(1)} ${y(q + sign * bandHalfWidth(q, n)).toFixed(1)}`;
  return `M${steps.map(edge(1)).join('L')}L${steps.toReversed().map(edge(-1)).join('L')}Z`;
}

/** Returns a path of strokes without length, whose round ends are the dots. */
function dotsPath(
  values: readonly NamedPValue[],
  alpha: number,
  isBelow: boolean,
  x: Scale,
  y: Scale,
): string {
  return values
    .map(({ p }, i) =>
      p < alpha === isBelow
        ? `M${x(expected(i, values.length)).toFixed(1)} ${y(p).toFixed(1)}h0`
        : '',
    )
    .join('');
}

function largestGap(values: readonly NamedPValue[]): number {
  return Math.max(0, ...values.map(({ p }, i) => Math.abs(p - expected(i, values.length))));
}
