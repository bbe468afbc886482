/** Keys per hour as bars. */
import type { SeriesPoint } from '../api.ts';
import { DataTable } from '../components/data-table.tsx';
import { Unfold } from '../components/figure.tsx';
import { count, dateTime, plural } from '../format.ts';

const WIDTH = 600;
const HEIGHT = 96;
const GAP = 3;

const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

export function Bars({ points }: { points: readonly SeriesPoint[] }) {
  const most = Math.max(...points.map(({ keys }) => keys));
  if (most <= 0) return <p>No key was generated in the last 24 hours.</p>;
  const step = WIDTH / points.length;
  const busy = points.filter(({ keys }) => keys > 0);
  const peak = points.find(({ keys }) => keys === most);
  return (
    <>
      <svg
        class="hours"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Keys per hour. At most ${plural(most, 'key')}, in the hour from ${dateTime(peak?.start ?? '')}.`}
      >
        {points.map(({ start, keys }, i) => {
          const height = keys === 0 ? 1 : Math.max(3, (keys / most) * HEIGHT);
          return (
            <rect
              key={start}
              class={keys === 0 ? 'none' : undefined}
              x={i * step + GAP / 2}
              y={HEIGHT - height}
              width={step - GAP}
              height={height}
            >
              <title>{`${dateTime(start)}: ${plural(keys, 'key')}`}</title>
            </rect>
          );
        })}
      </svg>
      <p class="quota-ends note" aria-hidden="true">
        <span>{hour.format(new Date(points[0]?.start ?? ''))}</span>
        <span>at most {count(most)}</span>
        <span>now</span>
      </p>
      <Unfold summary="Numbers: keys per hour">
        {() => (
          <DataTable
            caption="Keys per hour, hours with keys"
            head={['From', 'Keys']}
            rows={busy.map(({ start, keys }) => [dateTime(start), count(keys)])}
          />
        )}
      </Unfold>
    </>
  );
}
