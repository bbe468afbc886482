/** Creates a small folder like the one that `npm run build:dashboard` leaves. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const INDEX_HTML =
  '<!doctype html><title>PHM</title><script type="module" src="./assets/index-1a2b3c4d.js"></script>\n';
export const SCRIPT = `document.title = '${'PHM '.repeat(200)}';\n`;

export function makeDashboardFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  mkdirSync(join(folder, 'assets'));
  const files = { 'index.html': INDEX_HTML, 'assets/index-1a2b3c4d.js': SCRIPT };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, '.env'), 'SECRET=1');
  return folder;
}

export function removeDashboardFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
