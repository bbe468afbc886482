/** A few figures, large, each with its name and what it means. */

export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
}

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl class="tiles">
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
