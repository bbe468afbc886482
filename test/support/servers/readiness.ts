/** Watches the readiness of two servers through a fault: one has traffic, the other has none. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Load } from '../clients/mixed-load.ts';
import { reportTime } from '../run/campaign.ts';
import { until } from '../run/until.ts';
import type { Server } from './server.ts';

const CLIENTS = 3;
const PAUSE_MS = 50;

/** How long a fault continues after every server has noticed it, so that readiness could flap. */
const HOLD_MS = 3_000;

/** Bounds that the documents promise. */
export const UNREADY_MS = 5_000;
export const READY_MS = 3_000;

/** Time within which a server without traffic shows that a large write has room. */
export const ROOM_MS = 35_000;

/** Additional time for the fault itself and for the answers, which are asked for every 50 ms. */
export const MEASURING_MS = 1_000;

export interface Pair {
  readonly busy: Server;
  readonly idle: Server;
  readonly load: Load;
}

export interface Fault {
  readonly begin: () => Promise<unknown> | unknown;
  readonly end: () => Promise<unknown> | unknown;
  /**
   * Time within which a server without traffic notices the fault; null if the fault hits one account only: both servers stay
   * ready, the one with traffic because it records keys of others.
   */
  readonly idleMs: number | null;
}

interface Change {
  readonly atMs: number;
  readonly ready: boolean;
}

/** What was seen of one server. */
interface Seen {
  readonly changes: readonly Change[];
  /** Number of changes when the fault ended. */
  readonly duringFault: number;
}

/** When a fault began and ended. */
interface Times {
  readonly beganMs: number;
  readonly endedMs: number;
}

class Watch {
  readonly #server: Server;
  readonly #ended: Promise<void>;
  #running = true;
  readonly changes: Change[] = [];

  constructor(server: Server) {
    this.#server = server;
    this.#ended = this.#run();
  }

  get ready(): boolean {
    return this.changes.at(-1)?.ready ?? true;
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const ready = (await this.#server.request('/readyz')).status === 200;
      if (ready !== this.ready) this.changes.push({ atMs: performance.now(), ready });
      await delay(PAUSE_MS);
    }
  }

  async end(): Promise<void> {
    this.#running = false;
    await this.#ended;
  }
}

/** Takes both servers through a fault, the busy one under load. */
async function watchFault({ busy, idle, load }: Pair, { begin, end, idleMs }: Fault) {
  const endLoad = load.start(busy, CLIENTS);
  const watches = [new Watch(busy), new Watch(idle)] as const;
  try {
    await untilReleased(load);
    const beganMs = performance.now();
    let during: readonly number[];
    try {
      await begin();
      if (idleMs === null) await untilRefused(load);
      else await until('both servers notice the fault', () => watches.every(({ ready }) => !ready));
      await delay(HOLD_MS);
      const isReady = idleMs === null;
      await until('both stay as they are', () => watches.every(({ ready }) => ready === isReady));
      during = watches.map(({ changes }) => changes.length);
    } finally {
      await end();
    }
    const endedMs = performance.now();
    await until('both servers are ready again', () => watches.every(({ ready }) => ready));
    await untilReleased(load);
    await delay(HOLD_MS / 2);
    const seen = watches.map(({ changes }, i) => ({ changes, duringFault: during[i] ?? 0 }));
    return { seen, times: { beganMs, endedMs } };
  } finally {
    await Promise.all([endLoad(), ...watches.map((one) => one.end())]);
  }
}

function untilReleased(load: Load): Promise<void> {
  const { length } = load.released;
  return until('keys are released', () => load.released.length > length);
}

/** Waits until requests of a locked account are refused, while keys of others are released. */
async function untilRefused(load: Load): Promise<void> {
  const count = () => load.refused.get('503 ledger_unavailable') ?? 0;
  const before = count();
  await until('requests of the account are refused', () => count() > before);
  await untilReleased(load);
}

/**
 * A server that notices the fault is ready before it, not ready from some time until its end, and ready again later. How soon,
 * and whether it changes its mind on the way, depends on the machine too: `reportSeen`.
 */
function assertOrder(name: string, { changes, duringFault }: Seen): void {
  const during = changes.slice(0, duringFault).map(({ ready }) => ready);
  assert.deepEqual(during, [false], `${name}: unready once, and until the fault ends`);
}

function reportSeen(test: TestContext, name: string, seen: Seen, times: Times, unreadyMs: number) {
  const first = seen.changes.find(({ ready }) => !ready)?.atMs ?? Number.NaN;
  const last = seen.changes.findLast(({ ready }) => ready)?.atMs ?? Number.NaN;
  const report = (what: string, value: number, promised: number) => {
    const atMost = promised + MEASURING_MS;
    reportTime(test, { name: `${name}, ${what}`, value, atMost, unit: 'ms' });
  };
  report('unready', first - times.beganMs, unreadyMs);
  report('ready again', last - times.endedMs, READY_MS);
}

function reportChanges(test: TestContext, name: string, { changes }: Seen, atMost: number): void {
  reportTime(test, { name, value: changes.length, atMost, unit: 'changes' });
}

/**
 * Takes both servers through a fault. Each that notices it becomes unready until the fault ends, and ready again. A full
 * campaign limits the times, and the changes: one each way.
 */
export async function checkReadiness(test: TestContext, pair: Pair, fault: Fault): Promise<void> {
  const { seen, times } = await watchFault(pair, fault);
  for (const [i, name] of ['with traffic', 'without traffic'].entries()) {
    const one = seen[i] as Seen;
    reportChanges(test, name, one, fault.idleMs === null ? 0 : 2);
    if (fault.idleMs === null) continue;
    assertOrder(name, one);
    reportSeen(test, name, one, times, i === 0 ? UNREADY_MS : fault.idleMs);
  }
}
