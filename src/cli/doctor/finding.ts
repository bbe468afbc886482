/** What a check of `phm doctor` finds, and its time limit. */
import { SetupError } from '../../errors.ts';

export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly status: Status;
  /** What was found. */
  readonly detail: string;
  /** What an operator does about it; null if there is nothing to do. */
  readonly do: string | null;
}

/** A check that cannot run, because of another one or of the configuration. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail, do: null });

export const warning = (detail: string, remedy: string | null = null): Finding => ({
  status: 'warning',
  detail,
  do: remedy,
});

/** For a part of a check that could not be done. */
export const skipped = (detail: string, remedy: string | null = null): Finding => ({
  status: 'skipped',
  detail,
  do: remedy,
});

/** Without a remedy, the detail holds it. */
export const failed = (detail: string, remedy: string | null = null): Finding => ({
  status: 'failed',
  detail,
  do: remedy,
});

/**
 * Runs `work`, and rejects with `SetupError` if it takes longer than the limit. `signal` then aborts. `subject` names
 * what is examined.
 */
export async function within<T>(
  limitMs: number,
  subject: string,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new SetupError(`${subject}: no answer within ${limitMs / 1000} s`));
      abort.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([work(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
