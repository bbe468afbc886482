/** How long the suite may take to answer, and the error of a request that has waited so long. */
import { AppError } from '../errors.ts';

/** A verdict takes milliseconds. After so long the suite does not answer. */
export const SUITE_LIMIT_MS = 10_000;

/** Seconds a client should wait then. */
const RETRY_AFTER_SECONDS = 5;

/** The refusal of a request that cannot wait any longer. */
export function suiteLateError(): AppError {
  const reason = 'the suite does not answer';
  return new AppError('entropy_unavailable', { reason, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
