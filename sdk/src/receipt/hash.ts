/** SHA-256 by the Web Crypto API, and the Merkle tree of the log. */
import { findSubtle } from '../web-crypto.ts';
import { leafMessage, nodeMessage, rootFromInclusion } from './tlog.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

export async function sha256(bytes: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await findSubtle().digest('SHA-256', bytes as Bytes));
}

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

/**
 * Returns the root of a tree of `size` entries in which `entry` has this index, or null if the number of hashes is wrong
 * (RFC 6962 §2.1.1). `hashes` begins with the leaf's sibling.
 */
export async function rootOf(
  entry: Uint8Array,
  index: number,
  size: number,
  hashes: readonly Uint8Array[],
): Promise<Uint8Array | null> {
  const leaf: Promise<Uint8Array> = sha256(leafMessage(entry));
  const proof = hashes.map((hash) => Promise.resolve(hash));
  return rootFromInclusion<Promise<Uint8Array>>({ leaf, index, size, proof }, async (left, right) =>
    sha256(nodeMessage(await left, await right)),
  );
}

/** Compares public values. Secrets go through `verify` of the Web Crypto API. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
