/** Times works that take turns, so that a noisy machine is noisy for all of them. */
import { median } from '../../../bench/results.ts';

const ROUND_RUNS = 10;
const WARM_UP_ROUNDS = 4;

function timeUs(work: () => void): number {
  const begin = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - begin) / 1000;
}

/**
 * Medians in µs of each of the works. They take turns in rounds of `ROUND_RUNS`. The first run of a round is not
 * counted, because it finds the caches full of the other work. `before` runs before each, untimed.
 */
export function medians(works: readonly (() => void)[], runs: number, before = () => {}): number[] {
  const times = works.map(() => [] as number[]);
  const rounds = Math.ceil(runs / ROUND_RUNS);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [i, work] of works.entries()) {
      for (let run = -1; run < ROUND_RUNS; run++) {
        before();
        const time = timeUs(work);
        if (round >= 0 && run >= 0) times[i].push(time);
      }
    }
  }
  return times.map(median);
}
