/**
 * Tells a confirmed commit from one that PostgreSQL has made and not replicated.
 *
 * A commit waits until the synchronous standbys have it, if the cluster has any. When that wait is ended by
 * pg_cancel_backend, the commit succeeds all the same, and the server only warns.
 */
import type pg from 'pg';

/**
 * What a session needs for that. A role or a database may have other defaults: with a lower level of synchronous
 * commit a transaction would not survive a crash or a failover; a higher one is kept. Warnings must arrive.
 */
export const CONFIRMED_COMMITS = `
  SELECT set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
  SET client_min_messages = warning;`;

/** Source files of the server that warn, at any commit, that transaction ids run out. */
const OF_IDS_THAT_RUN_OUT = ['varsup.c', 'multixact.c'];

/** What is read of a message that is no error. */
interface Notice {
  readonly message?: string | undefined;
  readonly file?: string | undefined;
}

/** The work may have been done, and may be lost by a failover. */
export class UnconfirmedError extends Error {
  override readonly name = 'UnconfirmedError';

  constructor(reason: string) {
    super(`this may have been done, but the database did not confirm it: ${reason}`);
  }
}

/**
 * Resolves with what `work`, which ends with a commit on `client`, resolves with. Rejects with
 * `UnconfirmedError`, whatever becomes of `work`, when the server warns meanwhile.
 */
export async function confirmed<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  let warning: string | undefined;
  const listen = (notice: Notice) => {
    if (isOfCommit(notice)) warning ??= notice.message ?? 'a warning';
  };
  client.on('notice', listen);
  const [outcome] = await Promise.allSettled([work()]);
  client.off('notice', listen);
  if (warning !== undefined) throw new UnconfirmedError(warning);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/**
 * False for a warning that says nothing of this commit. Texts are translated and the code is that of all
 * warnings, so each unknown one counts. Exported for its test.
 */
export function isOfCommit({ file }: Pick<Notice, 'file'>): boolean {
  return !OF_IDS_THAT_RUN_OUT.includes(file ?? '');
}
