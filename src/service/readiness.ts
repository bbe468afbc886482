/** Decides whether this replica can serve keys and, if not, what it lacks. */
import type { SourceName, SourceStatus } from '../entropy/index.ts';
import type { Defect } from '../keys/latch.ts';
import { isCurrentRetired, type LedgerStatus } from './ledger/watch.ts';
import type { Halt } from './log/stopped.ts';

export interface Readiness {
  /** True if all following conditions hold. */
  readonly ready: boolean;
  /** Keys can be generated: the required sources deliver, and the generators are in service. */
  readonly entropy: boolean;
  readonly generator: GeneratorWord;
  /** Defect that latched all generators; null while they are in service. */
  readonly latched: Defect | null;
  /** Keys can be recorded. */
  readonly ledger: boolean;
  /** False only if the address of the database leads to another ledger than the one of this server. */
  readonly ownLedger: boolean;
  readonly secret: SecretWord;
  readonly log: LogWord;
  readonly sources: readonly SourceStatus[];
}

/**
 * `incomplete`: another server generates keys under a version of the master secret that this one lacks. `retired`: the
 * current version of this server is retired, so it generates no keys.
 */
type SecretWord = 'ok' | 'incomplete' | 'retired';

/** `forked` and `altered` as `Halt` says; `ok` also for a log that is stopped for another reason, and without a log. */
type LogWord = 'ok' | Halt;

/**
 * `unjudged`: a suite worker is late with a sample of the generator of plain keys, or with a key. `starting`: there is no generator yet,
 * because startup waits for the database.
 */
type GeneratorWord = 'ok' | 'latched' | 'unjudged' | 'starting';

/** Readiness while startup waits for the database. */
export const STARTING: Readiness = {
  ready: false,
  entropy: false,
  generator: 'starting',
  latched: null,
  ledger: false,
  ownLedger: true,
  secret: 'ok',
  log: 'ok',
  sources: [],
};

/** Current knowledge. */
interface Knowledge {
  readonly sources: readonly SourceStatus[];
  /** Required sources. Failures of others affect only the requests that name them. */
  readonly needed: readonly SourceName[];
  readonly latched: Defect | null;
  /** True if a suite worker is late with a sample or a job. */
  readonly isSuiteLate: boolean;
  readonly ledger: LedgerStatus;
  /** Why the log lets no key leave; null if keys may. */
  readonly halt: Halt | null;
}

export function judgeReadiness(known: Knowledge): Readiness {
  const { sources, needed, latched } = known;
  const generator = latched ? 'latched' : known.isSuiteLate ? 'unjudged' : 'ok';
  const entropy =
    generator === 'ok' &&
    needed.every((name) => sources.some((source) => source.name === name && source.healthy));
  const ledger = known.ledger.failure === null;
  const secret = judgeSecret(known.ledger);
  const log = known.halt ?? 'ok';
  const ready = entropy && ledger && secret === 'ok' && log === 'ok';
  const ownLedger = !known.ledger.isForeign;
  return { ready, entropy, generator, latched, ledger, ownLedger, secret, log, sources };
}

function judgeSecret(ledger: LedgerStatus): SecretWord {
  if (isCurrentRetired(ledger)) return 'retired';
  return ledger.lackedVersions.length === 0 ? 'ok' : 'incomplete';
}
