/** Checks and compiles the WebAssembly modules that `npm run build` creates from this project's sources. */
import { platform } from './platform.ts';

/** Missing or damaged kernels. The message says what to do. */
export class KernelsError extends Error {
  override readonly name = 'KernelsError';
}

/** Compiles the module in `file`. Throws `KernelsError` unless its bytes have the SHA-256 `digest`. */
export function compileKernels(file: URL, digest: string): WebAssembly.Module {
  const { readFile } = platform();
  if (!readFile) {
    throw new KernelsError('the kernels are not loaded: call "await ready()" first');
  }
  return new WebAssembly.Module(checked(readFrom(file, readFile), digest, pathOf(file)));
}

/** Like `compileKernels`, in runtimes that fetch files. */
export async function fetchKernels(file: URL, digest: string): Promise<WebAssembly.Module> {
  const name = pathOf(file);
  try {
    const response = await fetch(file);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return WebAssembly.compile(checked(bytes, digest, name));
  } catch (error) {
    throw error instanceof KernelsError ? error : unusable(name, messageOf(error));
  }
}

/** Compiles bytes that the caller has. Rejects with `KernelsError` unless they have the SHA-256 `digest`. */
export async function compileBytes(
  bytes: Uint8Array,
  digest: string,
  name: string,
): Promise<WebAssembly.Module> {
  return WebAssembly.compile(checked(bytes, digest, name));
}

function readFrom(file: URL, readFile: (file: URL) => Uint8Array): Uint8Array {
  try {
    return readFile(file);
  } catch (error) {
    throw unusable(pathOf(file), messageOf(error));
  }
}

function checked(bytes: Uint8Array, digest: string, name: string): Uint8Array<ArrayBuffer> {
  if (platform().sha256(bytes) !== digest) {
    throw unusable(name, 'it was not built from the current sources');
  }
  return bytes as Uint8Array<ArrayBuffer>;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the path of a local file, else the URL. */
function pathOf(file: URL): string {
  return file.protocol === 'file:' ? decodeURIComponent(file.pathname) : file.href;
}

function unusable(name: string, reason: string): KernelsError {
  return new KernelsError(
    `cannot use ${name} (${reason}): run "npm run build", or install the package again`,
  );
}
