/**
 * What the package needs from its runtime. The default uses only what browsers and Node have in common; node.ts
 * installs Node's own.
 */
import { type Hash, Sha256 } from './sha256.ts';

interface Platform {
  /** Returns the bytes of a file of the package at once, where the runtime can. */
  readonly readFile?: (file: URL) => Uint8Array;
  readonly newHash: () => Hash;
}

let current: Platform = { newHash: () => new Sha256() };

export function platform(): Platform {
  return current;
}

/** Replaces the platform of this thread. */
export function installPlatform(replacement: Platform): void {
  current = replacement;
}
