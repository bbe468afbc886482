/** Compares two trees of one log by its tiles (RFC 6962 §2.1.2). */
import { consistencyProof, rootAt, type TileSource, verifyConsistency } from '../../log/index.ts';
import { type Head, isSameHead } from './heads.ts';

/** Reports whether the newer tree begins with the older one, and has the root that its tiles give. */
export async function isConsistent(tiles: TileSource, from: Head, to: Head): Promise<boolean> {
  if (to.size < from.size || (from.size === to.size && !isSameHead(from, to))) return false;
  // The proof would not cover the newer root.
  if (from.size === 0 || from.size === to.size) {
    return Buffer.compare(await rootAt(tiles, to.size), to.root) === 0;
  }
  const proof = await consistencyProof(tiles, from.size, to.size);
  return verifyConsistency({
    from: from.size,
    fromRoot: from.root,
    to: to.size,
    toRoot: to.root,
    proof,
  });
}
