/** The tree for n = 10^6: remainders of 5^6 = 15625 coefficients per class. See dft.ts. */
import {
  countLeaves,
  LANE_NODE,
  NODE,
  split5,
  splitShared,
  twistAll,
} from './dft-butterfly5';
import { addClass16Im, addClass16Re, addPairs, selectClass } from './dft-entry';
import {
  APART_FACTORS,
  APART_FACTORS_SIZE,
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

/** Positions that pass the entry and two levels together, 25 such groups at a time. */
const TILE: usize = 25;

/** Counts both jobs of the pair of classes c. */
export function countPair5(c: usize): void {
  selectClass(c);
  const plusFactors = LANE_FACTORS + c * 2 * LANE_FACTORS_SIZE;
  const minusFactors = plusFactors + LANE_FACTORS_SIZE;
  for (let i: usize = 0; i < 625; i += TILE) {
    for (let row: usize = 0; row < 25; row++) {
      const tile = row * TILE * 32;
      addPairs(c, OFFSETS + ((i + row * 625) << 4), PLUS_TILE + tile, MINUS_TILE + tile, TILE);
    }
    splitTile(PLUS_TILE, plusFactors, PLUS + (i << 5));
    splitTile(MINUS_TILE, minusFactors, MINUS + (i << 5));
  }
  countJob(<i32>(c * 2), PLUS, 25, 4, c == 0);
  countJob(<i32>(c * 2 + 1), MINUS, 25, 4, c == 0);
}

/** Computes the levels of m = 15625 and 3125 for TILE positions of each of the 25 nodes below. */
function splitTile(tile: usize, factors: usize, target: usize): void {
  const node = TILE * 5 * 32;
  split5(tile, tile, node, node, TILE * 5, factors);
  for (let a: usize = 0; a < 5; a++) {
    const to = target + a * 3125 * 32;
    split5(tile + a * node, to, TILE * 32, 625 * 32, TILE, factors + (1 + a) * LANE_NODE);
  }
}

/**
 * Counts class 16, with 3125 coefficients for each of the residues 16 + 64t modulo 320: t = 0 … 3 in
 * the lanes of job 8, t = 4 in the first lane of job 9.
 */
export function countClass16In5(): void {
  takeApart(8);
  countJob(8, PLUS, 5, 4, false);
  takeApart(9);
  countJob(9, PLUS, 5, 1, false);
}

function takeApart(job: usize): void {
  const powers = APART_FACTORS + (job - 8) * APART_FACTORS_SIZE;
  for (let i: usize = 0; i < 3125; i++) {
    const p = CLASS_16 + (i << 2);
    let re = f32x4.splat(0);
    let im = re;
    for (let q: usize = 0; q < 5; q++) {
      const w = powers + (q << 5);
      re = addClass16Re(re, p + q * 12500, v128.load(w), v128.load(w, 16));
      im = addClass16Im(im, p + q * 12500, v128.load(w), v128.load(w, 16));
    }
    v128.store(PLUS + (i << 5), re);
    v128.store(PLUS + (i << 5), im, 16);
  }
  const factors = LANE_FACTORS + job * LANE_FACTORS_SIZE + LANE_NODE;
  split5(PLUS, PLUS, 625 * 32, 625 * 32, 625, factors);
}

/** Computes and counts the levels from m = 625 down, for the first `nodes` nodes of a job at `start`. */
function countJob(job: i32, start: usize, nodes: usize, lanes: i32, ownMirror: bool): void {
  const factors = LANE_FACTORS + <usize>job * LANE_FACTORS_SIZE;
  const twist = TWISTS + <usize>job * TWISTS_SIZE;
  startJob(job, start, lanes);
  for (let node: usize = 0; node < nodes; node++) {
    const p = start + node * 625 * 32;
    split5(p, p, 125 * 32, 125 * 32, 125, factors + (6 + node) * LANE_NODE);
    for (let a: usize = 0; a < 5; a++) count125(p + a * 125 * 32, node * 5 + a, twist);
  }
  finishJob(ownMirror);
}

/** Counts from m = 125 on, where the lanes share their factors. */
function count125(p: usize, node: usize, twist: usize): void {
  twistAll(p, twist);
  splitShared(p, 25 * 32, 25, NODE_FACTORS_3 + node * NODE);
  for (let a: usize = 0; a < 5; a++) {
    splitShared(p + a * 25 * 32, 5 * 32, 5, NODE_FACTORS_2 + (node * 5 + a) * NODE);
  }
  countLeaves(p, NODE_FACTORS_1 + node * 25 * NODE);
}
