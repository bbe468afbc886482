/** Converts a failure of either database to what clients see. */
import { AppError } from '../errors.ts';

/** Seconds that a client should wait when the database cannot do its part. */
const RETRY_AFTER_SECONDS = 5;

/** Returns `ledger_unavailable` for any error of a database. An `AppError` is returned unchanged. */
export function unavailable(cause: unknown): AppError {
  return cause instanceof AppError
    ? cause
    : new AppError('ledger_unavailable', { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
