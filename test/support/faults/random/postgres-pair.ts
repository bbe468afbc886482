/** A PostgreSQL primary with a synchronous standby and the network paths to it. A failover redirects the paths. */
import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { findInstalled, noPostgres, PASSWORD, serverUser } from '../../ledgers/postgres.ts';
import { WayToServer } from '../../ledgers/way.ts';
import { freePort } from '../../run/free-port.ts';
import { mountDisk, noMount } from '../disk.ts';
import { PostgresNode } from './postgres-node.ts';

const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup', 'pg_ctl', 'pg_dump']);

/** The reason why this machine cannot run a pair, or false. */
export const noPair: string | false =
  noPostgres || (PROGRAMS ? false : 'a standby needs PostgreSQL 15 or newer');

const DISK = '400m';
const SYNC_LIMIT_MS = 30_000;

/** The role of the service. It owns its database but is not a superuser, so that limits apply to it. */
export const ROLE = 'service';
const DATABASE = 'service';

export class PostgresPair {
  readonly ways: readonly WayToServer[];
  readonly hasSmallDisk: boolean;
  readonly #folder: string;
  readonly #unmount: (() => void)[] = [];
  primary: PostgresNode;
  standby: PostgresNode;

  private constructor(folder: string, nodes: [PostgresNode, PostgresNode], ways: WayToServer[]) {
    this.#folder = folder;
    [this.primary, this.standby] = nodes;
    this.ways = ways;
    this.hasSmallDisk = !noMount;
  }

  /** Creates both servers, the database and the given number of network paths. */
  static async start(ways: number): Promise<PostgresPair> {
    const folder = mkdtempSync(join(existsSync('/tmp') ? '/tmp' : tmpdir(), 'phm-pair-'));
    if (serverUser) chownSync(folder, serverUser.uid, serverUser.gid);
    const unmount: (() => void)[] = [];
    const nodes = [];
    for (const name of ['a', 'b']) {
      if (!noMount) unmount.push(mountDisk(join(folder, name, 'disk'), DISK));
      nodes.push(new PostgresNode(PROGRAMS ?? '', join(folder, name), await freePort()));
    }
    const [first, second] = nodes as [PostgresNode, PostgresNode];
    const opened = Array.from({ length: ways }, () => WayToServer.start(first.port));
    const pair = new PostgresPair(folder, [first, second], await Promise.all(opened));
    pair.#unmount.push(...unmount);
    await pair.#create();
    return pair;
  }

  async #create(): Promise<void> {
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    if (serverUser) chownSync(passwordFile, serverUser.uid, serverUser.gid);
    await this.primary.initialize(passwordFile);
    await this.primary.start();
    await this.admin(`CREATE TABLESPACE small LOCATION '${this.primary.space}'`, 'postgres');
    await this.admin(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`, 'postgres');
    await this.admin(`CREATE DATABASE ${DATABASE} OWNER ${ROLE} TABLESPACE small`, 'postgres');
    await this.attachStandby();
    await this.untilSynchronous();
  }

  /** Returns the database URL, through one of the paths or directly. */
  url(way?: number): string {
    const port = way === undefined ? this.primary.port : this.ways[way]?.port;
    return `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${port}/${DATABASE}`;
  }

  /** Opens a superuser connection to the primary. The caller closes it. */
  async connect(database: string = DATABASE): Promise<pg.Client> {
    const { port } = this.primary;
    const client = new pg.Client({
      connectionString: `postgres://phm:${PASSWORD}@127.0.0.1:${port}/${database}`,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => {});
    await client.connect();
    // The harness's own writes must not wait for a stopped standby.
    await client.query('SET synchronous_commit = local');
    return client;
  }

  /** Runs one statement as superuser on the primary. */
  async admin(sql: string, database: string = DATABASE): Promise<Record<string, unknown>[]> {
    const client = await this.connect(database);
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Rebuilds the other server as a standby of the primary. */
  async attachStandby(): Promise<void> {
    await this.standby.stop('kill');
    await this.standby.copyFrom(this.primary);
    await this.standby.start();
  }

  /** Waits until the standby confirms commits. */
  async untilSynchronous(): Promise<void> {
    const end = Date.now() + SYNC_LIMIT_MS;
    for (;;) {
      const rows = await this.admin("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      if (rows.length > 0) return;
      if (Date.now() > end) throw new Error('the standby is not synchronous');
      await delay(100);
    }
  }

  /** Kills the primary, promotes the standby, and builds a new standby in place of the old primary. */
  async failOver(): Promise<void> {
    await this.primary.stop('kill');
    await this.standby.promote();
    [this.primary, this.standby] = [this.standby, this.primary];
    for (const way of this.ways) {
      way.serverPort = this.primary.port;
      way.cutAll();
    }
    await this.attachStandby();
    await this.untilSynchronous();
  }

  /** Dumps the database to a file. */
  async dump(file: string): Promise<void> {
    const args = ['--format=custom', `--file=${file}`, this.url()];
    await promisify(execFile)(join(PROGRAMS ?? '', 'pg_dump'), args);
  }

  /** Reopens the paths and starts the standby, which a fault may have left closed or stopped. */
  async heal(): Promise<void> {
    for (const way of this.ways) {
      way.state = 'open';
      way.cut = null;
    }
    if (this.standby.postmaster === null) await this.standby.start();
  }

  async remove(): Promise<void> {
    for (const way of this.ways) way.close();
    await Promise.all([this.primary.stop('immediate'), this.standby.stop('immediate')]);
    for (const unmount of this.#unmount) unmount();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The file that fills the primary's small disk. */
  get ballast(): string {
    return join(dirname(this.primary.space), 'ballast');
  }
}
