/** Draws values as strokes on a line, to show their spread within a range. */

interface StripProps {
  readonly values: readonly number[];
  readonly range?: readonly [number, number];
  /** Interval in which values are expected, shaded. */
  readonly band?: readonly [number, number] | undefined;
  /** True for values that are drawn taller, in another colour. */
  isOdd?(value: number): boolean;
}

const WIDTH = 200;
const HEIGHT = 18;

/** Hidden from screen readers, because the numbers stand beside it. */
export function Strip({ values, range = [0, 1], band, isOdd = () => false }: StripProps) {
  const [low, high] = range;
  const x = (value: number) =>
    (((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (WIDTH - 4) + 2).toFixed(1);
  const strokes = (list: readonly number[], from: number) =>
    list.map((value) => `M${x(value)} ${from}V${HEIGHT - from}`).join('');
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {band && (
        <rect
          class="band"
          x={x(band[0])}
          y="0"
          width={Number(x(band[1])) - Number(x(band[0]))}
          height={HEIGHT}
        />
      )}
      <path class="axis" d={`M2 ${HEIGHT / 2}H${WIDTH - 2}`} />
      <path
        class={values.length > 30 ? 'marks many' : 'marks'}
        d={strokes(
          values.filter((value) => !isOdd(value)),
          4,
        )}
      />
      <path class="marks odd" d={strokes(values.filter(isOdd), 1)} />
    </svg>
  );
}
