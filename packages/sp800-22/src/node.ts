/** Node's platform, and the only file of the package that imports `node:` modules. Loading it installs the platform. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { installPlatform } from './platform.ts';
import type { Hash } from './sha256.ts';

installPlatform({ readFile: (file) => readFileSync(file), newHash });

export { compileKernels, KernelsError } from './wasm.ts';

/** Returns an empty SHA-256. */
export function newHash(): Hash {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.copy().digest('hex'),
  };
}
