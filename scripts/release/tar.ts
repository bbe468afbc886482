/**
 * Archives whose bytes depend on their files alone: names sorted by their bytes, one time, no owner, and two modes.
 * The format is ustar of POSIX.1-1988. <https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html>
 */
import { gzipSync } from 'node:zlib';

export interface Entry {
  /** Path in the archive, with `/`. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly isProgram: boolean;
}

const BLOCK = 512;

/** Returns an archive of the entries. `time` is in seconds since 1970. */
export function tar(entries: readonly Entry[], time: number): Buffer {
  const sorted = entries.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  );
  const blocks = sorted.flatMap((entry) => {
    const rest = Buffer.alloc((BLOCK - (entry.bytes.length % BLOCK)) % BLOCK);
    return [header(entry, time), entry.bytes, rest];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Compresses an archive, with no time, no name and no operating system in the header of gzip (RFC 1952 §2.3). */
export function gzip(archive: Uint8Array): Buffer {
  const bytes = gzipSync(archive, { level: 9 });
  bytes[9] = 255;
  return bytes;
}

function header({ name, bytes, isProgram }: Entry, time: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const [prefix, last] = splitName(name);
  block.write(last, 0);
  block.write(isProgram ? '0000755\0' : '0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${octal(bytes.length, 11)}\0`, 124);
  block.write(`${octal(time, 11)}\0`, 136);
  // The checksum counts its own field as spaces.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Splits a path at a slash into at most 155 and 100 bytes. */
function splitName(name: string): [prefix: string, last: string] {
  const length = Buffer.byteLength(name);
  if (length <= 100) return ['', name];
  const slash = name.indexOf('/', name.length - 101);
  const [prefix, last] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash < 1 || length !== name.length || prefix.length > 155) {
    throw new RangeError(`"name" expected an ASCII path that ustar can hold, got ${name}`);
  }
  return [prefix, last];
}
