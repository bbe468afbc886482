/** What is built from kernels/ by `npm run build`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS, type KernelName } from './wasm-digests.ts';

const FOLDER = new URL('../build/kernels/', import.meta.url);

/** Kernels that are not there, or damaged; the message says what to do. */
export class KernelsError extends Error {
  override readonly name = 'KernelsError';
}

/** `build/kernels/<name>.wasm`, compiled. Throws `KernelsError` unless its sources gave these bytes. */
export function compileKernels(name: KernelName): WebAssembly.Module {
  const bytes = readKernels(name);
  if (createHash('sha256').update(bytes).digest('hex') !== KERNEL_DIGESTS[name]) {
    throw unusable(name, 'its bytes are not those that its sources give');
  }
  return new WebAssembly.Module(bytes);
}

function readKernels(name: KernelName): Uint8Array {
  try {
    return readFileSync(new URL(`${name}.wasm`, FOLDER));
  } catch (error) {
    throw unusable(name, error instanceof Error ? error.message : String(error));
  }
}

function unusable(name: KernelName, reason: string): KernelsError {
  const path = fileURLToPath(new URL(`${name}.wasm`, FOLDER));
  return new KernelsError(
    `cannot use ${path} (${reason}): run "npm run build", or install the package again`,
  );
}
