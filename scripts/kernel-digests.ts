/**
 * Writes the digests of the built kernels: `npm run digests`, after a change of a kernel or of its compiler. A
 * reviewer who builds the change must get the same bytes, otherwise the tests fail.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);

function digest(path: string): string {
  return createHash('sha256')
    .update(readFileSync(new URL(path, root)))
    .digest('hex');
}

writeFileSync(
  new URL('packages/sp800-22/src/kernels/digests.ts', root),
  `/** SHA-256 of the modules built from kernels/, written by \`npm run digests\`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': '${digest('packages/sp800-22/build/relaxed-simd.wasm')}',
  simd: '${digest('packages/sp800-22/build/simd.wasm')}',
} as const;
`,
);
writeFileSync(
  new URL('src/modulation/kernel-digest.ts', root),
  `/** SHA-256 of the module built from kernel/, written by \`npm run digests\`. */
export const KERNEL_DIGEST = '${digest('build/kernels/modulation.wasm')}';
`,
);
