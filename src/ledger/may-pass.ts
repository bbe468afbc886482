/** Decides which database failures may pass, so that startup waits for their end, and which last. */
import { AppError, SetupError } from '../errors.ts';
import { UnconfirmedError } from './postgres/confirmation.ts';
import { DisturbedError, DroppedError } from './postgres/disturbed-error.ts';

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
const PASSING_STATE = /^(?:08|40|53|55(?!000|P02|P04)|57(?!P04))...$|^25006$/;

/**
 * SQLSTATEs of failures that may be over with the next attempt, although a start does not wait for their end: rows that another
 * session wrote or removed at the same moment (23503, 23505), a broken transaction (25P), what the ledger's functions
 * raise (P0), and unnamed internal errors, such as a table that was altered meanwhile (XX000).
 */
const MOMENTARY_STATE = /^(?:23503|23505|25P0.|P0...|XX000)$/;

/** SQLite's ERROR, PERM, READONLY, CORRUPT, AUTH and NOTADB. */
const LASTING_SQLITE = [1, 3, 8, 11, 23, 26];

const SQLSTATE = /^[0-9A-Z]{5}$/;

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

/**
 * Returns true if the failure lasts until an operator changes something at the database: a missing privilege, a table that is
 * gone, a setting, damage. So nobody is told to try again in a moment.
 */
export function lasts(error: unknown): boolean {
  if (error instanceof DisturbedError || error instanceof DroppedError) return true;
  if (!(error instanceof Error) || error instanceof UnconfirmedError) return false;
  if (error instanceof SetupError) return !error.mayPass;
  const { code, errcode, cause } = error as { code?: string; errcode?: number; cause?: unknown };
  if (errcode !== undefined) return LASTING_SQLITE.includes(errcode & 0xff);
  if (code === undefined) return cause !== undefined && lasts(cause);
  return SQLSTATE.test(code) && !MOMENTARY_STATE.test(code) && !mayPass(error);
}

/** Returns true if another process holds the lock of the SQLite database. */
export function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  // The low byte is the code; the others refine it.
  return errcode !== undefined && LOCKED.includes(errcode & 0xff);
}
