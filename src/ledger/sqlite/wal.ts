/**
 * Looks for damage in SQLite's write-ahead log, which SQLite itself does not report: recovery takes the frames up to
 * the first whose checksum is wrong, and forgets all later ones. After a crash that is right for a transaction
 * whose sync had not ended. Commits are synced one by one, so at most one can be so unfinished: if two or more
 * follow the wrong frame, rows that were durable would be lost.
 *
 * Other processes may write to the log meanwhile, and a frame can be read before all of it is written. So damage counts
 * when a second pass meets the same bytes: a writer ends one frame before it begins the next, so a frame with a later
 * one behind it is whole when the second pass comes.
 *
 * Format: "WAL-mode File Format", https://www.sqlite.org/walformat.html.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The last bit of the magic number tells the byte order of checksums. */
const MAGIC = 0x377f0682;

/** Frames that are read at once. */
const CHUNK_FRAMES = 256;

/** Commits that may follow the first wrong frame: the one whose sync was under way. */
const UNFINISHED_COMMITS = 1;

/** A running checksum: two sums of 32 bits over pairs of words. */
interface Checksum {
  first: number;
  second: number;
}

interface Damage {
  /** In one line. */
  readonly found: string;
  readonly header: Buffer;
  /** The first wrong frame; null when the header is wrong. */
  readonly wrong: { readonly number: number; readonly bytes: Buffer } | null;
}

/** What is wrong with the log, in one line; null when nothing is, or there is none. */
export function findWalDamage(walPath: string): string | null {
  const file = openIfAny(walPath);
  if (file === null) return null;
  try {
    let before: Damage | null = null;
    for (;;) {
      const damage = examine(file);
      if (damage === null) return null;
      if (before !== null && isSame(damage, before)) return damage.found;
      before = damage;
    }
  } finally {
    closeSync(file);
  }
}

function isSame({ header, wrong }: Damage, before: Damage): boolean {
  if (!header.equals(before.header) || wrong?.number !== before.wrong?.number) return false;
  return wrong === null || wrong.bytes.equals(before.wrong?.bytes ?? Buffer.alloc(0));
}

function examine(file: number): Damage | null {
  const header = readAt(file, 0, HEADER_BYTES);
  if (header.every((byte) => byte === 0)) return null;
  const magic = header.length < HEADER_BYTES ? 0 : header.readUInt32BE(0);
  const pageBytes = magic === 0 ? 0 : header.readUInt32BE(8);
  const sum = { first: 0, second: 0 };
  if ((magic & ~1) >>> 0 === MAGIC) addWords(sum, header.subarray(0, 24), magic === MAGIC);
  if (!isSum(header, 24, sum) || !isPageSize(pageBytes)) {
    if (readAt(file, HEADER_BYTES, 1).length === 0) return null;
    return { found: 'the header of its log is damaged', header, wrong: null };
  }
  return examineFrames(file, header, pageBytes, sum);
}

function examineFrames(
  file: number,
  header: Buffer,
  pageBytes: number,
  sum: Checksum,
): Damage | null {
  const littleEndian = header.readUInt32BE(0) === MAGIC;
  const salts = header.subarray(16, 24);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let wrong: Damage['wrong'] = null;
  let commitsAfter = 0;
  let number = 0;
  for (let at = HEADER_BYTES; ; at += CHUNK_FRAMES * frameBytes) {
    const chunk = readAt(file, at, CHUNK_FRAMES * frameBytes);
    for (let i = 0; i + frameBytes <= chunk.length; i += frameBytes) {
      number += 1;
      const frame = chunk.subarray(i, i + frameBytes);
      const isOfThisLog = frame.subarray(8, 16).equals(salts);
      if (wrong === null) {
        addWords(sum, frame.subarray(0, 8), littleEndian);
        addWords(sum, frame.subarray(FRAME_HEADER_BYTES), littleEndian);
        if (!isOfThisLog || !isSum(frame, 16, sum)) wrong = { number, bytes: Buffer.from(frame) };
      }
      // A frame that ends a transaction holds the size of the database.
      if (wrong !== null && isOfThisLog && frame.readUInt32BE(4) !== 0) commitsAfter += 1;
    }
    if (chunk.length < CHUNK_FRAMES * frameBytes) break;
  }
  if (wrong === null || commitsAfter <= UNFINISHED_COMMITS) return null;
  const found = `its log is damaged at frame ${wrong.number}, and ${commitsAfter} committed transactions stand in it or after it`;
  return { found, header, wrong };
}

function addWords(sum: Checksum, bytes: Uint8Array, littleEndian: boolean): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let { first, second } = sum;
  for (let i = 0; i < bytes.length; i += 8) {
    first = (first + view.getUint32(i, littleEndian) + second) >>> 0;
    second = (second + view.getUint32(i + 4, littleEndian) + first) >>> 0;
  }
  sum.first = first;
  sum.second = second;
}

function isSum(bytes: Buffer, at: number, { first, second }: Checksum): boolean {
  if (bytes.length < at + 8) return false;
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

function openIfAny(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The bytes at a place of the file, fewer at its end. */
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  for (;;) {
    const more = readSync(file, bytes, read, length - read, position + read);
    read += more;
    if (more === 0 || read === length) return bytes.subarray(0, read);
  }
}
