/** Node's platform, and the only file of the package that imports `node:` modules. Loading it installs the platform. */
import { createHash, hash as hashOf } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { installPlatform } from './platform.ts';
import type { Hash } from './sha256.ts';

installPlatform({
  readFile: (file) => readFileSync(file),
  // A hash in progress costs ten times as much as a short digest.
  sha256: (bytes) => hashOf('sha256', bytes),
});

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
