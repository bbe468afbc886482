/** Why the publisher publishes no head, and what the operator does then. */
import type { ClosedCheckpoint } from './closed-logs.ts';
import type { Head } from './heads.ts';

/** The log by its name and its state file. */
interface Named {
  readonly origin: string;
  readonly state: { readonly path: string };
}

/** The database has fewer entries than were published. */
export function shrunkMessage({ origin }: Named, base: Head, stored: Head): string {
  return (
    `the log ${origin} has ${stored.size} entries in the database, but ${base.size} were published: ` +
    `${base.size - stored.size} are missing, because the database was restored, or lost writes in a failover. Run, with ` +
    `a copy that has all ${base.size}: phm log recover --from COPY. After a failover, "phm log copy" makes it from the ` +
    'old primary: docs/guides/failover.md#after'
  );
}

/** The database has other entries than were published. */
export function forkMessage({ origin }: Named, base: Head, stored: Head): string {
  return (
    `the tree of ${stored.size} entries in the database does not continue the published tree of ${base.size} entries ` +
    `of the log ${origin}: entries were changed, or other entries followed a restore. Restore the ` +
    'database. To see which entries differ, run: phm log check'
  );
}

/** The database was restored or promoted, and nothing says how much was published. */
export function movedMessage({ origin, state }: Named, { size }: Head): string {
  return (
    `the database of the log ${origin} was restored or promoted: nothing shows that its ${size} entries are all that ` +
    `were published. Copy the newest state file of all servers (the largest size, in its second line) to ${state.path}. ` +
    'Then run, if you have no copy of the log for --from: phm log recover --accept'
  );
}

/** The state file shows a closed log that the database does not confirm. */
export function unconfirmedMessage(
  { origin: open, state }: Named,
  { kind, origin, size, end }: ClosedCheckpoint,
): string {
  const { path } = state;
  const accept = `on this server, which keeps the file as ${path}.closed: phm log recover --accept`;
  if (kind === 'ahead') {
    return (
      `the state file ${path} shows ${size} entries of the closed log ${origin}, but the log ${open} was ` +
      `started behind its first ${end}: more entries were lost than the rotation recorded. Note the loss, then run ${accept}`
    );
  }
  return (
    `the state file ${path} shows other entries of the closed log ${origin} than the database or the rotation: entries ` +
    `were changed, or the log forked. Find out why (phm log check), then run ${accept}`
  );
}

/** Another server has closed the log. */
export function closedMessage({ origin }: Named): string {
  return (
    `the log ${origin} is closed, because another log was started on this database: install its keys and ` +
    'restart this server'
  );
}
