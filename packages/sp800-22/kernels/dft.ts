/**
 * Discrete Fourier transform (spectral) test: N_1, the number of peaks below T. SP 800-22 Rev. 1a
 * §2.6.4 steps 1 to 3 and 6, for n = 2^20 = 64·4^7 and n = 10^6 = 64·5^6.
 *
 * With W = e^(−2πi/n) and P(x) = Σ X_i x^i, X_i = ±1, bin k is S_k = P(W^k): the remainder of P
 * modulo x − W^k. The transform walks down a tree of remainders. A node is x^m − c; its remainder
 * has m coefficients; with γ^R = c its children are x^(m/R) − γω^q, ω = e^(−2πi/R), q < R, and
 * theirs are
 *
 *     b_i = Σ_j (γω^q)^j a_(i + jm/R):
 *
 * one butterfly for each i, with factors γ^j that are the same for all i. The roots of x^m − W^(rm)
 * are the W^k with k ≡ r (mod n/m): a residue class of bins. Leaves have m = 1.
 *
 * Entry. The 64 classes r modulo 64 have m = n/64 and the remainders Σ_j W^(rjn/64) x_(i+jn/64). The
 * sequence is real, so S_(n−k) is the conjugate of S_k, and the classes 0 … 16 and 32 … 47 have all bins.
 * The sums are over rows of tables, one for each byte of bits n/16 apart (dft-entry.ts). The lanes of a
 * vector hold four classes: c + 4·lane, c = 0 … 3, in one job, and the same plus 32 in another. The
 * remaining class 16 is split once more to fill the lanes.
 *
 * Levels. All lanes of a job do the same with their own factors γ = W^(em/R), because their residues e
 * differ. That takes tables of vectors, which are long if there are many nodes. So at m = 64 or 125,
 * coefficient i is multiplied by W^(ri) (the twist). This replaces x by W^r·x and removes the lane's r from
 * all factors below, so that one short table serves all lanes of all jobs.
 *
 * End. dft-leaves4.ts and dft-butterfly5.ts count the values of the leaves as they compute them, with the
 * functions of dft-threshold.ts, and do not keep them.
 *
 * Classes 0 and 32 are their own mirror images. There each pair S_k, S_(n−k) is counted twice, and bins 0
 * and n/2 once. The caller removes these two, which are Σ X_i and Σ (−1)^i X_i.
 */
import { sumClass16 } from './dft-entry';
import { countClass16In4, countPair4 } from './dft-radix4';
import { countClass16In5, countPair5 } from './dft-radix5';
import { finishTally, startTally } from './dft-threshold';
import { computeOffsets, transposeBits } from './dft-transpose';
import { INPUT, PEAKS } from './memory';

/**
 * Writes the results to `PEAKS`. `low` and `high` are the ends of the band around T², |S|² from `peak` on are high peaks,
 * `n` is 2^20 or 10^6, and the tables MUST be those of that length.
 */
export function countPeaks(n: i32, low: f32, high: f32, peak: f32): void {
  sumBits(n);
  startTally(low, high, peak);
  const m = <usize>n / 64;
  transposeBits(n);
  computeOffsets(m);
  sumClass16(m);
  if (n == 1 << 20) {
    countClass16In4();
    for (let c: usize = 0; c < 4; c++) countPair4(c);
  } else {
    countClass16In5();
    for (let c: usize = 0; c < 4; c++) countPair5(c);
  }
  finishTally();
}

/** Writes S_0 = Σ X_i and S_(n/2) = Σ (−1)^i X_i. */
function sumBits(n: i32): void {
  let ones = 0;
  let onesAtOdd = 0;
  const end = INPUT + (<usize>n >> 3);
  for (let p = INPUT; p < end; p += 8) {
    const word = load<u64>(p);
    ones += <i32>popcnt(word);
    onesAtOdd += <i32>popcnt(word & 0xaaaaaaaaaaaaaaaa);
  }
  store<i32>(PEAKS, 2 * ones - n, 16);
  store<i32>(PEAKS, 2 * ones - 4 * onesAtOdd, 20);
}
