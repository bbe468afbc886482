/** Large figures, each with a name and a note. */

export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
}

interface TilesProps {
  readonly tiles: readonly Tile[];
  /** True for smaller tiles, in one row if there is room: for words rather than figures. */
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
