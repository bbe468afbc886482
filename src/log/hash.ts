/** Hashes of a Merkle tree: RFC 6962 §2.1, with SHA-256. */
import { hash } from 'node:crypto';
import { HASH_BYTES, leafMessage, TILE_WIDTH } from '#tlog';

/** §2.1: the root of a tree without entries is the hash of the empty string. */
export const EMPTY_ROOT: Buffer = sha256('');

export function sha256(message: string | Uint8Array): Buffer {
  return hash('sha256', message, 'buffer');
}

/** Returns the hash of a leaf. */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(leafMessage(entry));
}

/**
 * Messages and results that every call reuses. `hash` returns text, whose bytes are written in place: a
 * buffer for each hash takes twice as long (measured by bench/log.ts).
 */
const leaf = Buffer.alloc(1 + HASH_BYTES, 0x00);
const node = Buffer.alloc(1 + 2 * HASH_BYTES, 0x01);
const level = Buffer.alloc(TILE_WIDTH * HASH_BYTES);

/** Writes the hash of a message into `target`. */
function hashInto(target: Buffer, offset: number, message: Uint8Array): void {
  target.write(hash('sha256', message, 'latin1'), offset, 'latin1');
}

/** Writes the hash of a leaf into `target`. */
export function leafHashInto(target: Buffer, offset: number, entry: Uint8Array): void {
  if (entry.length === HASH_BYTES) leaf.set(entry, 1);
  hashInto(target, offset, entry.length === HASH_BYTES ? leaf : leafMessage(entry));
}

/** Returns the hash of an inner node. Both hashes have 32 bytes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return sha256(node);
}

/**
 * Writes the root of a perfect subtree into `target`: of 2^n hashes, at most a full tile, of 32 bytes each,
 * one after another.
 */
export function perfectRootInto(target: Buffer, offset: number, hashes: Uint8Array): void {
  level.set(hashes);
  for (let width = hashes.length / HASH_BYTES; width > 1; width /= 2) {
    for (let i = 0; i < width; i += 2) {
      level.copy(node, 1, i * HASH_BYTES, (i + 2) * HASH_BYTES);
      hashInto(level, (i / 2) * HASH_BYTES, node);
    }
  }
  level.copy(target, offset, 0, HASH_BYTES);
}

/** Returns what `perfectRootInto` writes. */
export function perfectRoot(hashes: Uint8Array): Buffer {
  const root = Buffer.alloc(HASH_BYTES);
  perfectRootInto(root, 0, hashes);
  return root;
}

/** Returns the log's entry for a statement: the SHA-256 of its canonical form, 32 bytes. */
export function entryOf(canonicalStatement: string): Buffer {
  return sha256(canonicalStatement);
}
