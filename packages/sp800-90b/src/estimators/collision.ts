/** The collision estimate: SP 800-90B §6.3.2, for binary input only. */
import {
  type Estimate,
  minEntropyOf,
  type NotApplicable,
  notApplicable,
  Z_99,
} from './_estimate.ts';

interface CollisionEstimate extends Estimate {
  /** Number of collisions. */
  readonly v: number;
  /** Sum of the waiting times t_i. */
  readonly sumT: number;
  readonly mean: number;
  readonly sigmaHat: number;
  readonly meanLower: number;
  readonly p: number;
}

export function collisionEstimate(bits: Uint8Array): CollisionEstimate | NotApplicable {
  const { v, sumT, sumSquares } = waitForCollisions(bits);
  if (v < 2) return notApplicable('needs at least 2 collisions');
  // Step 5.
  const mean = sumT / v;
  const sigmaHat = Math.sqrt((sumSquares - sumT * mean) / (v - 1));
  // Step 6. As in NIST's program, the bound is at least 2, because no waiting time is shorter.
  const meanLower = Math.max(2, mean - (Z_99 * sigmaHat) / Math.sqrt(v));
  // Steps 7 to 9. Two bits collide with probability p² + q², otherwise the third one collides. So
  // the mean is 2 + 2pq, and the equation of step 7 is quadratic. Above 5/2 it has no solution: p =
  // 1/2.
  const p = meanLower < 2.5 ? 0.5 + Math.sqrt(1.25 - 0.5 * meanLower) : 0.5;
  return { applicable: true, v, sumT, mean, sigmaHat, meanLower, p, minEntropy: minEntropyOf(p) };
}

/** Steps 1 to 4: cuts the sequence where a value occurs for the second time since the last cut. */
function waitForCollisions(bits: Uint8Array) {
  let v = 0;
  let sumT = 0;
  let sumSquares = 0;
  for (;;) {
    const wait = bits[sumT] === bits[sumT + 1] ? 2 : 3;
    // A collision beyond the end does not count.
    if (sumT + wait > bits.length) return { v, sumT, sumSquares };
    v++;
    sumT += wait;
    sumSquares += wait * wait;
  }
}
