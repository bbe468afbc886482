/**
 * Distinguishes a confirmed commit from one that PostgreSQL carried out but did not replicate.
 *
 * A commit waits for the synchronous standbys, if there are any. If pg_cancel_backend ends that wait, the
 * commit still succeeds and the server only warns.
 */
import type pg from 'pg';

/**
 * Session settings for confirmed commits. A role or database may have other defaults. With a lower level of
 * synchronous commit, a transaction would not survive a crash or a failover; a higher level is kept.
 * Warnings must arrive.
 */
export const CONFIRMED_COMMITS = `
  SELECT set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
  SET client_min_messages = warning;`;

/** Source files of PostgreSQL that warn, at any commit, that transaction IDs run out. */
const OF_IDS_THAT_RUN_OUT = ['varsup.c', 'multixact.c'];

/** The fields of a notice that this module reads. */
interface Notice {
  readonly message?: string | undefined;
  readonly file?: string | undefined;
}

/** The work may have been done, but a failover may lose it. */
export class UnconfirmedError extends Error {
  override readonly name = 'UnconfirmedError';

  constructor(reason: string) {
    super(`this may have been done, but the database did not confirm it: ${reason}`);
  }
}

/**
 * Runs `work`, which ends with a commit on `client`, and resolves with its result. Rejects with
 * `UnconfirmedError` if the server warns in the meantime, whatever the outcome of `work`.
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
 * Returns false for a warning that does not concern this commit. Texts are translated and all warnings
 * share one code, so each unknown warning counts. Exported for its test.
 */
export function isOfCommit({ file }: Pick<Notice, 'file'>): boolean {
  return !OF_IDS_THAT_RUN_OUT.includes(file ?? '');
}
