/**
 * A ledger in simulated time, judged by the real `LedgerHealth`. Batches and probes wait for each other in the order in
 * which they were sent. Mock `process.hrtime.bigint` to read `nowMs`.
 */
import type { LedgerStore, ProbeOrder } from '../../../src/ledger/index.ts';
import { LedgerHealth, TICK_MS } from '../../../src/service/ledger/health.ts';
import { LedgerProbe } from '../../../src/service/threads/ledger-probe.ts';

const STEP_MS = 50;

/** Returns the outcome of a batch by its age; undefined while it is in progress. */
type Fate = (tookMs: number, nowMs: number) => 'recorded' | 'failed' | undefined;

export interface Batch {
  readonly accounts: readonly string[];
  readonly fate: Fate;
}

interface Work {
  readonly batch: number | null;
  readonly end: (tookMs: number, beganMs: number) => boolean;
  beganMs?: number;
}

export interface World {
  /** The next batch of the clients; null if there is none now. */
  readonly next: (nowMs: number) => Batch | null;
  /** Result and duration of a probe. */
  readonly probe?: (order: ProbeOrder, nowMs: number) => boolean;
  readonly probeMs?: number;
  /** Limit of batches in progress. */
  readonly inFlight?: number;
}

export class LedgerSimulation {
  nowMs = 1_000_000;
  readonly #startMs = this.nowMs;
  readonly #world: World;
  readonly #work: Work[] = [];
  readonly #health = new LedgerHealth();
  readonly #probe: LedgerProbe;
  #batches = 0;
  #shownMs = 0;
  /** Longest time that batches were in progress on a ready server without recording a key. */
  hiddenMs = 0;
  /** Times at which readiness changed, in milliseconds from the start. */
  readonly changes: { atMs: number; ready: boolean }[] = [];

  constructor(world: World) {
    this.#world = world;
    const probe = (order: ProbeOrder) => this.#queueProbe(order);
    this.#probe = new LedgerProbe({ probe } as unknown as LedgerStore);
  }

  get ready(): boolean {
    return this.#health.failure === null;
  }

  async run(untilMs: number): Promise<void> {
    for (; this.#atMs < untilMs; this.nowMs += STEP_MS) {
      await this.#process();
      if (this.#atMs % TICK_MS === 0) this.#tick();
      if (!this.ready || this.#work.every(({ batch }) => batch === null))
        this.#shownMs = this.#atMs;
      this.hiddenMs = Math.max(this.hiddenMs, this.#atMs - this.#shownMs);
      if (this.ready !== (this.changes.at(-1)?.ready ?? true)) {
        this.changes.push({ atMs: this.#atMs, ready: this.ready });
      }
    }
  }

  get #atMs(): number {
    return this.nowMs - this.#startMs;
  }

  #tick(): void {
    const batches = this.#work.flatMap(({ batch }) => batch ?? []);
    if (!this.#health.tick(batches)) return;
    this.#probe.run().then(
      (locked) => this.#health.checked(null, locked),
      (error: Error) => this.#health.checked(error.message),
    );
  }

  async #process(): Promise<void> {
    do {
      this.#send();
      const head = this.#work[0];
      if (!head) break;
      head.beganMs ??= this.#begin(head);
      if (!head.end(this.nowMs - head.beganMs, head.beganMs)) break;
      this.#work.shift();
      await new Promise(setImmediate);
    } while (this.#work[0]?.beganMs === undefined);
  }

  #begin({ batch }: Work): number {
    if (batch !== null) this.#probe.noteBegun();
    return this.nowMs;
  }

  #send(): void {
    const { inFlight = 2 } = this.#world;
    while (this.#work.filter(({ batch }) => batch !== null).length < inFlight) {
      const batch = this.#world.next(this.#atMs);
      if (!batch) return;
      this.#work.push({
        batch: ++this.#batches,
        end: (...times) => this.#endBatch(batch, ...times),
      });
    }
  }

  #endBatch({ accounts, fate }: Batch, tookMs: number, startMs: number): boolean {
    const end = fate(tookMs, this.#atMs);
    if (!end) return false;
    const times = { startMs, endMs: this.nowMs };
    if (end === 'recorded') {
      this.#shownMs = this.#atMs;
      this.#probe.noteCommitted(accounts, 1);
      this.#health.committed({ ...times, failure: null, keys: 1 });
    } else {
      this.#probe.noteFailed(accounts);
      this.#health.committed({ ...times, failure: 'staged', keys: 0 });
    }
    return true;
  }

  #queueProbe(order: ProbeOrder): Promise<boolean> {
    const { probe = () => false, probeMs = STEP_MS } = this.#world;
    return new Promise((resolve, reject) => {
      const end = (tookMs: number) => {
        if (tookMs < probeMs) return false;
        try {
          resolve(probe(order, this.#atMs));
        } catch (error) {
          reject(error);
        }
        return true;
      };
      this.#work.push({ batch: null, end });
    });
  }
}
