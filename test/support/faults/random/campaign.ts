/**
 * Injects a seeded sequence of faults into a service under constant load. After each fault the service must
 * recover by itself. The campaign then validates every released key and compares the books with the clients'
 * records.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { auditBooks } from '../../ledgers/books.ts';
import { Dice } from './dice.ts';
import { type Fault, RETURN_LIMIT_MS, type Site } from './site.ts';

const BETWEEN_MS = 700;
const VERDICTS_LIMIT_MS = 60_000;

/** The result of one fault. */
export interface FaultRecord {
  readonly number: number;
  readonly fault: string;
  /** The random choices of the fault. */
  readonly chosen: string;
  readonly at: string;
  /** Duration of the fault, including its removal. */
  readonly faultMs: number;
  /** Time from the end of the fault until all servers and the proxy served again; null if the limit passed first. */
  readonly returnMs: number | null;
  /** Total time during which servers reported ready but generated no keys. */
  readonly hiddenMs: number;
  readonly released: number;
  readonly lost: number;
  readonly refused: Record<string, number>;
  /** Counts of 503 answers that are not a problem document or lack Retry-After. */
  readonly broken: Record<string, number>;
  readonly events: readonly string[];
  /** Problems other than lost keys. */
  readonly findings: readonly string[];
}

interface Planned<S extends Site> {
  readonly fault: Fault<S>;
  readonly seed: number;
}

/** A long fault runs in the first round and then in every third round. */
const LONG_EVERY = 3;

/**
 * Draws `count` faults. Each round contains all of them in random order, so that each occurs about equally
 * often. Each fault has its own seed, so that its choices do not depend on earlier faults.
 */
export function plan<S extends Site>(
  faults: readonly Fault<S>[],
  count: number,
  seed: number,
): Planned<S>[] {
  const dice = new Dice(seed);
  const drawn: Planned<S>[] = [];
  for (let round = 0; drawn.length < count && faults.length > 0; round++) {
    const some = faults.filter(({ isLong }) => !isLong || round % LONG_EVERY === 0);
    for (const fault of dice.shuffle(some)) drawn.push({ fault, seed: dice.int(1, 2 ** 31) });
  }
  return drawn.slice(0, count);
}

export class Campaign<S extends Site> {
  readonly records: FaultRecord[] = [];
  /** Number of ledger rows at the end. */
  rows = 0;
  lost = 0;
  released = 0;
  /** Account errors already reported. They persist after rows are lost. */
  readonly #told = new Set<string>();
  readonly #site: S;
  /** Repairs the site after a fault that the service did not recover from. */
  readonly #heal: () => Promise<void>;

  constructor(site: S, heal: () => Promise<void>) {
    this.#site = site;
    this.#heal = heal;
  }

  /** Runs the faults while `goesOn` returns true, and reports each one. */
  async run(
    planned: readonly Planned<S>[],
    goesOn: () => boolean,
    tell: (record: FaultRecord) => void,
  ): Promise<void> {
    for (const one of planned) {
      if (!goesOn()) break;
      const record = await this.#runOne(one);
      this.records.push(record);
      tell(record);
    }
    await this.#site.stopClients();
    const final = await this.#check('the end', '', true);
    if (final.lost > 0 || final.findings.length > 0) {
      this.records.push(final);
      tell(final);
    }
  }

  async #runOne({ fault, seed }: Planned<S>): Promise<FaultRecord> {
    const site = this.#site;
    const dice = new Dice(seed);
    await delay(dice.roll() * BETWEEN_MS);
    const hiddenBefore = this.#hiddenMs();
    const at = new Date().toISOString();
    const began = performance.now();
    let chosen = '';
    try {
      chosen = await fault.run(site, dice);
    } catch (error) {
      site.findings.push(`the fault itself failed: ${(error as Error).message}`);
      await this.#heal();
    }
    const ended = performance.now();
    let returnMs = await site.untilServed(ended);
    if (returnMs === null) {
      const states = site.watches.map(({ ready, latestKeyAsked }) =>
        [ready ? 'ready' : 'not ready', latestKeyAsked > ended ? 'keys' : 'no keys'].join(', '),
      );
      site.findings.push(`no recovery within ${RETURN_LIMIT_MS / 1000} s: ${states.join('; ')}`);
      await this.#restart();
    }
    const faultMs = Math.round(ended - began);
    const hiddenMs = Math.round(this.#hiddenMs() - hiddenBefore);
    returnMs = returnMs && Math.round(returnMs);
    const checked = await this.#check(fault.name, chosen, false);
    return { ...checked, at, faultMs, returnMs, hiddenMs };
  }

  #hiddenMs(): number {
    return this.#site.watches.reduce((sum, watch) => sum + watch.hiddenMs, 0);
  }

  /** Takes the last resort of an operator: restarts everything. */
  async #restart(): Promise<void> {
    const { replicas } = this.#site;
    await this.#heal();
    for (const replica of replicas) replica.signal('SIGKILL');
    if ((await this.#site.untilServed(performance.now())) === null) {
      throw new Error('the service does not recover even after a restart');
    }
  }

  /** Validates the keys, audits the books, and collects everything since the previous check. */
  async #check(fault: string, chosen: string, all: boolean): Promise<FaultRecord> {
    const site = this.#site;
    const { clients } = site;
    await clients.validateReleased(all, VERDICTS_LIMIT_MS);
    const before = this.released;
    const audit = await auditBooks(site.options.query, clients);
    const lost = new Set(audit.missing.map(({ keyId }) => keyId));
    clients.forget(lost);
    this.lost += lost.size;
    this.rows = audit.rows;
    this.released = clients.released.length + this.lost;
    clients.forgetValidations(audit.uncounted);
    const wrong = clients.wrong.splice(0);
    const record = {
      number: this.records.length + 1,
      fault,
      chosen,
      at: new Date().toISOString(),
      faultMs: 0,
      returnMs: 0,
      hiddenMs: 0,
      released: this.released - before,
      lost: lost.size,
      refused: Object.fromEntries(clients.refused),
      broken: Object.fromEntries(clients.broken),
      events: site.events.splice(0),
      findings: [...site.findings.splice(0), ...this.#untold(audit.errors), ...summarize(wrong)],
    };
    clients.refused.clear();
    clients.broken.clear();
    return record;
  }

  #untold(errors: readonly string[]): string[] {
    return errors.filter((error) => {
      const [what = ''] = error.split(':');
      if (!/ of acct_/.test(what)) return true;
      const isNew = !this.#told.has(what);
      this.#told.add(what);
      return isNew;
    });
  }
}

/** Merges equal texts and adds their count. Key IDs do not count as a difference. */
function summarize(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const general = text.replace(/\b[0-9a-f]{32}\b/, '…');
    counts.set(general, (counts.get(general) ?? 0) + 1);
  }
  return [...counts].map(([text, n]) => (n === 1 ? text : `${text} (${n} times)`));
}
