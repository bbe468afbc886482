/** Loads the WebAssembly modules that `npm run build` creates from this project's sources. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Missing or damaged kernels. The message says what to do. */
export class KernelsError extends Error {
  override readonly name = 'KernelsError';
}

/** Compiles the module at `file`. Throws `KernelsError` unless its bytes have the SHA-256 `digest`. */
export function compileKernels(file: URL, digest: string): WebAssembly.Module {
  const bytes = readKernels(file);
  if (createHash('sha256').update(bytes).digest('hex') !== digest) {
    throw unusable(file, 'it was not built from the current sources');
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
