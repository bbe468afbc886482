/** The counting loops of the permutation statistics: SP 800-90B §5.1.1 to §5.1.10. */

/** §5.1.1: the greatest distance of a running sum from the mean. */
export function excursion(samples: Uint8Array, mean: number): number {
  let sum = 0;
  let greatest = 0;
  for (let i = 0; i < samples.length; i++) {
    sum += samples[i];
    const distance = Math.abs(sum - (i + 1) * mean);
    if (distance > greatest) greatest = distance;
  }
  return greatest;
}

/**
 * §5.1.2 to §5.1.4: the runs of steps in one direction, the longest run, and the steps of the more
 * frequent direction. A step to an equal sample is an increase.
 */
export function directionalRuns(samples: Uint8Array): [number, number, number] {
  const steps = samples.length - 1;
  let changes = 0;
  let longest = 0;
  let increases = 0;
  let run = 0;
  let direction = 0;
  for (let i = 0; i < steps; i++) {
    // 1 for a decrease. No branch depends on it, because it is hard to predict.
    const step = (samples[i + 1] - samples[i]) >>> 31;
    const change = step ^ direction;
    increases += step ^ 1;
    changes += change;
    run = (run & (change - 1)) + 1;
    if (run > longest) longest = run;
    direction = step;
  }
  // The first run begins with a change if it decreases.
  const runs = changes + (samples[1] < samples[0] ? 0 : 1);
  return [runs, longest, Math.max(increases, steps - increases)];
}

/** §5.1.5 and §5.1.6: the runs of samples on one side of the median, and the longest run. */
export function medianRuns(samples: Uint8Array, median: number): [number, number] {
  const least = Math.ceil(median);
  let changes = 0;
  let longest = 0;
  let run = 0;
  let side = 0;
  for (let i = 0; i < samples.length; i++) {
    // 1 below the median.
    const here = (samples[i] - least) >>> 31;
    const change = here ^ side;
    changes += change;
    run = (run & (change - 1)) + 1;
    if (run > longest) longest = run;
    side = here;
  }
  return [changes + (samples[0] < least ? 0 : 1), longest];
}

/** §5.1.7 and §5.1.8: the mean and the greatest number of samples up to the first repeated one. */
export function collisions(samples: Uint8Array): [number, number] {
  // The position after the last sample of each value.
  const seen = new Int32Array(256);
  let start = 0;
  let count = 0;
  let longest = 0;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i];
    if (seen[sample] > start) {
      const length = i - start + 1;
      if (length > longest) longest = length;
      count++;
      start = i + 1;
    }
    seen[sample] = i + 1;
  }
  return [start / count, longest];
}

/** §5.1.9: the samples that equal the one `lag` places later. */
export function periodicity(samples: Uint8Array, lag: number): number {
  let equal = 0;
  for (let i = lag; i < samples.length; i++) if (samples[i] === samples[i - lag]) equal++;
  return equal;
}

/** Products that fit a sum of 32 bits: 2^31 / 255^2, rounded down. */
const PRODUCTS = 32_768;

/** §5.1.10: the sum of the products of samples `lag` places apart. */
export function covariance(samples: Uint8Array, lag: number): number {
  let total = 0;
  for (let from = lag; from < samples.length; from += PRODUCTS) {
    const to = Math.min(samples.length, from + PRODUCTS);
    let sum = 0;
    for (let i = from; i < to; i++) sum = (sum + samples[i] * samples[i - lag]) | 0;
    total += sum;
  }
  return total;
}
