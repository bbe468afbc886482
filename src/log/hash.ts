/** Hashes of a Merkle tree: RFC 6962 §2.1, with SHA-256. */
import { hash } from 'node:crypto';
import { HASH_BYTES, leafMessage } from '#tlog';

/** §2.1: the root of a tree without entries is the hash of the empty string. */
export const EMPTY_ROOT: Buffer = sha256('');

export function sha256(message: string | Uint8Array): Buffer {
  return hash('sha256', message, 'buffer');
}

/** Returns the hash of a leaf. */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(leafMessage(entry));
}

/** Reused for every inner node, because allocating it costs as much as hashing it. */
const nodeMessage = Buffer.alloc(1 + 2 * HASH_BYTES, 0x01);

/** Returns the hash of an inner node. Both hashes have 32 bytes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  nodeMessage.set(left, 1);
  nodeMessage.set(right, 1 + HASH_BYTES);
  return sha256(nodeMessage);
}

/**
 * Returns the root of a perfect subtree from the hashes below it: 2^n of them, each of 32 bytes, one after
 * another.
 */
export function perfectRoot(hashes: Uint8Array): Buffer {
  const level = Buffer.from(hashes);
  for (let width = level.length / HASH_BYTES; width > 1; width /= 2) {
    for (let i = 0; i < width; i += 2) {
      level.copy(nodeMessage, 1, i * HASH_BYTES, (i + 2) * HASH_BYTES);
      level.set(sha256(nodeMessage), (i / 2) * HASH_BYTES);
    }
  }
  return level.subarray(0, HASH_BYTES);
}

/** Returns the log's entry for a statement: the SHA-256 of its canonical form, 32 bytes. */
export function entryOf(canonicalStatement: string): Buffer {
  return sha256(canonicalStatement);
}
