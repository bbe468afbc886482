/** Whether this replica can serve keys, and what it lacks if it cannot. */
import type { SourceName, SourceStatus } from '../entropy/index.ts';
import type { Defect } from './latch.ts';
import type { LedgerStatus } from './ledger-watch.ts';

export interface Readiness {
  /** All of the following. */
  readonly ready: boolean;
  /** Keys can be made: the sources that are needed deliver, and the process is not latched. */
  readonly entropy: boolean;
  /** Why all generators have ended; null while they are in service. */
  readonly latched: Defect | null;
  /** They can be recorded. */
  readonly ledger: boolean;
  /** No other server makes keys under a version of the master secret that this one lacks. */
  readonly secret: boolean;
  readonly sources: readonly SourceStatus[];
}

/** What is known at the moment. */
interface Knowledge {
  readonly sources: readonly SourceStatus[];
  /** Sources without which no key is made; others cost their own requests only. */
  readonly needed: readonly SourceName[];
  readonly latched: Defect | null;
  readonly ledger: LedgerStatus;
}

export function judgeReadiness(known: Knowledge): Readiness {
  const { sources, needed, latched } = known;
  const entropy =
    latched === null &&
    needed.every((name) => sources.some((source) => source.name === name && source.healthy));
  const ledger = known.ledger.failure === null;
  const secret = known.ledger.lackedVersions.length === 0;
  const ready = entropy && ledger && secret;
  return { ready, entropy, latched, ledger, secret, sources };
}
