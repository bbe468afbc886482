/**
 * Kills servers with kill -9 among 2,400 calls with an `Idempotency-Key`, on both stores, with one and two servers:
 * at random times, right before a commit, and right after it. Each client repeats its call until it has an outcome.
 * Then each call has made its keys exactly once.
 */
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { crashSeed } from '../support/crashes.ts';
import { IdempotentAudit } from '../support/idempotent-audit.ts';
import { IdempotentClients, mixedCalls } from '../support/idempotent-calls.ts';
import { killAtCommit } from '../support/kill-at-commit.ts';
import { LogSite } from '../support/log-site.ts';
import { seededRandom } from '../support/mixed-load.ts';
import { noPostgres } from '../support/postgres.ts';
import type { Environment, Server } from '../support/server.ts';

const CLIENTS = 16;

/** Longest life of a server that is killed by the clock. */
const LIFE_MS = 600;

/** The highest number of a commit at which a server is killed. */
const COMMITS = 16;

const POLL_MS = 3;

/** After the last kill, the servers live until all calls have an outcome. */
interface Size {
  readonly calls: number;
  readonly kills: number;
}

const LARGE: Size = { calls: 1_000, kills: 10 };
const SMALL: Size = { calls: 400, kills: 6 };

/** How a server ends: at a commit or by the clock. */
interface End {
  readonly name: 'before a commit' | 'after a commit' | 'at some time';
  readonly env: Environment;
  readonly afterMs: number;
}

class KilledSite {
  readonly #site: LogSite;
  readonly #servers: (Server | null)[] = [];
  readonly #size: Size;
  readonly #random: () => number;
  readonly #kills: End['name'][] = [];
  #ended = false;

  constructor(site: LogSite, size: Size, seed: number) {
    this.#site = site;
    this.#size = size;
    this.#random = seededRandom(seed);
  }

  async run(test: TestContext): Promise<void> {
    try {
      for (let i = 0; i < this.#site.servers; i++) this.#servers[i] = await this.#site.start(i);
      const clients = new IdempotentClients(this.#site.apiKey, () => this.#addresses());
      const calls = await mixedCalls(this.#size.calls, this.#random);
      const done = clients.run(calls, CLIENTS).finally(() => {
        this.#ended = true;
      });
      await Promise.all([done, ...this.#servers.map((_, i) => this.#killRepeatedly(i))]);
      const audit = new IdempotentAudit(this.#site, this.#running(), clients);
      const figures = await audit.run(calls.length);
      const kills = Map.groupBy(this.#kills, (name) => name);
      test.diagnostic(
        `${this.#site.kind}, ${this.#site.servers} servers: ${this.#kills.length} kills (` +
          `${[...kills].map(([name, { length }]) => `${length} ${name}`).join(', ')}), ` +
          `${clients.unanswered} requests unanswered; ${JSON.stringify(figures)}`,
      );
    } finally {
      await this.#site.remove();
    }
  }

  #running(): Server[] {
    return this.#servers.filter((server) => server !== null);
  }

  #addresses(): string[] {
    return this.#running().map(({ address }) => address);
  }

  async #killRepeatedly(i: number): Promise<void> {
    let end = this.#someTime();
    for (;;) {
      const server = this.#servers[i] as Server;
      const diesMs = performance.now() + end.afterMs;
      while (!this.#ended && performance.now() < diesMs && isAlive(server)) await delay(POLL_MS);
      if (this.#ended && isAlive(server)) return;
      this.#servers[i] = null;
      await server.stop('SIGKILL');
      this.#kills.push(end.name);
      end = this.#nextEnd();
      this.#servers[i] = await this.#site.start(i, end.env);
    }
  }

  #nextEnd(): End {
    if (this.#kills.length >= this.#size.kills) {
      return { name: 'at some time', env: {}, afterMs: Number.POSITIVE_INFINITY };
    }
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

function isAlive({ pid }: Server): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a kill among idempotent calls makes no second key', () => {
  it('in SQLite with 1 server', async (test) => {
    await new KilledSite(LogSite.sqlite(), SMALL, crashSeed(test)).run(test);
  });

  it('in SQLite with 2 servers', async (test) => {
    await new KilledSite(LogSite.sqlite(2), LARGE, crashSeed(test)).run(test);
  });

  it('in PostgreSQL with 2 servers', { skip: noPostgres }, async (test) => {
    await new KilledSite(await LogSite.postgres(2), LARGE, crashSeed(test)).run(test);
  });
});
