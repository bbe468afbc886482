/** Counts of the tuples of each length in a sequence, for SP 800-90B §6.3.5 and §6.3.6. */
import { sharedPrefixes } from './_suffix-array.ts';

/** Counts, indexed by the length W of the tuples, from 1 to `longest`. */
export interface TupleCounts {
  /** Length of the sequence. */
  readonly length: number;
  /** v: the length of the longest tuple that occurs twice; 0 if no symbol does. */
  readonly longest: number;
  /** Q[W]: occurrences of the most common W-tuple. */
  readonly mostCommon: Int32Array;
  /** Pairs of equal W-tuples: the sum of C(occurrences, 2) over all W-tuples. */
  readonly equalPairs: Float64Array;
}

/**
 * Counts the tuples of all lengths in one pass over the suffix array.
 *
 * Suffixes that share their first W symbols are adjacent in the suffix array. Such groups nest:
 * each is a node of a tree, with the least length its suffixes share, and stands for all tuple
 * lengths above its parent's. One pass with a stack visits every node once, children first.
 *
 * Pairs stay exact up to 2^27 symbols, where C(n, 2) reaches 2^53; beyond, they are rounded to 53 bits.
 */
export function countTuples(symbols: Uint8Array, alphabetSize: number): TupleCounts {
  const shared = sharedPrefixes(symbols, alphabetSize);
  const longest = shared.reduce((max, value) => Math.max(max, value), 0);
  const mostCommon = new Int32Array(longest + 1).fill(1);
  const equalPairs = new Float64Array(longest + 1);
  visitNodes(shared, longest, (depth, parentDepth, size) => {
    if (size > mostCommon[depth]) mostCommon[depth] = size;
    const pairs = (size * (size - 1)) / 2;
    equalPairs[depth] += pairs;
    equalPairs[parentDepth] -= pairs;
  });
  // Each node marked only its longest length; fill in the shorter ones. A prefix of a tuple is at
  // least as common as the tuple.
  for (let w = longest - 1; w >= 1; w--) {
    mostCommon[w] = Math.max(mostCommon[w], mostCommon[w + 1]);
    equalPairs[w] += equalPairs[w + 1];
  }
  return { length: symbols.length, longest, mostCommon, equalPairs };
}

/**
 * Calls `visit` for each node except the root. `shared[i]` is the length that suffix i shares with
 * the previous one.
 */
function visitNodes(
  shared: Int32Array,
  longest: number,
  visit: (depth: number, parentDepth: number, size: number) => void,
): void {
  // Depths on the stack increase, so there are at most `longest` of them besides the root.
  const depths = new Int32Array(longest + 2);
  const starts = new Int32Array(longest + 2);
  let top = 0;
  for (let i = 1; i <= shared.length; i++) {
    const depth = i < shared.length ? shared[i] : 0;
    let start = i - 1;
    while (depths[top] > depth) {
      start = starts[top];
      visit(depths[top], Math.max(depth, depths[top - 1]), i - start);
      top--;
    }
    if (depths[top] < depth) {
      top++;
      depths[top] = depth;
      starts[top] = start;
    }
  }
}
