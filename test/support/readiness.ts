/** Watches the readiness of two servers through a fault: one has traffic, the other has none. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Load } from './mixed-load.ts';
import type { Server } from './server.ts';

const CLIENTS = 3;
const PAUSE_MS = 50;

/** How long a fault continues after every server has noticed it, so that readiness could flap. */
const HOLD_MS = 3_000;

/** Bounds that the documents promise. */
export const UNREADY_MS = 5_000;
const READY_MS = 3_000;

/** Additional time on a busy machine. */
export const BUSY_MS = 2_000;

/** Waiting time for a fault that is never noticed. */
export const LIMIT_MS = 12_000;

/** Time within which a server without traffic shows that a large write has room. */
export const ROOM_MS = 35_000;

export interface Pair {
  readonly busy: Server;
  readonly idle: Server;
  readonly load: Load;
}

export interface Fault {
  readonly begin: () => Promise<unknown> | unknown;
  readonly end: () => Promise<unknown> | unknown;
  /** Time within which a server without traffic notices the fault; null if it never does. */
  readonly idleMs: number | null;
  /** True if the fault hits one account: the server with traffic stays ready, because it records keys of others. */
  readonly spares?: true;
}

/** Observations of one server, in milliseconds from the beginning or end of the fault; null if never. */
interface Seen {
  readonly unreadyMs: number | null;
  readonly readyMs: number | null;
  /** Number of changes of readiness. */
  readonly changes: number;
}

class Watch {
  readonly #server: Server;
  readonly #changes: { atMs: number; ready: boolean }[] = [];
  readonly #ended: Promise<void>;
  #running = true;
  ready = true;

  constructor(server: Server) {
    this.#server = server;
    this.#ended = this.#run();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const ready = (await this.#server.request('/readyz')).status === 200;
      if (ready !== this.ready) this.#changes.push({ atMs: performance.now(), ready });
      this.ready = ready;
      await delay(PAUSE_MS);
    }
  }

  async end(beganMs: number, endedMs: number): Promise<Seen> {
    this.#running = false;
    await this.#ended;
    const first = this.#changes.find(({ ready }) => !ready);
    const last = this.#changes.findLast(({ ready }) => ready);
    return {
      unreadyMs: first ? Math.round(first.atMs - beganMs) : null,
      readyMs: first && last && this.ready ? Math.round(last.atMs - endedMs) : null,
      changes: this.#changes.length,
    };
  }
}

/** Waits for a state until a timeout. */
async function wait(ms: number, reached: () => boolean): Promise<void> {
  const end = performance.now() + ms;
  while (!reached() && performance.now() < end) await delay(PAUSE_MS);
}

/** Takes both servers through a fault, the busy one under load. */
async function watchFault(
  { busy, idle, load }: Pair,
  { begin, end, idleMs }: Fault,
): Promise<{ busy: Seen; idle: Seen }> {
  const released = load.released.length;
  const endLoad = load.start(busy, CLIENTS);
  await wait(10_000, () => load.released.length > released);
  assert.ok(load.released.length > released, 'keys are released before the fault');
  const watches = [new Watch(busy), new Watch(idle)] as const;
  const beganMs = performance.now();
  try {
    await begin();
    await wait(LIMIT_MS, () => !watches[0].ready);
    await wait(idleMs ?? 0, () => !watches[1].ready);
    await delay(HOLD_MS);
  } finally {
    await end();
  }
  const endedMs = performance.now();
  await wait(LIMIT_MS, () => watches.every(({ ready }) => ready));
  await delay(HOLD_MS / 2);
  await endLoad();
  const [busySeen, idleSeen] = await Promise.all(watches.map((one) => one.end(beganMs, endedMs)));
  return { busy: busySeen as Seen, idle: idleSeen as Seen };
}

function assertSeen(name: string, seen: Seen, unreadyMs: number | null): void {
  const text = `${name}: ${JSON.stringify(seen)}`;
  if (unreadyMs === null) {
    assert.equal(seen.changes, 0, text);
    return;
  }
  assert.ok(seen.unreadyMs !== null && seen.unreadyMs < unreadyMs + BUSY_MS, `unready: ${text}`);
  assert.ok(seen.readyMs !== null && seen.readyMs < READY_MS + BUSY_MS, `ready again: ${text}`);
  assert.equal(seen.changes, 2, `once each: ${text}`);
}

/** Takes both servers through a fault. Each must become unready once and ready once, in time. */
export async function checkReadiness(test: TestContext, pair: Pair, fault: Fault): Promise<void> {
  const { busy, idle } = await watchFault(pair, fault);
  test.diagnostic(`with traffic ${JSON.stringify(busy)}, without ${JSON.stringify(idle)}`);
  if (!fault.spares) assertSeen('with traffic', busy, UNREADY_MS);
  else assertSeen('with traffic', busy, null);
  assertSeen('without traffic', idle, fault.idleMs);
}
