/**
 * Merkle trees as RFC 6962 §2.1 defines them: recursive, over all entries. Slow, and independent of the code
 * that it checks.
 */
import { createHash } from 'node:crypto';

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return parts
    .reduce<ReturnType<typeof createHash>>((hash, part) => hash.update(part), createHash('sha256'))
    .digest();
}

/** §2.1: MTH. */
export function treeHash(entries: readonly Uint8Array[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), entries[0] as Uint8Array);
  const k = splitPoint(entries.length);
  return sha256(Buffer.of(1), treeHash(entries.slice(0, k)), treeHash(entries.slice(k)));
}

/** §2.1.1: PATH(m, D[n]). */
export function auditPath(m: number, entries: readonly Uint8Array[]): Buffer[] {
  if (entries.length === 1) return [];
  const k = splitPoint(entries.length);
  const [left, right] = [entries.slice(0, k), entries.slice(k)];
  return m < k
    ? [...auditPath(m, left), treeHash(right)]
    : [...auditPath(m - k, right), treeHash(left)];
}

/** §2.1.2: PROOF(m, D[n]). */
export function consistencyPath(m: number, entries: readonly Uint8Array[]): Buffer[] {
  return subproof(m, entries, true);
}

function subproof(m: number, entries: readonly Uint8Array[], isWhole: boolean): Buffer[] {
  if (m === entries.length) return isWhole ? [] : [treeHash(entries)];
  const k = splitPoint(entries.length);
  const [left, right] = [entries.slice(0, k), entries.slice(k)];
  return m <= k
    ? [...subproof(m, left, isWhole), treeHash(right)]
    : [...subproof(m - k, right, false), treeHash(left)];
}

/** The largest power of two below n. */
function splitPoint(n: number): number {
  return 2 ** Math.ceil(Math.log2(n) - 1);
}

/** Returns entry `index` of a synthetic log: 32 bytes. */
function syntheticEntry(index: number): Buffer {
  return sha256(Buffer.from(`entry ${index}`));
}

export function syntheticEntries(size: number): Buffer[] {
  return Array.from({ length: size }, (_, index) => syntheticEntry(index));
}
