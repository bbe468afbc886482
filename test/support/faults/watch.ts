/**
 * Asks each server by itself, past the proxy, all the time: for keys, and whether it is ready. A server that
 * says so while it makes no keys hides an outage.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clients } from './clients.ts';
import type { Replica } from './replica.ts';

/** A server without a key for so long must not be ready: five seconds, and what a round of questions takes. */
const HIDDEN_AFTER_MS = 6_000;

/** One that has just become ready again may need so long for its first key. */
const READY_AGAIN_MS = 3_000;
const ASK_EVERY_MS = 250;
const READY_LIMIT_MS = 2_000;
const ASKERS = 2;

export class Watch {
  readonly replica: Replica;
  /** How long it has been ready without making keys, in milliseconds. */
  hiddenMs = 0;
  ready = false;
  /** When the request for its latest key was sent, by `performance.now()`. */
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

  /** True when a key that was asked for after this moment was answered and the server is ready. */
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
      // A process that was stopped, or this one, knows nothing of the time that it has slept.
      if (this.replica.stopped || now - asked > 1_000 || sinceBefore > 1_500)
        this.#aliveSince = now;
      const since = Math.max(this.replica.listeningSince ?? now, this.#aliveSince, this.#latestKey);
      const isHidden = now - since > HIDDEN_AFTER_MS && now - this.#readySince > READY_AGAIN_MS;
      if (this.ready && isHidden) this.hiddenMs += sinceBefore;
    }
  }
}
