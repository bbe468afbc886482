/**
 * Servers that are killed with kill -9 while clients use them: at random times, right before a commit, and right after it.
 * Each is started again at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LogSite } from '../ledgers/log-site.ts';
import { isAlive } from '../run/alive.ts';
import type { Environment, Server } from '../servers/server.ts';
import { killAtCommit } from './kill-at-commit.ts';

/** Longest life of a server that is killed by the clock. */
const LIFE_MS = 600;

/** The highest number of a commit at which a server is killed. */
const COMMITS = 16;

const POLL_MS = 3;

/** How a server ends: at a commit or by the clock. */
interface End {
  readonly name: 'before a commit' | 'after a commit' | 'at some time';
  readonly env: Environment;
  readonly afterMs: number;
}

/** Of a server that lives until the test stops it. */
const NEVER: End = { name: 'at some time', env: {}, afterMs: Number.POSITIVE_INFINITY };

export class KilledSite {
  readonly #site: LogSite;
  /** After so many kills the servers live until the clients are done. */
  readonly #most: number;
  readonly #random: () => number;
  readonly #servers: (Server | null)[] = [];
  readonly #kills: End['name'][] = [];
  #ended = false;

  private constructor(site: LogSite, most: number, random: () => number) {
    this.#site = site;
    this.#most = most;
    this.#random = random;
  }

  /** Starts all servers of a site. */
  static async start(site: LogSite, kills: number, random: () => number): Promise<KilledSite> {
    const killed = new KilledSite(site, kills, random);
    for (let i = 0; i < site.servers; i++) killed.#servers[i] = await site.start(i);
    return killed;
  }

  /** Addresses of the servers that run now. */
  get addresses(): string[] {
    return this.#running().map(({ address }) => address);
  }

  /** The kills in words. */
  get summary(): string {
    const ends = Map.groupBy(this.#kills, (name) => name);
    const counts = [...ends].map(([name, { length }]) => `${length} ${name}`);
    const { kind, servers } = this.#site;
    return `${kind}, ${servers} servers: ${this.#kills.length} kills (${counts.join(', ')})`;
  }

  /** Kills servers until `work` is done. Returns all servers, which run then. */
  async during(work: Promise<unknown>): Promise<Server[]> {
    const done = work.finally(() => {
      this.#ended = true;
    });
    await Promise.all([done, ...this.#servers.map((_, i) => this.#killRepeatedly(i))]);
    return this.#running();
  }

  #running(): Server[] {
    return this.#servers.filter((server) => server !== null);
  }

  async #killRepeatedly(i: number): Promise<void> {
    let end = this.#someTime();
    for (;;) {
      const server = this.#servers[i] as Server;
      const diesMs = performance.now() + end.afterMs;
      while (!this.#ended && performance.now() < diesMs && isAlive(server.pid))
        await delay(POLL_MS);
      const isDone = this.#ended && isAlive(server.pid);
      // One that is to die at a commit would do so at a later one, after the clients.
      if (isDone && !('NODE_OPTIONS' in end.env)) return;
      this.#servers[i] = null;
      await server.stop('SIGKILL');
      if (!isDone) this.#kills.push(end.name);
      end = isDone ? NEVER : this.#nextEnd();
      this.#servers[i] = await this.#site.start(i, end.env);
    }
  }

  #nextEnd(): End {
    if (this.#kills.length >= this.#most) return NEVER;
    const kind = this.#random() * 3;
    if (kind < 1) return this.#someTime();
    const when = kind < 2 ? 'before' : 'after';
    const commit = 1 + Math.floor(this.#random() * COMMITS);
    return {
      name: `${when} a commit`,
      env: { NODE_OPTIONS: killAtCommit(commit, when) },
      afterMs: Number.POSITIVE_INFINITY,
    };
  }

  #someTime(): End {
    return { name: 'at some time', env: {}, afterMs: this.#random() * LIFE_MS };
  }
}
