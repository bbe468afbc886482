/** A few figures, large, each with its name and what it means. */

export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
}

export interface TilesProps {
  readonly tiles: readonly Tile[];
  /** Smaller, in one row where there is room: words rather than figures. */
  readonly isCompact?: boolean;
}

export function Tiles({ tiles, isCompact = false }: TilesProps) {
  return (
    <dl class={isCompact ? 'tiles compact' : 'tiles'}>
      {tiles.map(({ label, value, note }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value}
            {note && <span class="note">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
