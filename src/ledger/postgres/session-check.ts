/** Decides whether a session leads to the server that the address asks for. */
import {
  describeHost,
  type PostgresHost,
  type SessionTarget,
} from '../../config/postgres-address.ts';
import { mayPass } from '../may-pass.ts';
import type { Lineage, SeenTimeline } from './seen-timeline.ts';

/**
 * Notes the cluster of a session, for `SESSION_CHECK`. A role that may not read its system identifier gets 0.
 */
export const NOTE_CLUSTER = `DO $$ BEGIN
    PERFORM set_config('phm.cluster', system_identifier::text, false) FROM pg_control_system();
  EXCEPTION WHEN insufficient_privilege THEN PERFORM set_config('phm.cluster', '0', false);
  END $$`;

/**
 * Asks a session what `target_session_attrs` asks in libpq, which server it leads to, and which timeline that writes: each
 * promotion begins a higher one, which a primary that was replaced never reaches. `NOTE_CLUSTER` must have run before.
 */
export const SESSION_CHECK = `SELECT pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END AS timeline,
  current_setting('phm.cluster') AS cluster, pg_postmaster_start_time()::text AS "startedAt"`;

/** The row of `SESSION_CHECK`. */
export interface Session {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /** Null on a standby. */
  readonly timeline: number | null;
  /** As in `Lineage`. */
  readonly cluster: string;
  /** The time of the server's start, which tells servers apart: one server may have several names. */
  readonly startedAt: string;
}

/** What a host answered. */
export type HostState =
  /** `timeline` is 0 if any server fits. */
  | ({ readonly kind: 'fits'; readonly startedAt: string } & Lineage)
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
 * Judges a session. A server that writes an earlier timeline than `seen` is a primary that was replaced, and what it
 * records is lost.
 */
export function judgeSession(
  session: Session,
  target: SessionTarget,
  seen: SeenTimeline,
): HostState {
  const { isStandby, isReadOnly, timeline, cluster, startedAt } = session;
  if (target === 'any') return { kind: 'fits', timeline: 0, cluster, startedAt };
  if (isStandby || timeline === null) return unfit('it is a standby');
  if (isReadOnly && target === 'read-write') return unfit('it is read-only');
  return (
    judgeLineage({ cluster, timeline }, seen) ?? { kind: 'fits', timeline, cluster, startedAt }
  );
}

/** Returns null if a server of this history may be used. */
function judgeLineage({ cluster, timeline }: Lineage, seen: SeenTimeline): HostState | null {
  const { newest, used, file } = seen;
  if (newest === null) return null;
  if (cluster !== '0' && newest.cluster !== '0' && cluster !== newest.cluster) {
    // A start on a restored or upgraded database is the operator's decision.
    return (
      used && unfit('it belongs to another cluster than before: restart this server to use it')
    );
  }
  if (timeline >= newest.timeline) return null;
  const remove = file === null ? '' : `remove ${file} and `;
  return unfit(
    `it writes timeline ${timeline}, and timeline ${newest.timeline} was seen: it was replaced by a promotion. Only if it ` +
      `is to be used again, ${remove}restart this server`,
  );
}

/**
 * Refuses servers that write side by side, so that neither is the successor of the other: two standbys were promoted
 * apart, or the hosts belong to different clusters. The server that they replaced is refused with them.
 */
export function refuseRivals(
  hosts: readonly PostgresHost[],
  states: readonly HostState[],
): readonly HostState[] {
  const rivals = states.map((mine) => states.findIndex((other) => areRivals(mine, other)));
  const disputed = Math.max(...rivals.map((i) => timelineOf(states[i])));
  return states.map((mine, i) => {
    const rival = rivals[i] as number;
    if (rival === -1) {
      const isReplaced = mine.kind === 'fits' && mine.timeline < disputed;
      return isReplaced ? unfit('it was replaced by a promotion') : mine;
    }
    return unfit(
      `it writes, and so does ${describeHost(hosts[rival] as PostgresHost)}, and neither replaced the other: stop the ` +
        'one that is not to be used',
    );
  });
}

function timelineOf(state: HostState | undefined): number {
  return state?.kind === 'fits' ? state.timeline : 0;
}

function areRivals(a: HostState, b: HostState): boolean {
  if (a.kind !== 'fits' || b.kind !== 'fits' || a.timeline === 0) return false;
  if (a.cluster !== b.cluster) return true;
  return a.timeline === b.timeline && a.startedAt !== b.startedAt;
}

function unfit(reason: string): HostState {
  return { kind: 'unfit', error: new UnfitServerError(reason) };
}
