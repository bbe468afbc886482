/** Reads the memory of another process of the same user, on Linux. */
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';

/** The reason why this machine cannot read it, or false. */
export const noMemory: string | false =
  !existsSync('/proc/self/mem') && 'there is no /proc/self/mem here';

const PIECE_BYTES = 2 ** 16;
const ZEROS = Buffer.alloc(PIECE_BYTES);

/** Returns the writable memory of a process without pages of zeros. */
export function readMemory(pid: number): Buffer {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
    return Buffer.concat(lines.flatMap((line) => readMapping(memory, line)));
  } finally {
    closeSync(memory);
  }
}

/** `line` begins with the addresses and the rights: `7f00-7fff rw-p`. */
function readMapping(memory: number, line: string): Buffer[] {
  const [, first, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
  if (first === undefined || end === undefined) return [];
  const pieces: Buffer[] = [];
  for (let at = Number.parseInt(first, 16); at < Number.parseInt(end, 16); ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, Number.parseInt(end, 16) - at));
    try {
      readSync(memory, piece, 0, piece.length, at);
    } catch {
      // The process has given the mapping back meanwhile, or it is of a device.
      return pieces;
    }
    if (!piece.equals(ZEROS.subarray(0, piece.length))) pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}
