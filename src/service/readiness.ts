/** Whether this replica can serve keys, and what it lacks if it cannot. */
import type { SourceName, SourceStatus } from '../entropy/index.ts';
import type { Defect } from '../keys/latch.ts';
import { isCurrentRetired, type LedgerStatus } from './ledger-watch.ts';

export interface Readiness {
  /** All of the following. */
  readonly ready: boolean;
  /** Keys can be made: the sources that are needed deliver, and the generators are in service. */
  readonly entropy: boolean;
  readonly generator: GeneratorWord;
  /** Why all generators have ended; null while they are in service. */
  readonly latched: Defect | null;
  /** They can be recorded. */
  readonly ledger: boolean;
  readonly secret: SecretWord;
  readonly sources: readonly SourceStatus[];
}

/**
 * `incomplete`: another server makes keys under a version of the master secret that this one lacks. `retired`: the
 * version that this server would make keys under is retired, so it makes none.
 */
export type SecretWord = 'ok' | 'incomplete' | 'retired';

/**
 * `unjudged`: the suite does not answer for a sample of the generator of plain keys. `starting`: there is no generator
 * yet, because the start waits for the database.
 */
export type GeneratorWord = 'ok' | 'latched' | 'unjudged' | 'starting';

/** While the start waits for the database. */
export const STARTING: Readiness = {
  ready: false,
  entropy: false,
  generator: 'starting',
  latched: null,
  ledger: false,
  secret: 'ok',
  sources: [],
};

/** What is known at the moment. */
interface Knowledge {
  readonly sources: readonly SourceStatus[];
  /** Sources without which no key is made; others cost their own requests only. */
  readonly needed: readonly SourceName[];
  readonly latched: Defect | null;
  /** A sample of the generator of plain keys has been out for too long. */
  readonly isSuiteLate: boolean;
  readonly ledger: LedgerStatus;
}

export function judgeReadiness(known: Knowledge): Readiness {
  const { sources, needed, latched } = known;
  const generator = latched ? 'latched' : known.isSuiteLate ? 'unjudged' : 'ok';
  const entropy =
    generator === 'ok' &&
    needed.every((name) => sources.some((source) => source.name === name && source.healthy));
  const ledger = known.ledger.failure === null;
  const secret = judgeSecret(known.ledger);
  const ready = entropy && ledger && secret === 'ok';
  return { ready, entropy, generator, latched, ledger, secret, sources };
}

function judgeSecret(ledger: LedgerStatus): SecretWord {
  if (isCurrentRetired(ledger)) return 'retired';
  return ledger.lackedVersions.length === 0 ? 'ok' : 'incomplete';
}
