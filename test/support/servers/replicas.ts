/** Two servers on one PostgreSQL behind a load balancer, with one account. */
import assert from 'node:assert/strict';
import type { IssuedKey, Load } from '../clients/load.ts';
import { type Account, addAccounts } from '../ledgers/books.ts';
import type { Databases } from '../ledgers/databases.ts';
import { freePort } from '../run/free-port.ts';
import { until } from '../run/until.ts';
import { Balancer } from './balancer.ts';
import { type Environment, makeDataDir, removeDataDir, Server } from './server.ts';

const DATABASE = 'service';

/** Number of keys that are validated one by one. */
const SAMPLE = 60;

/** Returns the text of a master secret with versions 1 to `count`. */
export function masterKey(count: number): string {
  const secrets = Array.from({ length: count }, (_, i) => `${i + 1}:${`5${i}`.repeat(32)}`);
  return secrets.join(',');
}

export class Replicas {
  readonly balancer: Balancer;
  readonly databases: Databases;
  readonly apiKey: string;
  readonly servers: Server[] = [];
  readonly #folders: readonly string[];
  readonly #ports: readonly number[];
  readonly #env: Environment;

  private constructor(
    databases: Databases,
    env: Environment,
    apiKey: string,
    folders: readonly string[],
    ports: readonly number[],
    balancer: Balancer,
  ) {
    this.databases = databases;
    this.#env = env;
    this.apiKey = apiKey;
    this.#folders = folders;
    this.#ports = ports;
    this.balancer = balancer;
  }

  /** Creates database and account, starts both servers and waits until the balancer uses them; `remove` removes the databases too. */
  static async start(env: Environment, databases: Databases): Promise<Replicas> {
    const url = await databases.createLedger(DATABASE);
    const [account] = (await addAccounts({ kind: 'postgres', url }, ['enterprise'])) as [Account];
    const common = {
      PHM_DATABASE_URL: url,
      PHM_MIGRATE: 'auto',
      PHM_RATE_LIMITS: 'off',
      ...env,
    };
    const folders = [makeDataDir(), makeDataDir()];
    const ports = [await freePort(), await freePort()];
    const balancer = await Balancer.start(ports);
    const replicas = new Replicas(databases, common, account.apiKey, folders, ports, balancer);
    try {
      await Promise.all([replicas.launch(0), replicas.launch(1)]);
      await until('both servers are used', () => balancer.readyServers === 2);
      return replicas;
    } catch (error) {
      await replicas.remove();
      throw error;
    }
  }

  /** The environment of both servers, for commands on their database. */
  get environment(): Environment {
    return this.#env;
  }

  /** Starts one of the servers on its own port. */
  async launch(index: number, more: Environment = {}): Promise<Server> {
    const env = { ...this.#env, ...more, PHM_PORT: String(this.#ports[index]) };
    const server = await Server.start(this.#folders[index], env);
    this.servers[index] = server;
    return server;
  }

  /** Restarts one server at a time, each when all are in use, while requests come in. */
  async roll(load: Load, more: Environment): Promise<void> {
    for (const [index, server] of this.servers.entries()) {
      await served(load);
      assert.equal(await server.stop('SIGTERM'), 0);
      await served(load);
      await this.launch(index, more);
      await until('both servers are used', () => this.balancer.readyServers === 2);
    }
    await served(load);
  }

  /** Counts the keys that have their row. */
  async recorded(keys: readonly IssuedKey[]): Promise<number> {
    const ids = keys.map(({ keyId }) => {
      const hex = BigInt(keyId.slice('phm_'.length)).toString(16).padStart(32, '0');
      return `'\\x${hex}'::bytea`;
    });
    const [row] = await this.databases.query(
      DATABASE,
      `SELECT count(*)::integer AS n FROM ledger WHERE key_id IN (${ids.join(',')})`,
    );
    return Number(row?.n);
  }

  /** Validates a sample of the keys on each server, by proof and without, and returns those that are not valid. */
  async doubted(keys: readonly IssuedKey[]): Promise<string[]> {
    const step = Math.max(1, Math.floor(keys.length / SAMPLE));
    const doubts: string[] = [];
    for (const { key, proof, keyId } of keys.filter((_, i) => i % step === 0)) {
      for (const [index, server] of this.servers.entries()) {
        for (const hash_proof of [undefined, proof]) {
          const { status, body } = await server.validate({ key, hash_proof }, this.apiKey);
          if (body.valid !== true) doubts.push(`${keyId} on ${index}: ${status}, ${body.valid}`);
        }
      }
    }
    return doubts;
  }

  /** Ends everything that was started. */
  async remove(): Promise<void> {
    this.balancer.close();
    await Promise.all(this.servers.map((server) => server.stop('SIGKILL')));
    await this.databases.remove();
    this.#folders.forEach(removeDataDir);
  }
}

/** Returns the version of the master secret behind a proof. */
export function versionOf({ proof }: IssuedKey): number {
  return Number(BigInt(proof.slice('proof_'.length)) >> 256n);
}

/** Waits until some more requests have been answered. */
async function served(load: Load): Promise<void> {
  const before = load.answered;
  await until('requests are answered', () => load.answered >= before + 30);
}
