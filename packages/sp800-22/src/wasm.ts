/** WebAssembly modules of this project's own sources, which `npm run build` makes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Kernels that are not there, or damaged; the message says what to do. */
export class KernelsError extends Error {
  override readonly name = 'KernelsError';
}

/** The module at `file`, compiled. Throws `KernelsError` unless its bytes have the SHA-256 `digest`. */
export function compileKernels(file: URL, digest: string): WebAssembly.Module {
  const bytes = readKernels(file);
  if (createHash('sha256').update(bytes).digest('hex') !== digest) {
    throw unusable(file, 'its bytes are not those that its sources give');
  }
  return new WebAssembly.Module(bytes);
}

function readKernels(file: URL): Uint8Array<ArrayBuffer> {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unusable(file, error instanceof Error ? error.message : String(error));
  }
}

function unusable(file: URL, reason: string): KernelsError {
  return new KernelsError(
    `cannot use ${fileURLToPath(file)} (${reason}): run "npm run build", or install the package again`,
  );
}
