/** The error of requests for keys while the log lets no key leave the server. */
import { AppError } from '../../errors.ts';
import type { Halt } from './stopped.ts';

/** Seconds after which a client should retry: another server may answer. */
const RETRY_SECONDS = 30;

const FOUND: Readonly<Record<Halt, string>> = {
  forked: 'the transparency log of this server has forked',
  altered: 'the rows of the transparency log were changed in the database',
};

/** Throws `ledger_unavailable` while the log lets no key leave. */
export function requireNoHalt(halt: Halt | null): void {
  if (halt === null) return;
  throw new AppError('ledger_unavailable', {
    detail: `No key was released: ${FOUND[halt]}.`,
    remedy: 'The operator must find the cause. Try again in {wait}: another server may answer.',
    reason: FOUND[halt],
    retryAfterSeconds: RETRY_SECONDS,
  });
}
