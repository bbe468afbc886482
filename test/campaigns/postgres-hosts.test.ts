/**
 * Two PostgreSQL servers behind one address, two servers of the service under load, and a promotion: what the runbook
 * "Failover of PostgreSQL" says, step by step. 35 s; needs pg_basebackup and pg_rewind.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Postgres } from '../support/ledgers/postgres.ts';
import { DATABASE, noPair, Pair, promote, waitFor } from '../support/ledgers/postgres-pair.ts';
import { fullOnly } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';

const LOAD_MS = 1_000;

describe('two database servers behind one address', { skip: noPair }, () => {
  let pair: Pair;
  before(async () => {
    pair = await Pair.start();
  });
  after(() => pair?.remove());

  /** The keys that the asynchronous failover lost. */
  let lost: string[] = [];

  function report(test: TestContext, text: string): void {
    test.diagnostic(`${pair.answered.length} keys answered, ${pair.refused} requests not; ${text}`);
  }

  /** Waits for both servers, since the last promotion. */
  async function loggedAgain(text: string, times: number): Promise<void> {
    await until(`both servers log "${text}"`, () =>
      pair.servers.every(({ log }) => log.split(text).length > times),
    );
  }

  it('lose no answered key with synchronous replication, though the old primary still runs', async (test) => {
    await waitFor(pair.first, 'node_b');
    const end = pair.load();
    await delay(LOAD_MS);
    await promote(pair.second);
    const ms = await pair.untilAnswered();
    await delay(LOAD_MS);
    await end();
    assert.deepEqual(await pair.missing(pair.second), []);
    for (const { log } of pair.servers)
      assert.match(log, /the ledger uses another database server/);
    report(test, `again ${Math.round(ms)} ms after the promotion, none lost`);
  });

  it('let the log continue once an operator has accepted the promotion', async () => {
    await loggedAgain('the transparency log has stopped', 1);
    // Keys since the promotion wait beside the published entries.
    assert.ok((await pair.missingEntries(pair.second)) <= 0);
    await pair.run('log', 'recover', '--accept');
    await loggedAgain('the transparency log runs again', 1);
    await pair.run('ledger', 'verify');
  });

  it('change roles by a planned switchover', { skip: fullOnly }, async (test) => {
    await pair.first.stop('INT');
    await pair.first.follow(pair.second, 'node_a');
    await waitFor(pair.second, 'node_a');
    const end = pair.load();
    await delay(LOAD_MS);
    // A fast shutdown sends all of the log to the standby.
    await pair.second.stop('INT');
    await waitFor(pair.first, '');
    await promote(pair.first);
    const ms = await pair.untilAnswered();
    await end();
    assert.deepEqual(await pair.missing(pair.first), []);
    await loggedAgain('the transparency log has stopped', 2);
    await pair.run('log', 'recover', '--accept');
    await loggedAgain('the transparency log runs again', 2);
    report(test, `again ${Math.round(ms)} ms after the switchover, none lost`);
  });

  it('lose keys with asynchronous replication, which the state files show', {
    skip: fullOnly,
  }, async (test) => {
    await pair.second.follow(pair.first, 'node_b');
    await waitFor(pair.first, 'node_b');
    await waitFor(pair.first, '');
    const old = join(pair.folder, 'monitor-copy');
    const log = `${pair.servers[0]?.address}/log`;
    await pair.run('log', 'check', log, '--copy', old, '--state', join(pair.folder, 'monitor'));
    const end = pair.load();
    await delay(LOAD_MS);
    // The standby falls behind, unnoticed by the service.
    await pair.second.query('postgres', "ALTER SYSTEM SET primary_conninfo = ''");
    await pair.second.query('postgres', 'SELECT pg_reload_conf()');
    await delay(LOAD_MS);
    await end();
    await until('all entries are published', async () => {
      return (await pair.missingEntries(pair.first)) === 0;
    });
    await pair.first.stop('KILL');
    await waitFor(pair.second, '');
    await promote(pair.second);
    lost = await pair.missing(pair.second);
    assert.ok(lost.length > 0);
    await loggedAgain('the transparency log has stopped', 3);
    assert.equal(await pair.missingEntries(pair.second), lost.length);
    // The largest figure counts. It includes entries that wait in the database.
    const figures = pair.servers.flatMap(({ log }) => [
      ...log.matchAll(/were published: (\d+) are missing/g),
    ]);
    assert.ok(Math.max(...figures.map(([, n]) => Number(n))) >= lost.length);
    assert.match((await pair.phm('doctor')).stdout, /were published: \d+ are missing/);
    assert.match(await pair.run('log', 'show'), /lacks \d+ published entr/);
    const accepted = await pair.phm('log', 'recover', '--accept');
    assert.equal(accepted.code, 1, accepted.stdout);
    const refused = await pair.phm('log', 'recover', '--from', old);
    assert.match(
      refused.stderr,
      /use a newer copy/,
      'the copy of a monitor is older than the state file',
    );
    await pair.first.restart();
    const copy = join(pair.folder, 'copy');
    const copied = await pair.phmOn(pair.first, 'log', 'copy', copy);
    assert.equal(copied.code, 0, copied.stderr);
    await pair.first.stop('INT');
    await pair.run('log', 'recover', '--from', copy);
    await loggedAgain('the transparency log runs again', 3);
    await pair.run('ledger', 'verify');
    report(test, `${lost.length} of them lost, as many as the state files have entries more`);
  });

  it('record nothing on the old primary when it comes back', { skip: fullOnly }, async (test) => {
    await pair.first.restart();
    // What only the old primary has.
    const [kept, gone] = [await pair.keyIds(pair.second), await pair.keyIds(pair.first)];
    assert.ok(lost.every((id) => gone.has(id) && !kept.has(id)));
    const { stdout } = await pair.phm('doctor');
    const [oldPort, newPort] = [pair.first.port, pair.second.port];
    const warning = `127.0.0.1:${oldPort} accepts writes on timeline \\d, although 127.0.0.1:${newPort} replaced it`;
    assert.match(stdout, new RegExp(warning));
    const count = async (postgres: Postgres) =>
      (await postgres.query(DATABASE, 'SELECT FROM ledger')).length;
    const [before, earlier] = [await count(pair.first), pair.answered.length];
    const other = await pair.launch(2);
    const end = pair.load();
    await delay(LOAD_MS);
    await end();
    await other.stop();
    await pair.run('export');
    assert.equal(await count(pair.first), before, 'also by a server that starts then');
    const answered = pair.answered.length - earlier;
    assert.ok(answered > 0);
    report(test, `${answered} of them while the old primary ran beside the new one`);
  });
});
