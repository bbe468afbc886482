/** Draws the bits of a key as squares, most significant bit first; a one is filled. */

/** Squares per row: four bytes. */
const COLUMNS = 32;
const STEP = 10;
const SIDE = 8;

export function BitRaster({ hex }: { hex: string }) {
  const bits = [...hex].flatMap((digit) => {
    const value = Number.parseInt(digit, 16);
    return [8, 4, 2, 1].map((weight) => (value & weight) !== 0);
  });
  const rows = bits.length / COLUMNS;
  const ones = bits.filter(Boolean).length;
  const squares = (wanted: boolean) =>
    bits
      .map((bit, i) =>
        bit === wanted
          ? `M${(i % COLUMNS) * STEP + 1} ${Math.floor(i / COLUMNS) * STEP + 1}h${SIDE}v${SIDE}h-${SIDE}z`
          : '',
      )
      .join('');
  const summary = `${bits.length} bits in ${rows} rows of ${COLUMNS}: ${ones} ones, ${bits.length - ones} zeros`;
  return (
    <figure class="raster">
      <svg viewBox={`0 0 ${COLUMNS * STEP} ${rows * STEP}`} role="img" aria-label={summary}>
        <path class="zeros" d={squares(false)} />
        <path class="ones" d={squares(true)} />
      </svg>
      <figcaption class="note">
        {ones} ones, {bits.length - ones} zeros. This picture is the key.
      </figcaption>
    </figure>
  );
}
