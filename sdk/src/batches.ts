/** Splits a request for many keys into batches. */
import { PhmApiError } from './errors.ts';
import { deliveryIdsOf } from './options.ts';

/** Most keys of one batch. */
const MAX_BATCH = 1_000;

const DEFAULT_CHUNK = 100;

/** How to split a request. */
interface Split {
  /** Number of keys in all. */
  readonly count: number;
  /** Largest `count` of one batch. */
  readonly chunk: number;
  /** True if the request is one batch, because its `Idempotency-Key` belongs to one. */
  readonly isOne: boolean;
}

/** Throws `TypeError` or `RangeError` for a request that cannot be split so. */
export function readSplit(count: unknown, chunk: unknown = DEFAULT_CHUNK, isOne = false): Split {
  assertWhole('count', count, Number.MAX_SAFE_INTEGER);
  assertWhole('chunk', chunk, MAX_BATCH);
  if (!isOne || count <= chunk) return { count, chunk, isOne };
  throw new TypeError(
    `idempotencyKey belongs to one batch, and ${count} keys are more than one batch of ${chunk}: set chunk, or leave it out`,
  );
}

function assertWhole(name: string, value: unknown, max: number): asserts value is number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return;
  const got = typeof value === 'number' ? value : typeof value;
  throw new RangeError(`${name} must be a whole number from 1 to ${max}, got ${got}`);
}

/**
 * Yields the keys of batches, which `send` generates one after another. If the service refuses a batch as too large, the
 * next ones have the size that it names. `from` is the number of keys before the batch.
 */
export async function* keysOf<Key>(
  { count, chunk, isOne }: Split,
  send: (count: number, from: number) => Promise<{ readonly keys: readonly Key[] }>,
): AsyncGenerator<Key, void, undefined> {
  let largest = chunk;
  for (let left = count; left > 0; ) {
    const size = Math.min(left, largest);
    const sent = await send(size, count - left).catch((error) => {
      const fits = isOne ? undefined : smallerSize(error, size);
      if (fits === undefined) throw error;
      largest = fits;
      return undefined;
    });
    if (sent === undefined) continue;
    left -= size;
    yield* sent.keys;
  }
}

/** Throws `RangeError` unless a request for deliveries has an ID for each key: the service sees one batch at a time. */
export function assertIdEach(body: { readonly count: number }): void {
  const ids = deliveryIdsOf(body);
  if (ids === undefined || ids.length === body.count) return;
  throw new RangeError(
    `deliver.ids must have ${body.count} IDs, one for each key, got ${ids.length}`,
  );
}

/** Returns the request for `count` keys of a request for many. Each key has an ID of its own if the service keeps it. */
export function partOf<Body extends object>(body: Body, from: number, count: number): Body {
  const ids = deliveryIdsOf(body);
  if (ids === undefined) return { ...body, count };
  const { deliver } = body as { deliver?: object };
  return { ...body, count, deliver: { ...deliver, ids: ids.slice(from, from + count) } };
}

function smallerSize(error: unknown, size: number): number | undefined {
  if (!(error instanceof PhmApiError) || error.code !== 'batch_too_large') return undefined;
  const { maxCount } = error;
  return maxCount !== null && maxCount >= 1 && maxCount < size ? maxCount : undefined;
}
