/** Converts a failure of either database to what clients see. */
import { AppError } from '../errors.ts';
import { lasts } from './may-pass.ts';

/** Seconds that a client should wait when the database cannot do its part. */
const RETRY_AFTER_SECONDS = 5;

/** Seconds to wait for an operator. */
const LASTING_RETRY_SECONDS = 60;

const LASTING_REMEDY =
  'The database refuses this until the operator changes something there, so nothing was released or changed. Tell the ' +
  'operator: to try again does not help before that.';

/** Returns `ledger_unavailable` for any error of a database. An `AppError` is returned unchanged. */
export function unavailable(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError(
    'ledger_unavailable',
    lasts(cause)
      ? { cause, remedy: LASTING_REMEDY, retryAfterSeconds: LASTING_RETRY_SECONDS }
      : { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
