/** A chart over time. The library that draws it is loaded with the first chart. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Unfold, useWidth } from '../components/figure.tsx';
import { dateTime } from '../format.ts';
import { useTheme } from '../theme.tsx';
import type { Plot } from './plot.ts';

export interface ChartSpec {
  readonly lines: readonly string[];
  format(value: number): string;
  /** Returns the vertical range for the smallest and largest value. */
  range(low: number, high: number): [number, number];
  readonly isWarning?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly caption: string;
  readonly summary: string;
  readonly spec: ChartSpec;
  /** Length of a step in minutes. */
  readonly step: number;
  /** Start of each step, in seconds since 1970. Each line has as many values. */
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
  table(): ComponentChildren;
}

export function Chart({ title, caption, summary, spec, step, times, values, table }: ChartProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const plot = useRef<Plot | undefined>(undefined);
  const theme = useTheme();
  const [index, setIndex] = useState<number>();
  const [isMissing, setMissing] = useState(false);
  const data = useRef({ times, values });
  data.current = { times, values };

  useEffect(() => {
    let isGone = false;
    import('./plot.ts').then(
      ({ drawPlot }) => {
        if (isGone || !ref.current) return;
        plot.current = drawPlot(ref.current, spec, step, setIndex);
        plot.current.setData(data.current.times, data.current.values);
      },
      () => setMissing(true),
    );
    return () => {
      isGone = true;
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [spec, step, theme]);

  useEffect(() => plot.current?.setData(times, values), [times, values]);
  useEffect(() => plot.current?.setWidth(width), [width]);

  const at = index ?? times.length - 1;
  return (
    <figure class="panel chart">
      <header class="row">
        <h3>{title}</h3>
        <p class="legend" aria-hidden="true">
          {spec.lines.map((name, i) => (
            <span key={name} class={`line-${i}${spec.isWarning ? ' warning' : ''}`}>
              {name} {valueWords(values[i]?.[at] ?? null, spec)}
            </span>
          ))}
          <span class="note">
            {index === undefined ? 'now' : dateTime((times[index] ?? 0) * 1000)}
          </span>
        </p>
      </header>
      <div ref={ref} class="canvas" role="img" aria-label={`${title}. ${summary}`} />
      {isMissing && <p class="note">The chart could not be loaded. The numbers are below.</p>}
      <figcaption class="note">{caption}</figcaption>
      <Unfold summary={`Numbers: ${title.toLowerCase()}`}>{table}</Unfold>
    </figure>
  );
}

function valueWords(value: number | null, spec: ChartSpec): string {
  return value === null ? '–' : spec.format(value);
}
