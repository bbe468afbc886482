/**
 * What the package needs from its runtime. The default uses only what browsers and Node have in common; node.ts
 * installs Node's own.
 */
import { Sha256 } from './sha256.ts';

interface Platform {
  /** Returns the bytes of a file of the package at once, where the runtime can. */
  readonly readFile?: (file: URL) => Uint8Array;
  /** Returns the SHA-256 of all of `bytes` in hexadecimal digits. */
  readonly sha256: (bytes: Uint8Array) => string;
}

let current: Platform = {
  sha256: (bytes) => {
    const hash = new Sha256();
    hash.update(bytes);
    return hash.hex();
  },
};

export function platform(): Platform {
  return current;
}

/** Replaces the platform of this thread. */
export function installPlatform(replacement: Platform): void {
  current = replacement;
}
