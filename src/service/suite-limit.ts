/** Time limit for answers of the suite, and the error of a request that waited that long. */
import { AppError } from '../errors.ts';

/** A verdict takes milliseconds. After this time the suite counts as not answering. */
export const SUITE_LIMIT_MS = 10_000;

/** Seconds after which a client should retry then. */
const RETRY_AFTER_SECONDS = 5;

/** Returns the refusal of a request that waited too long. */
export function suiteLateError(): AppError {
  const reason = 'the suite does not answer';
  return new AppError('entropy_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
