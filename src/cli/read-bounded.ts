/** Reads input of users in full, up to a limit. */
import { closeSync, openSync, readSync } from 'node:fs';

/** Returns the content of a file; null if it is longer. Throws the error of the file system. */
export function readBounded(path: string, maxBytes: number): Buffer | null {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return length > maxBytes ? null : bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Resolves with the content of a stream; with null if it is longer. */
export async function readStreamBounded(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Says in words why a file cannot be read. `error` is of the file system. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a directory';
  return code ?? String(error);
}
