/** Kills real servers and their database at random moments under load, and checks the books. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { verifyLedger } from '../../../src/ledger/admin.ts';
import type { StoreLocation } from '../../../src/ledger/index.ts';
import { newLogKeysText } from '../../../src/log/index.ts';
import { Load, type Released, seededRandom } from '../clients/mixed-load.ts';
import {
  type Account,
  checkBooks,
  type Query,
  queryPostgres,
  querySqlite,
} from '../ledgers/books.ts';
import type { Postgres } from '../ledgers/postgres.ts';
import { sized } from '../run/campaign.ts';
import { type Environment, phmJson, runPhm, Server } from '../servers/server.ts';

/** Clients per server, and the longest time they send before the next kill. */
const CLIENTS = 8;
const LOAD_MS = 800;

/** The longest time that a server may need to serve again, on a busy machine. */
const RECOVERY_MS = 60_000;

const RESEARCH_QUOTA = 1_000;

/** Monthly limit of the API key of an account without a quota. */
const API_KEY_LIMIT = 1_200;

interface Site {
  /** One folder per server. With SQLite there is one of each. */
  readonly dataDirs: readonly string[];
  readonly env: Environment;
  readonly location: StoreLocation;
  readonly query: Query;
  /** Crashes the database below its servers and starts it again. Absent for SQLite. */
  readonly crashDatabase?: () => Promise<void>;
}

type Issued = Record<'account_id' | 'api_key', string>;

/** The seed of this run: `CRASH_SEED`, else a new one, printed so that a failure can be repeated. Samples have a fixed one. */
export function crashSeed(test: TestContext): number {
  const seed = Number(process.env.CRASH_SEED ?? sized({ sample: 15, full: randomInt(2 ** 31) }));
  test.diagnostic(`repeat these crashes with CRASH_SEED=${seed}`);
  return seed;
}

/** Returns a server with a ledger in its own folder. */
export function sqliteSite(dataDir: string): Site {
  return {
    dataDirs: [dataDir],
    env: { PHM_RATE_LIMITS: 'off' },
    location: { kind: 'sqlite', path: join(dataDir, 'phm.db') },
    query: querySqlite(dataDir),
  };
}

/** Returns a database for the servers in these folders, which is killed and stopped by turns. */
export async function postgresSite(postgres: Postgres, dataDirs: readonly string[]): Promise<Site> {
  const url = await postgres.createDatabase('crashes');
  let crashed = 0;
  return {
    dataDirs,
    env: {
      PHM_DATABASE_URL: url,
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_LOG_KEY: newLogKeysText('crashes.example/log'),
      PHM_MIGRATE: 'auto',
      PHM_RATE_LIMITS: 'off',
    },
    location: { kind: 'postgres', url },
    query: queryPostgres(postgres, 'crashes'),
    crashDatabase: async () => {
      await postgres.stop(crashed++ % 2 ? 'QUIT' : 'KILL');
      await postgres.restart();
    },
  };
}

/**
 * Serves from every folder under load, kills some servers (or the database) `kills` times, and checks the books
 * after each kill. At the end it uses up the research account's quota and the limit of an API key, and compares the log with
 * the ledger.
 */
export class Crashes {
  readonly #site: Site;
  readonly #random: () => number;
  readonly #servers: Server[] = [];
  #accounts: readonly Account[] = [];
  #load: Load = new Load([], Math.random);

  constructor(site: Site, seed: number) {
    this.#site = site;
    this.#random = seededRandom(seed);
  }

  get released(): readonly Released[] {
    return this.#load.released;
  }

  async run(kills: number): Promise<void> {
    try {
      await this.#begin();
      for (let i = 0; i < kills; i++) {
        if (this.#site.crashDatabase && i % 4 === 1) await this.#crashDatabase();
        else await this.#killServers();
        await checkBooks(this.#site.query, this.#load);
        await this.#load.validateReleased(this.#servers[0] as Server, this.#enterprise());
      }
      await this.#finish();
    } finally {
      await Promise.all(this.#servers.map((server) => server.stop('SIGKILL')));
    }
  }

  /** Adds the accounts once the servers have created the schema. */
  async #begin(): Promise<void> {
    const { dataDirs } = this.#site;
    this.#servers.push(...(await Promise.all(dataDirs.map((_, i) => this.#start(i)))));
    this.#accounts = [
      await this.#issueAccount('enterprise'),
      await this.#issueAccount('enterprise'),
      await this.#issueAccount('enterprise', ['--monthly-limit', String(API_KEY_LIMIT)]),
      await this.#issueAccount('research'),
    ];
    this.#load = new Load(this.#accounts, this.#random);
  }

  /** The command line writes audit records, which `log check` expects for every account and API key. */
  async #issueAccount(plan: string, settings: readonly string[] = []): Promise<Account> {
    const { dataDirs, env } = this.#site;
    const create = ['account', 'create', '--name', plan, '--plan', plan];
    const { account_id: accountId } = await phmJson<Issued>(create, dataDirs[0] ?? '', env);
    const issue = ['api-key', 'issue', '--account', accountId, ...settings];
    const { api_key: apiKey } = await phmJson<Issued>(issue, dataDirs[0] ?? '', env);
    return { accountId, apiKey };
  }

  /** Kills some servers or all. The others answer what they have. */
  async #killServers(): Promise<void> {
    const chosen = this.#servers.map((_, i) => i).filter(() => this.#random() < 0.5);
    const killed = chosen.length > 0 ? chosen : [Math.floor(this.#random() * this.#servers.length)];
    await this.#underLoad(() => Promise.all(killed.map((i) => this.#servers[i]?.stop('SIGKILL'))));
    await Promise.all(
      killed.map(async (i) => {
        this.#servers[i] = await this.#start(i);
      }),
    );
  }

  async #crashDatabase(): Promise<void> {
    await this.#underLoad(() => this.#site.crashDatabase?.());
    const end = Date.now() + RECOVERY_MS;
    for (const server of this.#servers) {
      while (!(await this.#load.generate(server, this.#enterprise()))) {
        assert.ok(Date.now() < end, 'the servers serve again without a restart');
      }
    }
  }

  async #underLoad(crash: () => Promise<unknown> | undefined): Promise<void> {
    const endLoads = this.#servers.map((server) => this.#load.start(server, CLIENTS));
    const untilCrashMs = this.#random() * LOAD_MS;
    await new Promise((resolve) => setTimeout(resolve, untilCrashMs));
    await crash();
    await Promise.all(endLoads.map((endLoad) => endLoad()));
  }

  /** Uses up the quota and the limit on all servers at once and expects exact books. */
  async #finish(): Promise<void> {
    const [limited, research] = this.#accounts.slice(-2) as [Account, Account];
    await Promise.all(
      this.#servers.flatMap((server) =>
        Array.from({ length: CLIENTS }, async () => {
          while (await this.#load.generate(server, research));
          while (await this.#load.generate(server, limited));
        }),
      ),
    );
    const books = await checkBooks(this.#site.query, this.#load);
    assert.equal(books.get(research.accountId)?.used, RESEARCH_QUOTA, 'the quota is used up');
    assert.equal(books.get(limited.accountId)?.used, API_KEY_LIMIT, 'the limit is used up');
    const { findings } = await verifyLedger(this.#site.location, {
      nowMs: Date.now(),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    assert.deepEqual(findings, [], 'the ledger agrees with itself');
    const owned = this.released.filter(({ accountId }) => accountId === research.accountId);
    assert.ok(owned.length <= RESEARCH_QUOTA);
    assert.deepEqual(
      await Promise.all(this.#servers.map((server) => server.stop())),
      this.#servers.map(() => 0),
    );
    const { dataDirs, env } = this.#site;
    const { code, stderr } = await runPhm(['log', 'check'], dataDirs[0] ?? '', env);
    assert.equal(code, 0, `the log agrees with the ledger: ${stderr}`);
  }

  #start(i: number): Promise<Server> {
    return Server.start(this.#site.dataDirs[i] ?? '', this.#site.env);
  }

  #enterprise(): Account {
    return this.#accounts[0] as Account;
  }
}
