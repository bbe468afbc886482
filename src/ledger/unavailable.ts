/** A failure of either database, as clients see it. */
import { AppError } from '../errors.ts';

/** Seconds a client should wait when the database cannot do its part. */
const RETRY_AFTER_SECONDS = 5;

/** `ledger_unavailable` for whatever a database throws; an `AppError` stays itself. */
export function unavailable(cause: unknown): AppError {
  return cause instanceof AppError
    ? cause
    : new AppError('ledger_unavailable', { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
