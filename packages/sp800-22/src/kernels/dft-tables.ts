/**
 * The tables of the transform in packages/sp800-22/kernels/dft*.ts, computed in double precision and rounded
 * once to f32, and the map from a position in the result to its bin. packages/sp800-22/kernels/dft.ts
 * explains nodes, lanes, jobs and the twist.
 */
import { log } from '../elementary.ts';
import type { KernelModule } from './module.ts';

/** Real and imaginary part of a number. */
type Complex = readonly [number, number];

/** The plan for one length, n = 64 · radix^levels. */
export interface DftPlan {
  readonly n: number;
  readonly radix: 4 | 5;
  /** Position q of a node holds the remainder modulo x^(m/R) − γω^order[q]. */
  readonly order: readonly number[];
  /** Number of coefficients of the first nodes whose factors all lanes share. */
  readonly sharedFrom: number;
  /**
   * Half the width of the band around T² in which |S|² is computed again: more than five times the
   * largest error seen (docs/decisions.md). It holds 0.05·band bins of a random sequence.
   */
  readonly band: number;
}

const PLANS: readonly DftPlan[] = [
  { n: 2 ** 20, radix: 4, order: [0, 2, 1, 3], sharedFrom: 64, band: 16 },
  { n: 10 ** 6, radix: 5, order: [0, 1, 2, 3, 4], sharedFrom: 125, band: 20 },
];

/** Returns the plan for sequences of `n` bits, if there is one. */
export function dftPlan(n: number): DftPlan | undefined {
  return PLANS.find((plan) => plan.n === n);
}

const CLASSES = 64;
const LANES = 4;

/** The residues r of the lanes of each job: bins k ≡ r modulo 64, for the last two modulo 64R. */
const JOBS: readonly (readonly number[])[] = [
  ...[0, 1, 2, 3].flatMap((c) => [
    [c, c + 4, c + 8, c + 12],
    [c + 32, c + 36, c + 40, c + 44],
  ]),
  [16, 80, 144, 208],
  [272, 272, 272, 272],
];
const FIRST_JOB_OF_CLASS_16 = 8;

/** Returns the bin k < n at coefficient `index` and `lane` of a job, when m = 1. */
export function binAt(plan: DftPlan, job: number, index: number, lane: number): number {
  const { n, radix, order } = plan;
  let m = n / CLASSES;
  if (job >= FIRST_JOB_OF_CLASS_16) m /= radix;
  let residue = JOBS[job][lane];
  for (let place = index; m > 1; m /= radix) {
    const child = m / radix;
    residue += (n / m) * order[Math.floor(place / child)];
    place %= child;
  }
  return residue % n;
}

/** Fills the tables of `module`, replacing those of another length. */
export function writeDftTables(module: KernelModule, plan: DftPlan): void {
  writeByteSums(module, plan.n);
  writePairFactors(module, plan.n);
  writeApartFactors(module, plan);
  writeLaneFactors(module, plan);
  writeTwists(module, plan);
  writeNodeFactors(module, plan);
}

/** Writes complex numbers in the kernels' order: lanes of real parts, then of imaginary parts. */
class VectorWriter {
  readonly #to: Float32Array;
  readonly #n: number;
  #next = 0;

  constructor(to: Float32Array, n: number) {
    this.#to = to;
    this.#n = n;
  }

  /**
   * Writes W^e for one exponent e per lane, W = e^(−2πi/n). It makes no object for a number, because the tables have
   * 29,000 and a starting server waits for them.
   */
  rotations(exponents: readonly number[]): void {
    const lanes = exponents.length;
    for (const exponent of exponents) {
      const angle = angleOf(exponent, this.#n);
      this.#to[this.#next] = Math.cos(angle);
      this.#to[this.#next + lanes] = Math.sin(angle);
      this.#next++;
    }
    this.#next += lanes;
  }

  complex(values: readonly Complex[]): void {
    for (const [re] of values) this.#to[this.#next++] = re;
    for (const [, im] of values) this.#to[this.#next++] = im;
  }
}

/** Returns e^(−2πi·e/n). */
export function rotation(e: number, n: number): Complex {
  const angle = angleOf(e, n);
  return [Math.cos(angle), Math.sin(angle)];
}

function angleOf(e: number, n: number): number {
  return (-2 * Math.PI * (e % n)) / n;
}

function writeByteSums(module: KernelModule, n: number): void {
  const writer = new VectorWriter(module.f32('BYTE_SUMS', 4 * 2 * 256 * 2 * LANES), n);
  for (const residues of JOBS.slice(0, FIRST_JOB_OF_CLASS_16).filter((_, job) => job % 2 === 0)) {
    const sums = residues.map((residue) => byteSums((residue * n) / 16, n));
    const factors = residues.map((residue) => rotation(((residue * n) / CLASSES) * 2, n));
    for (let byte = 0; byte < 256; byte++) writer.complex(sums.map((sum) => sum[byte]));
    for (let byte = 0; byte < 256; byte++) {
      writer.complex(sums.map((sum, lane) => product(sum[byte], factors[lane])));
    }
  }
}

/** Returns Σ ±W^(exponent·j) over the bits j of each byte. */
function byteSums(exponent: number, n: number): Complex[] {
  let sums: Complex[] = [[0, 0]];
  for (let j = 0; j < 8; j++) {
    const [cos, sin] = rotation(exponent * j, n);
    const cleared = sums.map(([re, im]): Complex => [re - cos, im - sin]);
    sums = [...cleared, ...sums.map(([re, im]): Complex => [re + cos, im + sin])];
  }
  return sums;
}

function product([a, b]: Complex, [c, d]: Complex): Complex {
  return [a * c - b * d, a * d + b * c];
}

function writePairFactors(module: KernelModule, n: number): void {
  const writer = new VectorWriter(module.f32('PAIR_FACTORS', 4 * 2 * LANES), n);
  for (let c = 0; c < 4; c++) {
    writer.rotations(JOBS[2 * c].map((residue) => (residue * n) / CLASSES));
  }
}

function writeApartFactors(module: KernelModule, { n, radix }: DftPlan): void {
  const writer = new VectorWriter(module.f32('APART_FACTORS', 2 * 5 * 2 * LANES), n);
  const child = n / CLASSES / radix;
  for (const residues of JOBS.slice(FIRST_JOB_OF_CLASS_16)) {
    for (let q = 0; q < 5; q++) writer.rotations(residues.map((r) => r * child * q));
  }
}

function writeLaneFactors(module: KernelModule, plan: DftPlan): void {
  const size = module.exports.LANE_FACTORS_SIZE.value;
  for (const [job, residues] of JOBS.entries()) {
    const to = module.f32('LANE_FACTORS', size / 4, job * size);
    const writer = new VectorWriter(to, plan.n);
    forEachNode(plan, plan.sharedFrom, (m, node) => {
      for (let j = 1; j < plan.radix; j++) {
        writer.rotations(residues.map((r) => ((node + r) * j * m) / plan.radix));
      }
    });
  }
}

function writeTwists(module: KernelModule, { n, sharedFrom }: DftPlan): void {
  const size = module.exports.TWISTS_SIZE.value;
  for (const [job, residues] of JOBS.entries()) {
    const writer = new VectorWriter(module.f32('TWISTS', size / 4, job * size), n);
    for (let i = 0; i < sharedFrom; i++) writer.rotations(residues.map((r) => r * i));
  }
}

function writeNodeFactors(module: KernelModule, plan: DftPlan): void {
  const { n, radix, sharedFrom } = plan;
  const tables = (['NODE_FACTORS_3', 'NODE_FACTORS_2', 'NODE_FACTORS_1'] as const).map(
    (name, level) => {
      const nodes = (n / CLASSES / sharedFrom) * radix ** level;
      return new VectorWriter(module.f32(name, nodes * (radix - 1) * 2), n);
    },
  );
  forEachNode(plan, 1, (m, node) => {
    if (m > sharedFrom) return;
    const level = Math.round(log(sharedFrom / m) / log(radix));
    for (let j = 1; j < radix; j++) tables[level].rotations([(node * j * m) / radix]);
  });
}

/**
 * Visits the nodes of a job with more than `above` coefficients, level by level in memory order, with size and residue
 * relative to the job's. It makes no level that it does not visit: the last has 16,384 nodes.
 */
function forEachNode(
  { n, radix, order }: DftPlan,
  above: number,
  visit: (m: number, node: number) => void,
): void {
  let level = [0];
  for (let m = n / CLASSES; ; ) {
    for (const node of level) visit(m, node);
    const step = n / m;
    m /= radix;
    if (m <= above) return;
    level = level.flatMap((node) => order.map((q) => node + step * q));
  }
}
