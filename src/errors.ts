/**
 * The errors of the program: those that a caller sees, by a code of the table, and those of the setup. Code inside the
 * process that breaks a contract gets a `TypeError` or `RangeError` instead.
 */
import { ERRORS, type ErrorCode } from './error-table.ts';

export { ERRORS, type ErrorCode } from './error-table.ts';

/** One invalid field of a request: `#/<field>` or `?<parameter>`, and what it must be. */
export interface FieldError {
  pointer: string;
  message: string;
}

/** Members of some problems, for programs. */
interface ProblemMembers {
  /** The key that the first request generated (`key_already_made`). */
  key_id?: string;
  /** The keys that the first request, a batch, generated (`key_already_made`). */
  key_ids?: string[];
  /** Largest `count` that the service accepts for such a batch (`batch_too_large`), or that the quota leaves (`quota_exceeded`). */
  max_count?: number;
  /** The states of the copies that a request names (`delivery_gone`, `delivery_not_found`). */
  deliveries?: {
    delivery_id: string;
    state: 'waiting' | 'received' | 'removed' | 'expired' | 'revoked' | 'unknown';
  }[];
}

/** Details of one error beyond its table row. `detail` is public and MUST NOT hold caller secrets. */
export interface ErrorDetails {
  detail?: string;
  /** What the caller should do, instead of the table's remedy. */
  remedy?: string;
  fields?: FieldError[];
  /** Internal cause, for the log. It MUST NOT hold key bytes or request contents. */
  reason?: string;
  retryAfterSeconds?: number;
  /** True if the caller asks for too much of a queue: no failure of the service. */
  ownShare?: boolean;
  allow?: string[];
  /** Members of the problem beyond those of every problem (RFC 9457 §3.2). */
  members?: ProblemMembers;
  cause?: unknown;
}

/** A known failure that the program handles. `message` is the public detail or title; `cause` stays inside the process. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.detail ?? ERRORS[code].title, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * A wrong setup that an operator can correct, such as a missing file, a wrong master secret or a newer
 * database. The message names the problem and the remedy. It is printed, never sent to a client.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  /**
   * True if the failure may pass without a restart, for example while a database starts. A server's startup
   * waits for that.
   */
  readonly mayPass: boolean;
  /** What the startup waits for meanwhile. */
  readonly awaits: StartAwaits;

  /** The message, in which a line end was quoted from elsewhere, and the other way out if there is one. */
  readonly lines: readonly string[];

  constructor(
    message: string,
    { cause, mayPass = false, awaits = 'the database', otherwise }: SetupErrorOptions = {},
  ) {
    const lines = otherwise === undefined ? [message] : [message, otherwise];
    super(lines.join('\n'), cause === undefined ? {} : { cause });
    this.lines = lines;
    this.mayPass = mayPass;
    this.awaits = awaits;
  }
}

/** What a startup can wait for. */
export type StartAwaits = 'the database' | 'the master secret';

interface SetupErrorOptions {
  readonly cause?: unknown;
  readonly mayPass?: boolean;
  readonly awaits?: StartAwaits;
  /** Another way out than the message names, in a sentence. */
  readonly otherwise?: string;
}

/** Returns the reason of a known failure, for the log. */
export function reasonOf(error: unknown): string {
  return (error instanceof AppError && error.details.reason) || 'unknown';
}
