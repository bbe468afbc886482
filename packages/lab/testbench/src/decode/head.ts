/** The first bytes of a file, by which it is recognised. */
import { GunzipSource } from '../../../src/input/readers/gunzip.ts';
import { toByteSource } from '../../../src/input/source.ts';

/** Returns the first bytes, unpacked if the file is gzip. */
export async function readHead(file: Blob, gzip: boolean, limit: number): Promise<Uint8Array> {
  if (!gzip) return new Uint8Array(await file.slice(0, limit).arrayBuffer());
  const source = new GunzipSource(toByteSource(file));
  try {
    const head = new Uint8Array(limit);
    let length = 0;
    while (length < limit) {
      const count = await source.read(head.subarray(length));
      if (count === 0) break;
      length += count;
    }
    return head.subarray(0, length);
  } finally {
    await source.close();
  }
}
