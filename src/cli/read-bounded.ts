/** Reads input of users in full, up to a limit. */
import { closeSync, openSync, readSync } from 'node:fs';

export { readFailure as reasonOf } from '../files/read-failure.ts';

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
