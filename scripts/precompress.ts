/** Compressed forms of built files, beside them, so that the server compresses nothing while it serves. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The best quality takes seconds a megabyte, and a tenth off. */
const BROTLI_QUALITY = 9;

/** Writes `.br` and `.gz` beside each file of a folder and those below that they make smaller. */
export function precompress(folder: string): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const forms = { br: brotli(bytes), gz: gzipSync(bytes, { level: 9 }) };
    for (const [name, form] of Object.entries(forms)) {
      if (form.length < bytes.length) writeFileSync(`${path}.${name}`, form);
    }
  }
}

function brotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
