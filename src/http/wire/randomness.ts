/** Writes the response about the randomness of an account's last validated keys. */
import { setImmediate } from 'node:timers/promises';
import type { Static } from 'typebox';
import { ALPHA, type JudgedRow } from '#sp800-22';
import { formatTimestamp } from '../../clock.ts';
import type { Randomness, RandomnessRow } from '../../service/index.ts';
import type { RandomnessResult } from './activity-schemas.ts';

type RandomnessBody = Static<typeof RandomnessResult>;
type RowBody = RandomnessBody['randomness']['rows'][number];

/**
 * Returns the response as JSON; `rest` holds its members besides `success` and `randomness`. There may be 192,000
 * p-values, so it writes one row at a time and serves other requests in between.
 */
export async function writeRandomness(
  { keys, firstMs, lastMs, rows }: Randomness,
  rest: Omit<RandomnessBody, 'success' | 'randomness'>,
): Promise<Buffer> {
  const head = {
    keys,
    first: firstMs === null ? null : formatTimestamp(firstMs),
    last: lastMs === null ? null : formatTimestamp(lastMs),
    significance_level: ALPHA,
  };
  const pieces = [Buffer.from(`{"success":true,"randomness":${open(head)},"rows":[`)];
  for (const [i, row] of rows.entries()) {
    pieces.push(Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(rowBody(row))}`));
    if (row.pValues) await setImmediate();
  }
  pieces.push(Buffer.from(`]},${JSON.stringify(rest).slice(1)}`));
  return Buffer.concat(pieces);
}

/** Returns an object as JSON without its closing brace, so that members can be added. */
function open(head: object): string {
  return JSON.stringify(head).slice(0, -1);
}

function rowBody(row: RandomnessRow): RowBody {
  const { stream, test, label, sequences, histogram, passes, pValues } = row;
  return {
    stream,
    test,
    label,
    samples: sequences,
    histogram: [...histogram],
    passed: passes,
    ...('judged' in row && row.judged ? verdictBody(row) : NO_VERDICT),
    // JSON writes NaN as null, which means that the test did not apply.
    ...(pValues && { p_values: [...pValues] }),
  };
}

const NO_VERDICT = {
  uniformity_p: null,
  proportion: null,
  proportion_min: null,
  proportion_max: null,
  verdict: null,
};

function verdictBody(row: JudgedRow): Pick<RowBody, keyof typeof NO_VERDICT> {
  return {
    uniformity_p: row.uniformityP,
    proportion: row.proportion,
    proportion_min: row.interval[0],
    proportion_max: row.interval[1],
    verdict: row.passed ? 'pass' : 'fail',
  };
}
