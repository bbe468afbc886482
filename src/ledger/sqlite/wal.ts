/**
 * Looks for damage in SQLite's write-ahead log that SQLite does not report. Its recovery takes the frames
 * up to the first wrong checksum and drops all later ones. That is right for a transaction whose sync had
 * not ended at a crash. Commits are synced one at a time, so at most one can be unfinished. If two or more
 * follow the wrong frame, recovery would lose durable rows.
 *
 * Other processes may write to the log at the same time, and a frame can be read before it is complete. So
 * damage counts only if a second pass reads the same bytes: a writer completes one frame before the next,
 * so a frame with a later one behind it is complete by the second pass.
 *
 * Format: "WAL-mode File Format", https://www.sqlite.org/walformat.html.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The last bit of the magic number gives the byte order of checksums. */
const MAGIC = 0x377f0682;

/** Frames per read. */
const CHUNK_FRAMES = 256;

/** Commits that may follow the first wrong frame: the one whose sync had not ended. */
const UNFINISHED_COMMITS = 1;

/** A running checksum: two sums of 32 bits over pairs of words. */
interface Checksum {
  first: number;
  second: number;
}

interface Damage {
  /** The problem, in one line. */
  readonly found: string;
  readonly header: Buffer;
  /** The first wrong frame; null if the header is wrong. */
  readonly wrong: { readonly number: number; readonly bytes: Buffer } | null;
}

/** Returns what is wrong with the log, in one line; null if nothing is, or if there is no log. */
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
      // The last frame of a transaction holds the size of the database.
      if (wrong !== null && isOfThisLog && frame.readUInt32BE(4) !== 0) commitsAfter += 1;
    }
    if (chunk.length < CHUNK_FRAMES * frameBytes) break;
  }
  if (wrong === null || commitsAfter <= UNFINISHED_COMMITS) return null;
  const found = `its log is damaged at frame ${wrong.number}, and ${commitsAfter} committed transactions are in it or after it`;
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

/** Reads bytes at a position of the file, fewer at its end. */
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  for (;;) {
    const more = readSync(file, bytes, read, length - read, position + read);
    read += more;
    if (more === 0 || read === length) return bytes.subarray(0, read);
  }
}
