/** Whether this replica can serve keys, and what it lacks if it cannot. */
import type { SourceName, SourceStatus } from '../entropy/index.ts';
import type { GeneratorStatus } from './generator.ts';
import type { LedgerStatus } from './ledger-watch.ts';

export interface Readiness {
  /** All of the following. */
  readonly ready: boolean;
  /** Keys can be made: the sources that are needed deliver, and no generator is latched. */
  readonly entropy: boolean;
  /** The key worker's generator, for plain keys, is in service. */
  readonly generator: boolean;
  /** So are those of all suite workers, for validated keys. */
  readonly suiteWorkers: boolean;
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
  readonly keyWorker: GeneratorStatus;
  readonly suiteWorkers: readonly GeneratorStatus[];
  readonly ledger: LedgerStatus;
}

export function judgeReadiness(known: Knowledge): Readiness {
  const { sources, needed } = known;
  const generator = known.keyWorker.latched === null;
  const suiteWorkers = known.suiteWorkers.every(({ latched }) => latched === null);
  const entropy =
    generator &&
    suiteWorkers &&
    needed.every((name) => sources.some((source) => source.name === name && source.healthy));
  const ledger = known.ledger.failure === null;
  const secret = known.ledger.lackedVersions.length === 0;
  const ready = entropy && ledger && secret;
  return { ready, entropy, generator, suiteWorkers, ledger, secret, sources };
}
