/** Failures that cross threads: known errors keep their code, others say no more than their name and place. */
import { stackFrames } from '#platform/terminal';
import { AppError, type ErrorCode } from '../../errors.ts';

/** An `AppError` as a message. */
export interface Failure {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** What the caller should do, if not what the table of errors says. */
  readonly remedy?: string;
  /** Internal reason, for the log. It MUST NOT hold key bytes or request contents. */
  readonly reason: string;
}

/** Converts an error to a message. Known errors keep their code; others become `internal_error`. */
export function toFailure(error: unknown): Failure {
  const known = error instanceof AppError ? error : undefined;
  return {
    code: known?.code ?? 'internal_error',
    retryAfterSeconds: known?.details.retryAfterSeconds,
    ...(known?.details.remedy && { remedy: known.details.remedy }),
    reason: known ? describeKnown(known) : describeUnknown(error),
  };
}

/** Converts a failure of a worker to an error on the main thread. */
export function toError({ code, reason, retryAfterSeconds, remedy }: Failure): AppError {
  return new AppError(code, {
    reason,
    ...(retryAfterSeconds && { retryAfterSeconds }),
    ...(remedy && { remedy }),
  });
}

/** Seconds after which a client should try another server. On this one an operator must restore a backup. */
const DAMAGED_RETRY_SECONDS = 5;

/** Returns the refusal of requests that need the ledger after a check found it damaged. */
export function damagedLedger(damage: string): AppError {
  return new AppError('ledger_unavailable', {
    cause: new Error(damage),
    retryAfterSeconds: DAMAGED_RETRY_SECONDS,
  });
}

/** Returns the error for an answer of the wrong kind: the state is unknown. */
export function unexpected(result: { readonly kind: string }): Error {
  return new Error(`a worker answered with an unexpected ${result.kind}`);
}

function describeKnown({ code, details, cause }: AppError): string {
  const parts = [details.detail, cause instanceof Error ? cause.message : undefined];
  return parts.filter((part) => part !== undefined).join(': ') || code;
}

/** Names class and place of an unexpected error, never its message, which could hold anything. */
function describeUnknown(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [frame] = stackFrames(error);
  return `${error.name}${frame?.slice(3) ?? ''}`;
}
