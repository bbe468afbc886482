/** Times several functions in alternation, so that noise of the machine affects all of them. */
import { median } from '../../../bench/results.ts';

const ROUND_RUNS = 10;
const WARM_UP_ROUNDS = 4;

function timeUs(work: () => void): number {
  const begin = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - begin) / 1000;
}

/**
 * Returns the median time of each function in µs. They alternate in rounds of `ROUND_RUNS` runs. The first run of a
 * round does not count, because the caches are full of the other functions. `before` runs before each run, untimed.
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
