/**
 * The PostgreSQL of a run, which its test files share: a start takes seconds, a database a tenth of one. It starts
 * when the first file asks, and ends with the run. Tests that stop or change the server, or look at all of it, have one of their own
 * (`Postgres.start`).
 */
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { noteDatabaseLog } from '../run/data-dirs.ts';
import { Databases, makeTemplates } from './databases.ts';
import { findBinaries, Postgres } from './postgres.ts';

/** The environment variable with the address that answers with the run's server. */
const ADDRESS = 'TEST_POSTGRES';

interface Offer {
  readonly port: number;
  /** The file that the run writes the server's log to, if a test file keeps it. */
  readonly log: string;
}

/** Returns databases for this test file; a file that runs alone gets a server. The caller removes them. */
export async function sharedPostgres(): Promise<Databases> {
  const address = process.env[ADDRESS];
  if (address === undefined) return Postgres.start();
  const response = await fetch(address);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  const { port, log } = JSON.parse(answer) as Offer;
  noteDatabaseLog(log, null);
  return new Databases(port, namePrefix());
}

/** Names on the shared server begin with those of the file and its process: a name that is left there tells the file. */
function namePrefix(): string {
  const file = basename(process.argv[1] ?? '').replace(/\.test\.ts$|\.ts$/, '');
  return `${file.toLowerCase().replaceAll(/\W/g, '_').slice(0, 24)}_${process.pid}_`;
}

/** Databases and roles that neither PostgreSQL nor `startServer` has made. */
const LEFT = `SELECT datname AS name FROM pg_database WHERE NOT datistemplate
    AND datname NOT IN ('postgres', 'empty_ledger', 'waiting_ledger')
  UNION SELECT rolname FROM pg_roles WHERE rolname NOT LIKE 'pg\\_%' AND rolname <> 'phm'`;

/** The run's side: starts the server at the first request, and answers with an `Offer`. */
export class SharedPostgres {
  readonly #http = createServer(((_, response) => {
    this.#started ??= startServer();
    this.#started.then(
      ({ port }) => response.end(JSON.stringify({ port, log: this.#log } satisfies Offer)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  }) satisfies RequestListener);
  readonly #log: string;
  #started: Promise<Postgres> | null = null;

  private constructor(folder: string) {
    this.#log = join(folder, 'postgres.log');
  }

  /** Offers a server to the test files that this process starts. `folder` is the run's. */
  static async offer(folder: string): Promise<SharedPostgres> {
    const shared = new SharedPostgres(folder);
    await new Promise<void>((resolve) => shared.#http.listen(0, '127.0.0.1', resolve));
    shared.#http.unref();
    const { port } = shared.#http.address() as AddressInfo;
    process.env[ADDRESS] = `http://127.0.0.1:${port}/`;
    return shared;
  }

  /**
   * Stops the server, if one was started, and removes it; writes its log if that is in `kept`. Returns what files have left
   * there: databases and roles, which begin with the file's name.
   */
  async end(kept: readonly string[]): Promise<string[]> {
    this.#http.close();
    this.#http.closeAllConnections();
    const server = await this.#started?.catch(() => null);
    if (!server) return [];
    try {
      const left = await server.query('postgres', LEFT);
      return left.map(({ name }) => `${name} in PostgreSQL`);
    } finally {
      await server.remove();
      if (kept.includes(this.#log)) writeFileSync(this.#log, server.log, { mode: 0o600 });
    }
  }
}

async function startServer(): Promise<Postgres> {
  const server = await Postgres.start(process.env.TEST_POSTGRES_BIN ?? findBinaries(), [
    'max_connections=240',
    // To create and drop databases takes ten times as long with it. Tests that kill the server have their own.
    'fsync=off',
  ]);
  await makeTemplates(server);
  return server;
}
