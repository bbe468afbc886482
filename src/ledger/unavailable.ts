/** Converts a failure of either database to what clients see. */
import { AppError } from '../errors.ts';
import { foreignLedgerIn } from './identity.ts';
import { lasts } from './may-pass.ts';

/** Seconds that a client should wait when the database cannot do its part. */
const RETRY_AFTER_SECONDS = 5;

/** Seconds to wait for an operator. */
const LASTING_RETRY_SECONDS = 60;

const LASTING_REMEDY =
  'The database refuses this until the operator changes something there, so nothing was released or changed. Tell the ' +
  'operator: to try again does not help before that.';

/**
 * Returns `foreign_ledger` if the address leads to another ledger, and `ledger_unavailable` for any other error of a
 * database. An `AppError` is returned unchanged.
 */
export function unavailable(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const foreign = foreignLedgerIn(cause);
  if (foreign !== null) {
    return new AppError('foreign_ledger', {
      cause: foreign,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  return new AppError(
    'ledger_unavailable',
    lasts(cause)
      ? { cause, remedy: LASTING_REMEDY, retryAfterSeconds: LASTING_RETRY_SECONDS }
      : { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
