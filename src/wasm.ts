/** What is built from kernels/ by `npm run build`. */
import { readFileSync } from 'node:fs';

const FOLDER = new URL('../build/kernels/', import.meta.url);

/** The bytes of `build/kernels/<name>.wasm`. Throws when they have not been built. */
export function readKernels(name: string): Uint8Array {
  const file = new URL(`${name}.wasm`, FOLDER);
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`cannot read ${file.pathname}: run "npm run build"`, { cause });
  }
}
