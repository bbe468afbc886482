/** Decides whether a session leads to the server that the address asks for. */
import {
  describeHost,
  type PostgresHost,
  type SessionTarget,
} from '../../config/postgres-address.ts';
import { mayPass } from '../may-pass.ts';

/**
 * Asks a session what `target_session_attrs` asks in libpq, and for the timeline that the server writes: each
 * promotion begins a higher one, which a primary that was replaced never reaches.
 */
export const SESSION_CHECK = `SELECT pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END AS timeline`;

/** The row of `SESSION_CHECK`. */
export interface Session {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /** Null on a standby. */
  readonly timeline: number | null;
}

/** What a host answered. */
export type HostState =
  /** `timeline` is 0 if any server fits. */
  | { readonly kind: 'fits'; readonly timeline: number }
  /** A server that the ledger must not use. */
  | { readonly kind: 'unfit'; readonly error: Error }
  /** No answer, or a refused connection. */
  | { readonly kind: 'silent'; readonly error: Error };

/** The server works, but is not one that the ledger can use. It may be promoted yet. */
export class UnfitServerError extends Error {
  override readonly name = 'UnfitServerError';
  /** SQLSTATE of a read-only server. */
  readonly code = '25006';
}

/** No host of the address can be used. */
export class NoHostError extends Error {
  override readonly name = 'NoHostError';

  /** `states` are in the order of `hosts`. */
  constructor(hosts: readonly PostgresHost[], states: readonly HostState[]) {
    const errors = states.map((state) => (state.kind === 'fits' ? null : state.error));
    const reasons = errors.map(
      (error, i) => `${describeHost(hosts[i] as PostgresHost)}: ${reasonOf(error)}`,
    );
    // Startup waits as long as one of them may pass.
    super(`no host can be used (${reasons.join('; ')})`, {
      cause: errors.find((error) => mayPass(error)) ?? errors[0],
    });
  }
}

/** The driver reports a name with several addresses by a code alone. */
function reasonOf(error: Error | null): string {
  return error === null
    ? 'usable'
    : error.message || ((error as NodeJS.ErrnoException).code ?? error.name);
}

/**
 * Judges a session. `newest` is the highest timeline seen so far: a server that writes an earlier one is a primary that
 * was replaced, and what it records is lost.
 */
export function judgeSession(session: Session, target: SessionTarget, newest: number): HostState {
  const { isStandby, isReadOnly, timeline } = session;
  if (target === 'any') return { kind: 'fits', timeline: 0 };
  if (isStandby || timeline === null) return unfit('it is a standby');
  if (isReadOnly && target === 'read-write') return unfit('it is read-only');
  if (timeline < newest) {
    return unfit(
      `it writes timeline ${timeline}, and timeline ${newest} was seen: it was replaced by a promotion; ` +
        'restart this server if it is to be used again',
    );
  }
  return { kind: 'fits', timeline };
}

function unfit(reason: string): HostState {
  return { kind: 'unfit', error: new UnfitServerError(reason) };
}
