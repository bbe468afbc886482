/** Tiles and entry bundles: https://c2sp.org/tlog-tiles. */
import { assertInteger, concat } from './bytes.ts';
import { FormatError } from './format-error.ts';

/** Hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256;

/** "MUST be a decimal ASCII integer between 0 and 63". */
const MAX_LEVEL = 63;

const MAX_ENTRY_BYTES = 2 ** 16 - 1;
const LENGTH_BYTES = 2;

export type TileLevel = number | 'entries';

export interface TilePath {
  readonly level: TileLevel;
  readonly index: number;
  /** 1 to 255 for a partial tile; null for a full one. */
  readonly width: number | null;
}

/**
 * Returns the path of a tile below the log's prefix, such as `tile/0/x001/234.p/5`. A `width` of 256, or
 * none, means a full tile. Throws `RangeError`.
 */
export function tilePath(level: TileLevel, index: number, width: number = TILE_WIDTH): string {
  if (level !== 'entries') assertInteger('level', level, 0, MAX_LEVEL);
  assertInteger('index', index, 0);
  assertInteger('width', width, 1, TILE_WIDTH);
  const digits = String(index);
  const groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/.{3}/g) ?? [];
  const name = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${name}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const TILE_PATH =
  /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/;

/** Parses a path that `tilePath` returns. Returns null for every other text. */
export function parseTilePath(path: string): TilePath | null {
  const [, name, groups = '', partial] = TILE_PATH.exec(path) ?? [];
  if (name === undefined) return null;
  const level = name === 'entries' ? name : Number(name);
  const index = Number(groups.replace(/[x/]/g, ''));
  const width = partial === undefined ? null : Number(partial);
  const inRange =
    (level === 'entries' || level <= MAX_LEVEL) &&
    Number.isSafeInteger(index) &&
    (width === null || (width >= 1 && width < TILE_WIDTH));
  // Only one path names a tile: no zeros before a number.
  if (!inRange || tilePath(level, index, width ?? TILE_WIDTH) !== path) return null;
  return { level, index, width };
}

/**
 * Returns how many hashes tile `index` of `level` has in a tree of `size` entries: 0 to 256. For entry
 * bundles, `level` is 0.
 */
export function tileWidth(level: number, index: number, size: number): number {
  assertInteger('level', level, 0, MAX_LEVEL);
  assertInteger('index', index, 0);
  assertInteger('size', size, 0);
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/** Formats an entry bundle. Throws `RangeError` on an entry above 65,535 bytes. */
export function formatEntries(entries: readonly Uint8Array[]): Uint8Array {
  return concat(
    ...entries.flatMap((entry) => {
      assertInteger('entry.length', entry.length, 0, MAX_ENTRY_BYTES);
      return [Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry];
    }),
  );
}

/** Parses an entry bundle. Throws `FormatError` on a bundle that is cut or has more than 256 entries. */
export function parseEntries(bytes: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at + LENGTH_BYTES;
    const end = start + (bytes[at] as number) * 256 + (bytes[at + 1] ?? 0);
    if (end > bytes.length || entries.length === TILE_WIDTH) {
      throw new FormatError(
        end > bytes.length
          ? `entry ${entries.length} of the bundle is cut: expected ${end} bytes, got ${bytes.length}`
          : `expected at most ${TILE_WIDTH} entries in a bundle, got more`,
      );
    }
    entries.push(bytes.slice(start, end));
    at = end;
  }
  return entries;
}
