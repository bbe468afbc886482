/** The tree for n = 2^20: remainders of 4^7 = 16384 coefficients per class. See dft.ts. */
import {
  LANE_NODE,
  moveAndSplit,
  NODE,
  split16,
  split4,
  TILE,
  twistAndSplit,
} from './dft-butterfly4';
import { addClass16Im, addClass16Re, addPairs, selectClass } from './dft-entry';
import { countLeaves } from './dft-leaves4';
import {
  APART_FACTORS,
  CLASS_16,
  LANE_FACTORS,
  LANE_FACTORS_SIZE,
  MINUS,
  MINUS_TILE,
  NODE_FACTORS_1,
  NODE_FACTORS_2,
  NODE_FACTORS_3,
  OFFSETS,
  PLUS,
  PLUS_TILE,
  TWISTS,
  TWISTS_SIZE,
} from './dft-memory';
import { finishJob, startJob } from './dft-threshold';

/** Counts both jobs of the pair of classes c. */
export function countPair4(c: usize): void {
  selectClass(c);
  const plusFactors = LANE_FACTORS + c * 2 * LANE_FACTORS_SIZE;
  const minusFactors = plusFactors + LANE_FACTORS_SIZE;
  for (let i: usize = 0; i < 1024; i += TILE) {
    for (let row: usize = 0; row < 16; row++) {
      const tile = row * TILE * 32;
      addPairs(c, OFFSETS + ((i + (row << 10)) << 4), PLUS_TILE + tile, MINUS_TILE + tile, TILE);
    }
    splitTile(PLUS_TILE, plusFactors, PLUS + (i << 5));
    splitTile(MINUS_TILE, minusFactors, MINUS + (i << 5));
  }
  countJob(<i32>(c * 2), PLUS, 16, c == 0);
  countJob(<i32>(c * 2 + 1), MINUS, 16, c == 0);
}

/** Computes the levels of m = 16384 and 4096 for TILE positions of each of the 16 nodes below. */
function splitTile(tile: usize, factors: usize, target: usize): void {
  split4(tile, TILE * 128, TILE * 4, factors);
  for (let node: usize = 0; node < 4; node++) {
    const from = tile + node * TILE * 128;
    moveAndSplit(from, target + (node << 17), factors + (1 + node) * LANE_NODE);
  }
}

/** Counts class 16: the residues 16, 80, 144 and 208 modulo 256 in the four lanes, 4096 coefficients. */
export function countClass16In4(): void {
  const w1Re = v128.load(APART_FACTORS, 32);
  const w1Im = v128.load(APART_FACTORS, 48);
  const w2Re = v128.load(APART_FACTORS, 64);
  const w2Im = v128.load(APART_FACTORS, 80);
  const w3Re = v128.load(APART_FACTORS, 96);
  const w3Im = v128.load(APART_FACTORS, 112);
  for (let i: usize = 0; i < 4096; i++) {
    const p = CLASS_16 + (i << 2);
    let re = v128.load32_splat(p);
    let im = v128.load32_splat(p, 0x10000);
    re = addClass16Re(re, p + 0x4000, w1Re, w1Im);
    im = addClass16Im(im, p + 0x4000, w1Re, w1Im);
    re = addClass16Re(re, p + 0x8000, w2Re, w2Im);
    im = addClass16Im(im, p + 0x8000, w2Re, w2Im);
    re = addClass16Re(re, p + 0xc000, w3Re, w3Im);
    im = addClass16Im(im, p + 0xc000, w3Re, w3Im);
    v128.store(PLUS + (i << 5), re);
    v128.store(PLUS + (i << 5), im, 16);
  }
  const factors = LANE_FACTORS + LANE_FACTORS_SIZE * 8 + LANE_NODE;
  split4(PLUS, 1024 << 5, 1024, factors);
  countJob(8, PLUS, 4, false);
}

/** Computes and counts the levels from m = 1024 down, for the first `nodes` nodes of a job at `start`. */
function countJob(job: i32, start: usize, nodes: usize, ownMirror: bool): void {
  const factors = LANE_FACTORS + <usize>job * LANE_FACTORS_SIZE;
  const twist = TWISTS + <usize>job * TWISTS_SIZE;
  startJob(job, start, 4);
  for (let node: usize = 0; node < nodes; node++) {
    count1024(start + (node << 15), node, factors, twist);
  }
  finishJob(ownMirror);
}

function count1024(p: usize, node: usize, factors: usize, twist: usize): void {
  split4(p, 256 << 5, 256, factors + (5 + node) * LANE_NODE);
  for (let a: usize = 0; a < 4; a++) {
    const node256 = node * 4 + a;
    const p256 = p + (a << 13);
    split4(p256, 64 << 5, 64, factors + (21 + node256) * LANE_NODE);
    for (let b: usize = 0; b < 4; b++) count64(p256 + (b << 11), node256 * 4 + b, twist);
  }
}

/** Counts from m = 64 on, where the lanes share their factors. */
function count64(p: usize, node: usize, twist: usize): void {
  twistAndSplit(p, NODE_FACTORS_3 + node * NODE, twist);
  split16(p, NODE_FACTORS_2 + node * 4 * NODE);
  countLeaves(p, NODE_FACTORS_1 + node * 16 * NODE);
}
