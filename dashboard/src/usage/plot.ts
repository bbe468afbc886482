/** Sets up uPlot for this page: colours, clock times, and gaps where values are missing. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartSpec } from './chart.tsx';

export interface Plot {
  setData(times: readonly number[], values: readonly (readonly (number | null)[])[]): void;
  setWidth(width: number): void;
  destroy(): void;
}

const HEIGHT = 180;
const FONT = '12px system-ui, sans-serif';
/** Dashes of each line, in pixels drawn and left out, because colour alone must not tell lines apart. The styles repeat
 * them. */
const DASHES = [[], [7, 3], [2, 3]];
/** Charts with this name share the cursor. */
const SYNC = 'usage';

/** Draws into `host`. Calls `onPoint` with the step under the pointer, or undefined. */
export function drawPlot(
  host: HTMLElement,
  spec: ChartSpec,
  step: number,
  onPoint: (index: number | undefined) => void,
): Plot {
  const colour = (name: string) => resolveColour(host, name);
  const ink = colour('--muted');
  const grid = { stroke: colour('--line'), width: 1 };
  const ticks = { show: false };
  const options: uPlot.Options = {
    width: Math.max(1, host.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 26, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: SYNC }, points: { size: 7 } },
    scales: { y: { range: (_plot, low, high) => spec.range(low ?? 0, high ?? 0) } },
    axes: [
      { stroke: ink, font: FONT, grid, ticks, values: timeWords(step), space: 64, size: 26 },
      {
        stroke: ink,
        font: FONT,
        grid,
        ticks,
        size: 62,
        space: 28,
        values: (_plot, splits) => splits.map((value) => spec.format(value)),
      },
    ],
    series: [
      {},
      ...spec.lines.map((label, i) => {
        const stroke = colour(spec.isWarning ? '--bad' : `--line-${i}`);
        return {
          label,
          stroke,
          width: 1.5,
          dash: DASHES[i] ?? [],
          ...(spec.lines.length === 1 && { fill: faint(stroke) }),
          points: { show: true, size: 5, fill: stroke, filter: lonePoints },
        };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
  const plot = new uPlot(options, [[]], host);
  return {
    setData: (times, values) => plot.setData([times, ...values] as uPlot.AlignedData),
    setWidth: (width) => {
      if (width > 0) plot.setSize({ width, height: HEIGHT });
    },
    destroy: () => plot.destroy(),
  };
}

/** Returns the current value of a colour variable, because a canvas cannot use variables. */
function resolveColour(host: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function faint(colour: string): string {
  return `color-mix(in srgb, ${colour} 14%, transparent)`;
}

/** Selects values between two gaps, which a line would not show. */
const lonePoints: uPlot.Series.Points.Filter = (plot, series) => {
  const values = plot.data[series] ?? [];
  const isNone = (value: number | null | undefined) => value === null || value === undefined;
  return [...values.keys()].filter(
    (i) => !isNone(values[i]) && isNone(values[i - 1]) && isNone(values[i + 1]),
  );
};

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** Formats axis times: dates for steps from six hours on, else clock times with the date at midnight. */
function timeWords(step: number): uPlot.Axis.DynamicValues {
  return (_plot, splits) =>
    splits.map((seconds) => {
      const time = new Date(seconds * 1000);
      const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
      return step >= 360 || isMidnight ? day.format(time) : clock.format(time);
    });
}
