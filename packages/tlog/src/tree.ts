/**
 * Arithmetic of Merkle trees: RFC 6962 §2.1, https://www.rfc-editor.org/rfc/rfc6962#section-2.1.
 *
 * No function here hashes. `join` is the caller's: it returns the hash of `nodeMessage(left, right)`, or a
 * promise of it where hashing is asynchronous.
 */
import { assertInteger, concat } from './bytes.ts';

/** The entries from `start` up to, not including, `end`. */
export interface Subtree {
  readonly start: number;
  readonly end: number;
}

export type Side = 'left' | 'right';

/** Returns the bytes whose SHA-256 is the hash of a leaf (§2.1). */
export function leafMessage(entry: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0), entry);
}

/** Returns the bytes whose SHA-256 is the hash of an inner node (§2.1). */
export function nodeMessage(left: Uint8Array, right: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(1), left, right);
}

/** One level of a proof: the subtree that its hash covers, and on which side of the path it lies. */
interface Step {
  readonly side: Side;
  readonly sibling: Subtree;
}

/**
 * Returns the levels from the root down to the subtree that `isReached` accepts. It always goes into the
 * half that holds entry `index`.
 */
function descend(
  index: number,
  size: number,
  isReached: (subtree: Subtree) => boolean,
): { steps: Step[]; reached: Subtree } {
  const steps: Step[] = [];
  let [start, end] = [0, size];
  while (!isReached({ start, end })) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      steps.push({ side: 'right', sibling: { start: middle, end } });
      end = middle;
    } else {
      steps.push({ side: 'left', sibling: { start, end: middle } });
      start = middle;
    }
  }
  return { steps, reached: { start, end } };
}

/** Returns k of §2.1: the largest power of two below `n`, for n ≥ 2. Bit operations would end at 2^31. */
function splitPoint(n: number): number {
  let k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

function inclusionSteps(index: number, size: number): Step[] {
  assertInteger('size', size, 1);
  assertInteger('index', index, 0, size - 1);
  return descend(index, size, ({ start, end }) => end - start === 1).steps.reverse();
}

/**
 * Returns the side of each hash of an inclusion proof (§2.1.1), the leaf's sibling first. A proof has as
 * many hashes. Throws `RangeError` unless 0 ≤ index < size.
 */
export function inclusionSides(index: number, size: number): readonly Side[] {
  return inclusionSteps(index, size).map(({ side }) => side);
}

/** Returns the subtrees whose hashes are the inclusion proof (§2.1.1), the leaf's sibling first. */
export function inclusionSubtrees(index: number, size: number): readonly Subtree[] {
  return inclusionSteps(index, size).map(({ sibling }) => sibling);
}

/**
 * Returns the root that an inclusion proof leads to, or null if the proof has the wrong length. The caller
 * compares it with the root of the tree.
 */
export function rootFromInclusion<T>(
  proven: { leaf: T; index: number; size: number; proof: readonly T[] },
  join: (left: T, right: T) => T,
): T | null {
  const { leaf, index, size, proof } = proven;
  const sides = inclusionSides(index, size);
  if (sides.length !== proof.length) return null;
  return sides.reduce(
    (hash, side, i) => (side === 'left' ? join(proof[i] as T, hash) : join(hash, proof[i] as T)),
    leaf,
  );
}

/** Plan of a consistency proof: the old tree's rightmost perfect subtree, and the levels above it. */
function consistencySteps(from: number, to: number): { first: Subtree; steps: Step[] } {
  assertInteger('to', to, 1);
  assertInteger('from', from, 1, to);
  // SUBPROOF of §2.1.2 follows the old tree's last entry, and ends where a subtree ends with that entry.
  const { steps, reached } = descend(from - 1, to, ({ end }) => end === from);
  return { first: reached, steps: steps.reverse() };
}

/**
 * Returns the subtrees whose hashes are the consistency proof between two sizes (§2.1.2), in its order.
 * Throws `RangeError` unless 1 ≤ from ≤ to. Every tree is consistent with the empty one, without a proof.
 */
export function consistencySubtrees(from: number, to: number): readonly Subtree[] {
  const { first, steps } = consistencySteps(from, to);
  const siblings = steps.map(({ sibling }) => sibling);
  // §2.1.2: a proof leaves out the old root where the old tree is itself a subtree.
  return first.start === 0 ? siblings : [first, ...siblings];
}

/**
 * Returns the old and the new root that a consistency proof leads to, or null if the proof has the wrong
 * length. The caller compares both. Throws `RangeError` unless 1 ≤ from ≤ to.
 */
export function rootsFromConsistency<T>(
  proven: { from: number; fromRoot: T; to: number; proof: readonly T[] },
  join: (left: T, right: T) => T,
): { from: T; to: T } | null {
  const { first, steps } = consistencySteps(proven.from, proven.to);
  const hashes = first.start === 0 ? [proven.fromRoot, ...proven.proof] : proven.proof;
  if (hashes.length !== steps.length + 1) return null;
  const [start, ...siblings] = hashes as [T, ...T[]];
  let [from, to] = [start, start];
  for (const [i, { side }] of steps.entries()) {
    const sibling = siblings[i] as T;
    // What lies on the right was added later: only the new root covers it.
    if (side === 'left') from = join(sibling, from);
    to = side === 'left' ? join(sibling, to) : join(to, sibling);
  }
  return { from, to };
}

/**
 * Returns the maximal perfect subtrees of a tree, left to right. Their sizes are the powers of two in
 * `size`. The list is empty for the empty tree.
 */
export function rootSubtrees(size: number): readonly Subtree[] {
  assertInteger('size', size, 0);
  return perfectSubtrees({ start: 0, end: size });
}

/**
 * Returns the maximal perfect subtrees of a subtree of a proof, left to right. `rootFromSubtrees` joins
 * their hashes.
 */
export function perfectSubtrees({ start, end }: Subtree): readonly Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = start; at < end; ) {
    const width = end - at === 1 ? 1 : splitPoint(end - at + 1);
    subtrees.push({ start: at, end: at + width });
    at += width;
  }
  return subtrees;
}

/** Returns the hash of a subtree from the hashes of its `perfectSubtrees`. Throws `RangeError` without any. */
export function rootFromSubtrees<T>(hashes: readonly T[], join: (left: T, right: T) => T): T {
  if (hashes.length === 0) throw new RangeError('"hashes" expected at least one, got none');
  return hashes.reduceRight((right, left) => join(left, right));
}
