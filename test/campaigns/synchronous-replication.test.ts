/**
 * A primary with one synchronous standby, two servers under load, and everything that interrupts a commit's
 * wait for the standby. Each key that was answered with 200 is on the standby that takes over, twice in a row.
 * About 70 s in full; needs pg_basebackup. The seed of the load is 1. Expected: some 450 keys released, some 250 waits
 * interrupted, no key lost.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Load, seededRandom } from '../support/clients/mixed-load.ts';
import { addAccounts, checkBooks, queryPostgres } from '../support/ledgers/books.ts';
import { findInstalled, noPostgres, Postgres } from '../support/ledgers/postgres.ts';
import { WayToServer } from '../support/ledgers/way.ts';
import { sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

const DATABASE = 'replicated';
const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup']);
const CLIENTS = 8;
const PHASE_MS = sized({ sample: 1_500, full: 5_000 });
const CUT_EVERY_MS = 50;

/** Keys released before the end of a phase, and the actions in it. */
interface Phase {
  readonly name: string;
  readonly firstKey: number;
  readonly endKey: number;
  readonly cuts: number;
}

describe('a primary with a synchronous standby', {
  skip:
    noPostgres || (!PROGRAMS && 'pg_basebackup of PostgreSQL 15 or newer is not installed here'),
}, () => {
  const folders = [makeDataDir(), makeDataDir()];
  const servers: Server[] = [];
  const phases: Phase[] = [];
  const retired: Postgres[] = [];
  let primary: Postgres;
  let standby: Postgres;
  let way: WayToServer;
  let load: Load;

  before(async () => {
    primary = await Postgres.start(PROGRAMS ?? '', ['synchronous_standby_names=one']);
    standby = await primary.startStandby('one');
    const url = await primary.createLedger(DATABASE);
    const accounts = await addAccounts({ kind: 'postgres', url }, ['enterprise', 'enterprise']);
    load = new Load(accounts, seededRandom(1));
    way = await WayToServer.start(primary.port);
    const env = {
      PHM_DATABASE_URL: primary.url(DATABASE, way.port),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_RATE_LIMITS: 'off',
    };
    for (const folder of folders) servers.push(await Server.start(folder, env));
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    way?.close();
    for (const postgres of [standby, primary, ...retired]) await postgres?.remove();
    folders.forEach(removeDataDir);
  });

  /** Returns the number of rows of a statement; zero while the primary does not respond, as in recovery. */
  const attempt = (sql: string): Promise<number> =>
    primary.query(DATABASE, sql).then(
      ({ length }) => length,
      () => 0,
    );

  const waiters = "pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'phm'";
  const cut = (how: string) => () => attempt(`SELECT ${how}(pid) FROM ${waiters}`);

  /** Kills a waiting process of the primary. All others then exit, and the primary recovers. */
  async function crash(): Promise<number> {
    const [waiter] = await primary.query(DATABASE, `SELECT pid FROM ${waiters}`).catch(() => []);
    if (!waiter) return 0;
    process.kill(Number(waiter.pid), 'SIGKILL');
    await delay(1_000);
    return 1;
  }

  /** Repeats `work` for a while and notes the results. */
  async function phase(name: string, work: () => Promise<number>): Promise<void> {
    const firstKey = load.released.length;
    let cuts = 0;
    for (const end = Date.now() + PHASE_MS; Date.now() < end; await delay(CUT_EVERY_MS)) {
      cuts += await work();
    }
    phases.push({ name, firstKey, endKey: load.released.length, cuts });
  }

  async function releases(): Promise<void> {
    const before = load.released.length;
    await until('keys are released', () => load.released.length > before + 100);
  }

  /** Stops the standby from receiving, unnoticed by the primary, until the returned function is called. */
  async function freeze(): Promise<() => void> {
    const [receiver] = await standby.query('postgres', 'SELECT pid FROM pg_stat_wal_receiver');
    process.kill(Number(receiver?.pid), 'SIGSTOP');
    return () => process.kill(Number(receiver?.pid), 'SIGCONT');
  }

  async function configure(setting: string): Promise<void> {
    await standby.query('postgres', `ALTER SYSTEM SET ${setting}`);
    await standby.query('postgres', 'SELECT pg_reload_conf()');
  }

  /** Cuts the standby off from a primary that continues. */
  async function cutOff(): Promise<void> {
    await configure("primary_conninfo = ''");
    const followers = 'SELECT FROM pg_stat_replication';
    await until('it is', async () => (await primary.query('postgres', followers)).length === 0);
  }

  /** Promotes the standby and leads new connections to it. */
  async function promote(): Promise<void> {
    await standby.query('postgres', 'SELECT pg_promote()');
    way.serverPort = standby.port;
  }

  /** Continues with the standby as the primary of a new one, without which nothing is confirmed. */
  async function replacePrimary(): Promise<void> {
    await primary.stop('KILL');
    way.cutAll();
    retired.unshift(primary);
    primary = standby;
    standby = await primary.startStandby('two', ['synchronous_standby_names=']);
  }

  function lost(recorded: ReadonlySet<unknown>, first: number, end: number): number {
    return load.released.slice(first, end).filter(({ keyId }) => !recorded.has(keyId)).length;
  }

  /** Writes what happened and returns the number of lost keys. */
  async function report(): Promise<number> {
    const rows = await standby.query(DATABASE, "SELECT encode(key_id, 'hex') AS id FROM ledger");
    const recorded = new Set(rows.map(({ id }) => id));
    const say = (text: string) => process.stdout.write(`# ${text}\n`);
    for (const { name, firstKey, endKey, cuts } of phases) {
      const keys = `${endKey - firstKey} keys released, ${lost(recorded, firstKey, endKey)} lost`;
      say(`${name}: ${cuts} waits cut short, ${keys}`);
    }
    const all = lost(recorded, 0, load.released.length);
    say(`in all ${load.released.length} keys released, ${all} lost`);
    say(`${JSON.stringify([...load.refused])}, longest wait ${Math.round(load.longestMs)} ms`);
    return all;
  }

  it('loses no released key, whatever interrupts the wait for the standby', async () => {
    const ends = servers.map((server) => load.start(server, CLIENTS));
    await releases();
    const thaw = await freeze();
    await phase('standby frozen, waits cancelled', cut('pg_cancel_backend'));
    thaw();
    await releases();
    await cutOff();
    await phase('standby cut off, waits cancelled', cut('pg_cancel_backend'));
    await configure("synchronous_standby_names = 'two'");
    await promote();

    await phase('two primaries, waits terminated', cut('pg_terminate_backend'));
    await replacePrimary();

    await releases();
    await standby.stop('INT');
    await phase('standby stopped, waits cancelled', cut('pg_cancel_backend'));
    await phase('standby stopped, waits terminated', cut('pg_terminate_backend'));
    await phase('standby stopped, primary crashes', crash);
    await primary.stop('KILL');
    await standby.restart();
    await promote();

    way.cutAll();
    await releases();
    await Promise.all(ends.map((end) => end()));

    assert.equal(await report(), 0, 'released keys without a row on the new primary');
    for (const { name, cuts } of phases) assert.ok(cuts > 0, `${name}: ${cuts}`);
    await checkBooks(queryPostgres(standby, DATABASE), load);
  });
});
