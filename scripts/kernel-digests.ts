/**
 * Writes src/wasm-digests.ts from build/kernels/: `npm run digests`, after a change of kernels/ or of its
 * compiler. Whoever reviews the change builds the same bytes, or the tests fail.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);

const lines = ['modulation', 'relaxed-simd', 'simd'].map((name) => {
  const bytes = readFileSync(new URL(`build/kernels/${name}.wasm`, root));
  const key = /^[a-z]+$/.test(name) ? name : `'${name}'`;
  return `  ${key}: '${createHash('sha256').update(bytes).digest('hex')}',\n`;
});

writeFileSync(
  new URL('src/wasm-digests.ts', root),
  `/** SHA-256 of what kernels/ is built to, written by \`npm run digests\`. */
export const KERNEL_DIGESTS = {
${lines.join('')}} as const;

export type KernelName = keyof typeof KERNEL_DIGESTS;
`,
);
