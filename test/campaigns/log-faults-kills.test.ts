/**
 * Kills servers at every step of a turn of the log's sequencer, under load, with one to three servers on both stores.
 * After each series nothing has forked and nothing answered is missing.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { killFile, stepOptions } from '../support/faults/log-steps.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { LogWatch } from '../support/ledgers/log-watch.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { isAlive } from '../support/run/alive.ts';
import { sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import type { Server } from '../support/servers/server.ts';

/** Clients of each server. */
const CLIENTS = 2;

/** Time in which all steps of a turn are recorded, on a machine that has it to spare. */
const RECORDING_MS = 2_500;

/** A turn has more steps than these. */
const LEAST_STEPS = 8;

/** Kills at every step; at every sixth in a sample. */
const STRIDE = sized({ sample: 6, full: 1 });

/** Least share of the steps that are reached: another server may take the turn. Of few steps it is chance. */
const REACHED = sized({ sample: 0.2, full: 0.5 });

/** Longest time until a server reaches the step at which it is killed. */
const REACHED_MS = 4_000;

/** Longest series: a slow machine leaves out the last steps and says so. */
const SERIES_MS = 100_000;

/** One server of a series, and those who use and watch it. */
interface Running {
  readonly server: Server;
  readonly end: () => Promise<unknown>;
}

class Series {
  readonly #site: LogSite;
  readonly #watch: LogWatch = new LogWatch();
  readonly #running: (Running | null)[] = [];
  #kills = 0;

  constructor(site: LogSite) {
    this.#site = site;
  }

  /** Kills a server at each step. Returns figures in words. */
  async run(test: TestContext): Promise<void> {
    try {
      const steps = await this.#record();
      const end = Date.now() + SERIES_MS;
      let left = 0;
      for (const [i, step] of steps.entries()) {
        if (i % STRIDE !== 0) continue;
        if (Date.now() > end) left += 1;
        else await this.#killAt(step, i % this.#site.servers);
      }
      const { checkpoints, pairs, keys, receipts, size } = await this.#audit();
      test.diagnostic(
        `${this.#site.kind}, ${this.#site.servers} servers: ${this.#kills} kills at ${steps.length} steps ` +
          `(${left} left out), ${checkpoints} checkpoints, ${pairs} pairs consistent, ${keys} keys, ` +
          `${receipts} receipts, ${size} entries`,
      );
      const tried = steps.length / STRIDE - left;
      assert.ok(this.#kills >= REACHED * tried, `${this.#kills} of ${tried} steps are reached`);
    } finally {
      await Promise.all(this.#running.map((one) => one?.server.stop('SIGKILL')));
      await this.#site.remove();
    }
  }

  #file(i: number): string {
    return join(this.#site.folder, `steps-${i}`);
  }

  /** Runs all servers undisturbed. Returns the steps that write something. */
  async #record(): Promise<string[]> {
    for (let i = 0; i < this.#site.servers; i++) await this.#start(i);
    await this.#watch.pin(this.#running[0]?.server as Server);
    await delay(RECORDING_MS);
    await until('a whole turn is recorded', () => this.#recorded().length > LEAST_STEPS);
    return this.#recorded();
  }

  #recorded(): string[] {
    const lines = this.#running.flatMap((_, i) => readFileSync(this.#file(i), 'utf8').split('\n'));
    return [...new Set(lines)].filter(isWriting);
  }

  /** Starts a server with its clients. With a kill file it may end at once. */
  async #start(i: number): Promise<void> {
    const server = await this.#site.start(i, { NODE_OPTIONS: stepOptions(this.#file(i)) });
    const endLoad = this.#watch.load(server, this.#site.apiKey, CLIENTS);
    const endFollowing = this.#watch.follow(server);
    this.#running[i] = { server, end: () => Promise.all([endLoad(), endFollowing()]) };
  }

  async #killAt(step: string, i: number): Promise<void> {
    writeFileSync(killFile(this.#file(i)), step);
    const { server, end } = this.#running[i] as Running;
    const gone = await this.#isGone(server);
    if (gone) this.#kills += 1;
    await server.stop('SIGKILL');
    await end();
    rmSync(killFile(this.#file(i)));
    this.#watch.seeFile(this.#site.stateFile(i));
    await this.#start(i);
  }

  async #isGone(server: Server): Promise<boolean> {
    const end = Date.now() + REACHED_MS;
    while (Date.now() < end) {
      if (!isAlive(server.pid)) return true;
      await delay(10);
    }
    return false;
  }

  async #audit() {
    await Promise.all(this.#running.map((one) => one?.end()));
    for (let i = 0; i < this.#site.servers; i++) this.#watch.seeFile(this.#site.stateFile(i));
    const server = this.#running[0]?.server as Server;
    const figures = await this.#watch.audit(server, this.#site.apiKey);
    await this.#site.run('log', 'check');
    return figures;
  }
}

/** Steps between two readings change nothing. */
function isWriting(step: string): boolean {
  const [before = '', after = ''] = step.split(' → ');
  return after !== '' && !(isReading(before) && isReading(after));
}

function isReading(operation: string): boolean {
  return /^(?:start|SELECT|PRAGMA|openSync)/i.test(operation);
}

describe('a kill at every step of a turn', () => {
  for (const servers of sized({ sample: [2], full: [1, 2] })) {
    it(`forks nothing and loses nothing in SQLite with ${servers} servers`, async (test) => {
      await new Series(LogSite.sqlite(servers)).run(test);
    });
  }

  for (const servers of sized({ sample: [3], full: [1, 3] })) {
    it(`forks nothing and loses nothing in PostgreSQL with ${servers} servers`, {
      skip: noPostgres,
    }, async (test) => {
      await new Series(await LogSite.postgres(servers)).run(test);
    });
  }
});
