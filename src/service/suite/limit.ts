/** Time limit for answers of the suite, the error of a request that waited that long, and what readiness knows of both. */
import { AppError } from '../../errors.ts';

/** A verdict takes milliseconds. After this time the suite counts as not answering. */
export const SUITE_LIMIT_MS = 10_000;

/**
 * Time limit of a batch. Waiting batches hold at most nine tenths of `SUITE_LIMIT_MS` of work for each worker, and single
 * keys take up to every other turn, so that a batch takes 18 seconds at most.
 */
export const BATCH_LIMIT_MS: number = 2 * SUITE_LIMIT_MS;

/** Seconds after which a client should retry then. */
const RETRY_AFTER_SECONDS = 5;

/** Knows whether anything waits too long for the suite, and reports when that changes. */
export class SuiteLateness {
  /** Who waits: workers with a job, and the watch of a sample. */
  readonly #late = new Set<object>();
  readonly #onChange: (isLate: boolean) => void;

  constructor(onChange: (isLate: boolean) => void) {
    this.#onChange = onChange;
  }

  get isLate(): boolean {
    return this.#late.size > 0;
  }

  /** Notes that what `waiting` waits for is late, or has come. */
  note(waiting: object, isLate: boolean): void {
    const before = this.isLate;
    if (isLate) this.#late.add(waiting);
    else this.#late.delete(waiting);
    if (this.isLate !== before) this.#onChange(this.isLate);
  }
}

/** Returns the refusal of a batch that is not done in time, because keys took longer than before. */
export function batchLateError(): AppError {
  const reason = 'a batch was not done in time';
  return new AppError('overloaded', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Returns the refusal of a request that waited too long. */
export function suiteLateError(): AppError {
  const reason = 'the suite does not answer';
  return new AppError('entropy_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
