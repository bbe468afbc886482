/**
 * The size of a bzip2 block after its Burrows-Wheeler transform: move to front, run lengths, and up
 * to six Huffman tables, chosen and refined as bzip2 1.0.8 does
 * (https://sourceware.org/bzip2/, compress.c and huffman.c). Every choice that changes the length is
 * the same; no output is written.
 */

/** Symbols that share a selector. */
const GROUP = 50;

/** Rounds of refinement. */
const ROUNDS = 4;

/** Longest code of the compressor. */
const LONGEST_CODE = 17;

/** First cost of a symbol inside and outside the part of its table. */
const INSIDE = 0;
const OUTSIDE = 15;

/** Block header: magic 48 bits, CRC 32, randomised 1, origin 24; tables 3, selectors 15. */
const HEADER_BITS = 48 + 32 + 1 + 24 + 3 + 15;

/** Map of used bytes: 16 bits for the rows, 16 for each used row. */
const MAP_ROW_BITS = 16;

/** Measures one block after the other, in memory that it keeps. */
export class BlockCoder {
  #codes: Uint8Array = new Uint8Array(0);
  #length = 0;
  readonly #counts = new Int32Array(258);

  /** Returns the bits of a block. `last` is the last column of the sorted rotations of its text. */
  bits(last: Uint8Array, length: number): number {
    const used = usedBytes(last, length);
    const alphabet = this.#encode(last, length, used);
    const rows = new Set(used.map((byte) => byte >> 4)).size;
    const tables = tableCount(this.#length);
    const lengths = this.#firstTables(tables, alphabet);
    let coded = 0;
    for (let round = 0; round < ROUNDS; round++) coded = this.#refine(lengths, alphabet);
    const map = MAP_ROW_BITS * (1 + rows);
    return HEADER_BITS + map + coded + lengths.reduce((sum, row) => sum + tableBits(row), 0);
  }

  /** Zeroes everything derived from the samples. */
  wipe(): void {
    this.#codes.fill(0);
    this.#counts.fill(0);
  }

  /** Moves to front and codes runs of zeros. Returns the number of different codes. */
  #encode(last: Uint8Array, length: number, used: readonly number[]): number {
    if (this.#codes.length <= length) this.#codes = new Uint8Array(length + 1);
    const [codes, counts] = [this.#codes, this.#counts];
    counts.fill(0);
    const front = Uint8Array.from(used);
    const end = used.length + 1;
    let to = 0;
    let zeros = 0;
    for (let i = 0; i < length; i++) {
      const byte = last[i];
      if (front[0] === byte) {
        zeros++;
        continue;
      }
      if (zeros > 0) {
        to = codeZeros(codes, counts, to, zeros);
        zeros = 0;
      }
      let place = 0;
      let moved = front[0];
      do {
        place++;
        const next = front[place];
        front[place] = moved;
        moved = next;
      } while (moved !== byte);
      front[0] = byte;
      codes[to++] = place + 1;
      counts[place + 1]++;
    }
    if (zeros > 0) to = codeZeros(codes, counts, to, zeros);
    codes[to++] = end;
    counts[end]++;
    this.#length = to;
    return end + 1;
  }

  /** Each table prefers one part of the alphabet; the parts are about equally frequent. */
  #firstTables(tables: number, alphabet: number): Uint8Array[] {
    const lengths = Array.from({ length: tables }, () => new Uint8Array(alphabet).fill(OUTSIDE));
    let rest = this.#length;
    let from = 0;
    for (let part = tables; part > 0; part--) {
      const share = Math.floor(rest / part);
      let to = from - 1;
      let sum = 0;
      while (sum < share && to < alphabet - 1) sum += this.#counts[++to];
      const isInner = part !== tables && part !== 1;
      if (to > from && isInner && (tables - part) % 2 === 1) sum -= this.#counts[to--];
      lengths[part - 1].fill(INSIDE, from, to + 1);
      from = to + 1;
      rest -= sum;
    }
    return lengths;
  }

  /**
   * Gives each group its cheapest table, then each table the code of its groups. Returns the bits of
   * the selectors and, under the new tables, of the codes.
   */
  #refine(lengths: Uint8Array[], alphabet: number): number {
    const [codes, tables] = [this.#codes, lengths.length];
    const [low, high] = packedCosts(lengths, alphabet);
    const frequencies = lengths.map(() => new Int32Array(alphabet));
    const order = lengths.map((_, table) => table);
    let selectorBits = 0;
    for (let from = 0; from < this.#length; from += GROUP) {
      const to = Math.min(from + GROUP, this.#length);
      let [sumLow, sumHigh] = [0, 0];
      for (let i = from; i < to; i++) {
        const code = codes[i];
        sumLow += low[code];
        sumHigh += high[code];
      }
      const table = cheapest(sumLow, sumHigh, tables);
      const frequency = frequencies[table];
      for (let i = from; i < to; i++) frequency[codes[i]]++;
      const place = order.indexOf(table);
      order.copyWithin(1, 0, place);
      order[0] = table;
      selectorBits += place + 1;
    }
    let bits = selectorBits;
    for (let table = 0; table < tables; table++) {
      codeLengths(frequencies[table], lengths[table]);
      for (let code = 0; code < alphabet; code++) {
        bits += frequencies[table][code] * lengths[table][code];
      }
    }
    return bits;
  }
}

/** A group costs at most 850 bits: ten bits hold the cost under one table, a number under three. */
const COST_BITS = 10;
const COST_MASK = 1023;

function packedCosts(lengths: readonly Uint8Array[], alphabet: number): [Int32Array, Int32Array] {
  const [low, high] = [new Int32Array(alphabet), new Int32Array(alphabet)];
  lengths.forEach((row, table) => {
    const packed = table < 3 ? low : high;
    for (let code = 0; code < alphabet; code++)
      packed[code] += row[code] << (COST_BITS * (table % 3));
  });
  return [low, high];
}

/** Returns the first of the cheapest tables. */
function cheapest(low: number, high: number, tables: number): number {
  let best = 0;
  let bestCost = low & COST_MASK;
  for (let table = 1; table < tables; table++) {
    const packed = table < 3 ? low : high;
    const cost = (packed >> (COST_BITS * (table % 3))) & COST_MASK;
    if (cost < bestCost) {
      best = table;
      bestCost = cost;
    }
  }
  return best;
}

function usedBytes(last: Uint8Array, length: number): number[] {
  const isUsed = new Uint8Array(256);
  for (let i = 0; i < length; i++) isUsed[last[i]] = 1;
  return [...isUsed.keys()].filter((byte) => isUsed[byte] === 1);
}

/** Writes a run of zeros as its length in bijective base 2, with the codes 0 and 1. */
function codeZeros(codes: Uint8Array, counts: Int32Array, at: number, zeros: number): number {
  let to = at;
  for (let rest = zeros; rest > 0; rest = (rest - 1) >> 1) {
    const code = (rest - 1) & 1;
    codes[to++] = code;
    counts[code]++;
  }
  return to;
}

function tableCount(codes: number): number {
  if (codes < 200) return 2;
  if (codes < 600) return 3;
  if (codes < 1200) return 4;
  return codes < 2400 ? 5 : 6;
}

/** Bits of a table: the first length, then one bit for each code and two for each step. */
function tableBits(lengths: Uint8Array): number {
  let bits = 5;
  let current = lengths[0];
  for (const length of lengths) {
    bits += 1 + 2 * Math.abs(length - current);
    current = length;
  }
  return bits;
}

/**
 * Sets the lengths of a Huffman code. Equal weights are taken in the order of bzip2's heap, because
 * the choice decides which code is longer. A code that is too long flattens all weights.
 */
function codeLengths(frequency: Int32Array, lengths: Uint8Array): void {
  const weights = Array.from(frequency, (count) => Math.max(1, count));
  for (;;) {
    const parents = huffmanParents(weights);
    let longest = 0;
    for (let code = 0; code < lengths.length; code++) {
      let depth = 0;
      for (let node = parents[code]; node >= 0; node = parents[node]) depth++;
      lengths[code] = depth;
      longest = Math.max(longest, depth);
    }
    if (longest <= LONGEST_CODE) return;
    for (let code = 0; code < weights.length; code++) weights[code] = 1 + (weights[code] >> 1);
  }
}

/** Depths take the low eight bits of a weight, so that of two equal sums the flatter tree is lighter. */
const DEPTH = 256;

/** Returns the parent of each node; leaves come first, and the root has −1. */
function huffmanParents(leafWeights: readonly number[]): Int32Array {
  const leaves = leafWeights.length;
  const parents = new Int32Array(2 * leaves - 1).fill(-1);
  const weights = leafWeights.map((weight) => weight * DEPTH);
  const heap = new NodeHeap(weights);
  for (let leaf = 0; leaf < leaves; leaf++) heap.push(leaf);
  for (let node = leaves; heap.size > 1; node++) {
    const first = heap.pop();
    const second = heap.pop();
    parents[first] = node;
    parents[second] = node;
    weights.push(joinedWeight(weights[first], weights[second]));
    heap.push(node);
  }
  return parents;
}

function joinedWeight(a: number, b: number): number {
  const depth = 1 + Math.max(a % DEPTH, b % DEPTH);
  return a - (a % DEPTH) + (b - (b % DEPTH)) + depth;
}

/** A binary heap of node numbers, lightest first. */
class NodeHeap {
  readonly #weights: readonly number[];
  /** The root is at 1. */
  readonly #nodes: number[] = [-1];

  constructor(weights: readonly number[]) {
    this.#weights = weights;
  }

  get size(): number {
    return this.#nodes.length - 1;
  }

  push(node: number): void {
    const [nodes, weights] = [this.#nodes, this.#weights];
    let at = nodes.length;
    for (; at > 1 && weights[node] < weights[nodes[at >> 1]]; at >>= 1) nodes[at] = nodes[at >> 1];
    nodes[at] = node;
  }

  pop(): number {
    const [nodes, weights] = [this.#nodes, this.#weights];
    const top = nodes[1];
    const node = nodes.pop() ?? top;
    if (this.size === 0) return top;
    let at = 1;
    for (;;) {
      let child = 2 * at;
      if (child >= nodes.length) break;
      if (child + 1 < nodes.length && weights[nodes[child + 1]] < weights[nodes[child]]) child++;
      if (weights[node] < weights[nodes[child]]) break;
      nodes[at] = nodes[child];
      at = child;
    }
    nodes[at] = node;
    return top;
  }
}
