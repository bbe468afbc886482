/** Writes compressed forms beside built files, so that the server compresses nothing while it serves. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Above this size, the best quality takes seconds and saves only a tenth. */
const LARGE_BYTES = 2 ** 20;
const QUALITY_OF_LARGE = 9;

/** Writes `.br` and `.gz` beside each file of a folder, recursively, if they are smaller. `quality` is that of Brotli. */
export function precompress(folder: string, quality: number = constants.BROTLI_MAX_QUALITY): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const forms = { br: brotli(bytes, quality), gz: gzipSync(bytes, { level: 9 }) };
    for (const [name, form] of Object.entries(forms)) {
      if (form.length < bytes.length) writeFileSync(`${path}.${name}`, form);
    }
  }
}

function brotli(bytes: Buffer, quality: number): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE_BYTES ? QUALITY_OF_LARGE : quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
