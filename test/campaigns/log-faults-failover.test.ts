/**
 * PostgreSQL goes back to an earlier state, as after a restore or a failover to a standby that lacks commits: all
 * servers stop their logs, keys are generated, and nothing forks. It makes no difference how old their state files are.
 */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LogSite } from '../support/ledgers/log-site.ts';
import { LogWatch, readText } from '../support/ledgers/log-watch.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import type { Server } from '../support/servers/server.ts';

const SERVERS = 3;
const CLIENTS = 2;

/** Time under load. */
const LOAD_MS = sized({ sample: 300, full: 1_500 });

/** Counts the entries of the log with those that wait for a turn. */
const ENTRIES = `SELECT ((SELECT count(*) FROM log_entries) + (SELECT count(*) FROM log_pending))::integer AS entries`;

describe('a failover that loses commits below three servers', { skip: noPostgres }, () => {
  let site: LogSite;
  const watch = new LogWatch();
  before(async () => {
    site = await LogSite.postgres(SERVERS);
  });
  after(() => site.remove());

  async function startAll(): Promise<Server[]> {
    return Promise.all(Array.from({ length: SERVERS }, (_, i) => site.start(i)));
  }

  /** Lets clients use and watchers read all servers for a while. */
  async function underLoad(servers: readonly Server[], work: () => Promise<void>): Promise<void> {
    const ends = servers.flatMap((server) => [
      watch.follow(server),
      watch.load(server, site.apiKey, CLIENTS),
    ]);
    await work();
    await Promise.all(ends.map((end) => end()));
  }

  it('stops every log and forks none', async (test) => {
    const first = await site.start();
    await watch.pin(first);
    await underLoad([first], () => delay(LOAD_MS));
    await first.stop();
    await site.backUp();
    const known = watch.kept.length;

    const servers = await startAll();
    await underLoad(servers, () => delay(LOAD_MS));
    // An entry that a server publishes only after the copy would be lost to it.
    const rest = async () => {
      const [log] = await site.execute(ENTRIES);
      const notes = await Promise.all(servers.map((server) => readText(server, '/log/checkpoint')));
      return notes.filter((note) => Number(note.split('\n')[1]) !== log?.entries);
    };
    await until('all servers have published every entry', async () => (await rest()).length === 0);
    const copy = join(site.folder, 'copy');
    const state = join(site.folder, 'monitor');
    await site.run('log', 'check', `${servers[0]?.address}/log`, '--copy', copy, '--state', state);
    const lost = new Set(watch.kept.slice(known).map(({ keyId }) => keyId));

    await site.failOver();
    await underLoad(servers, async () => {
      await Promise.all(servers.map((server) => server.logged('the transparency log has stopped')));
      await delay(LOAD_MS);
    });
    await Promise.all(servers.map((server) => server.stop()));
    const afterwards = watch.kept.length - known - lost.size;
    assert.ok(afterwards > 0, 'keys are generated while the log has stopped');

    await site.run('log', 'recover', '--from', copy);
    const recovered = await startAll();
    const figures = await watch.audit(recovered[0] as Server, site.apiKey, lost);
    await Promise.all(recovered.map((server) => server.stop()));
    test.diagnostic(
      `${figures.checkpoints} checkpoints, ${figures.pairs} pairs consistent, ${lost.size} keys lost their row, ` +
        `${afterwards} were generated while the log had stopped, ${figures.size} entries`,
    );
  });

  it('stops a server that was off, once it has the newest state file', async () => {
    const [one, other] = [await site.start(0), await site.start(1)];
    await other.stop();
    await one.stop();
    await site.backUp();
    const again = await site.start(0);
    await watch.generate(again, site.apiKey, true);
    await again.stop();
    await site.restore();
    // docs/receipts.md, "Restore": its own file is older than what the database lost.
    copyFileSync(site.stateFile(0), site.stateFile(1));
    const back = await site.start(1);
    await back.logged('the transparency log has stopped');
    await back.stop();
  });
});

describe('a restore that only the state file of another server shows', { skip: noPostgres }, () => {
  let site: LogSite;
  const watch = new LogWatch();
  before(async () => {
    site = await LogSite.postgres(2);
  });
  after(() => site.remove());

  async function generate(server: Server): Promise<void> {
    for (let i = 0; i < 5; i++) await watch.generate(server, site.apiKey, true);
  }

  it('stops the log until an operator has brought that file', async () => {
    const [a, b] = [await site.start(0), await site.start(1)];
    await watch.pin(a);
    await generate(a);
    await b.stop();
    await a.stop();
    await site.backUp();
    const copy = join(site.folder, 'copy');
    const again = await site.start(0);
    await generate(again);
    const lost = new Set(watch.kept.slice(5).map(({ keyId }) => keyId));
    const monitor = join(site.folder, 'monitor');
    await site.run('log', 'check', `${again.address}/log`, '--copy', copy, '--state', monitor);
    await again.stop();
    await site.restore();

    const alone = await site.start(1);
    await alone.logged('the transparency log has stopped');
    await generate(alone);
    assert.match(alone.log, /was restored or promoted/);
    assert.deepEqual(
      watch.kept.slice(10).map(({ receipt }) => receipt),
      Array(5).fill(null),
    );
    copyFileSync(site.stateFile(0), site.stateFile(1));
    const accepted = await site.phm(['log', 'recover', '--accept'], 1);
    assert.equal(accepted.code, 1, 'the newest state file shows what is missing');
    const recovered = await site.phm(['log', 'recover', '--from', copy], 1);
    assert.equal(recovered.code, 0, recovered.stderr);
    await alone.logged('the transparency log runs again');
    await watch.audit(alone, site.apiKey, lost);
  });

  it('continues on all servers once one has accepted a database that lacks nothing', async () => {
    const servers = [await site.start(0)];
    await site.execute("UPDATE logs SET home = 'elsewhere'");
    for (const server of servers) await server.logged('the transparency log has stopped');
    const { code, stderr } = await site.phm(['log', 'recover', '--accept'], 1);
    assert.equal(code, 0, stderr);
    for (const server of servers) await server.logged('the transparency log runs again');
  });
});
