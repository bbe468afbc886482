/**
 * Continuously requests keys and readiness from each server, without the proxy. A server that reports ready but
 * generates no keys hides an outage.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clients } from './clients.ts';
import type { Replica } from './replica.ts';

/** A server without a key for this long must not be ready: five seconds plus one round of requests. */
const HIDDEN_AFTER_MS = 6_000;

/** Time allowed for the first key of a server that has just become ready again. */
const READY_AGAIN_MS = 3_000;
const ASK_EVERY_MS = 250;
const READY_LIMIT_MS = 2_000;
const ASKERS = 2;

export class Watch {
  readonly replica: Replica;
  /** Total time, in milliseconds, during which the server was ready without generating keys. */
  hiddenMs = 0;
  ready = false;
  /** Time at which the request for its latest key was sent, by `performance.now()`. */
  latestKeyAsked = 0;
  #readySince = 0;
  #aliveSince = 0;
  #latestKey = 0;
  #running = true;
  readonly #clients: Clients;
  readonly #ended: Promise<unknown>;

  constructor(replica: Replica, clients: Clients) {
    this.replica = replica;
    this.#clients = clients;
    const askers = Array.from({ length: ASKERS }, () => this.#askForKeys());
    this.#ended = Promise.all([...askers, this.#askReadiness()]);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
  }

  /** Returns true if the server is ready and has answered a key requested after this moment. */
  servesSince(moment: number): boolean {
    return this.ready && this.latestKeyAsked > moment;
  }

  async #askForKeys(): Promise<void> {
    for (; this.#running; await delay(ASK_EVERY_MS)) {
      if (this.replica.listeningSince === null) continue;
      const asked = performance.now();
      const made = await this.#clients.generate(false, { url: this.replica.address });
      if (!made) continue;
      this.latestKeyAsked = Math.max(this.latestKeyAsked, asked);
      this.#latestKey = performance.now();
    }
  }

  async #askReadiness(): Promise<void> {
    let before = performance.now();
    for (; this.#running; await delay(ASK_EVERY_MS)) {
      const asked = performance.now();
      const { status } = await this.#clients.get(`${this.replica.address}/readyz`, READY_LIMIT_MS);
      const now = performance.now();
      const sinceBefore = now - before;
      before = now;
      const isReady = status === 200;
      if (isReady && !this.ready) this.#readySince = now;
      this.ready = isReady;
      // A stopped process, this one included, does not notice the time that it slept.
      if (this.replica.stopped || now - asked > 1_000 || sinceBefore > 1_500)
        this.#aliveSince = now;
      const since = Math.max(this.replica.listeningSince ?? now, this.#aliveSince, this.#latestKey);
      const isHidden = now - since > HIDDEN_AFTER_MS && now - this.#readySince > READY_AGAIN_MS;
      if (this.ready && isHidden) this.hiddenMs += sinceBefore;
    }
  }
}
