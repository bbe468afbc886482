/** Decides which database failures may pass, so that startup waits for their end. */
import { AppError, SetupError } from '../errors.ts';
import { UnconfirmedError } from './postgres/confirmation.ts';
import { DisturbedError } from './postgres/disturbances.ts';

/**
 * The server or its name cannot be reached yet. A missing socket file means that the server does not run.
 */
const NO_WAY = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * SQLSTATEs: connection exceptions (08), too few connections, memory or disk (53), a lock or object in use
 * (55), a server that starts, shuts down or cancels (57), a conflict (40), and a read-only server, such as
 * a standby.
 */
const PASSING_STATE = /^(?:08|40|53|55|57)...$|^25006$/;

/** The driver's words for a connection that broke or took too long. */
const BROKEN = /timeout|terminated|not queryable/i;

/** SQLite's BUSY and LOCKED: another process holds the lock. */
const LOCKED = [5, 6];

/**
 * Returns true if the failure may pass without a change to this server's setup: the database does not
 * answer, is starting or locked, or its standbys are away. A refused password, a missing database or a
 * missing privilege does not pass.
 */
export function mayPass(error: unknown): boolean {
  if (error instanceof SetupError) return error.mayPass;
  if (!(error instanceof Error) || error instanceof DisturbedError) return false;
  if (error instanceof AppError) return error.code === 'ledger_unavailable' && mayPass(error.cause);
  if (isLocked(error) || error instanceof UnconfirmedError) return true;
  const { code, cause } = error as { code?: string; cause?: unknown };
  if (code !== undefined) return NO_WAY.has(code) || PASSING_STATE.test(code);
  return cause === undefined ? BROKEN.test(error.message) : mayPass(cause);
}

/** Returns true if another process holds the lock of the SQLite database. */
export function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  // The low byte is the code; the others refine it.
  return errcode !== undefined && LOCKED.includes(errcode & 0xff);
}
