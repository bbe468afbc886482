/**
 * Real servers and the real command line on PostgreSQL: one ledger, one quota, several servers. 10 s. The
 * ledger's contract on PostgreSQL is in `test/slow/ledger/postgres.test.ts`, a flood of unknown API keys in
 * `test/campaigns/flood.test.ts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertCountsOwnRequests } from '../../support/clients/own-requests.ts';
import { makeAccount } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres, PASSWORD } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import { until } from '../../support/run/until.ts';
import {
  DEMO_KEY,
  type Environment,
  lastReason,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const MASTER_KEY = '5a'.repeat(32);
/** Quota of the professional plan. */
const QUOTA = 100_000;

describe('a server on PostgreSQL', { skip: noPostgres }, () => {
  // Each server has its own folder, because servers need not share one.
  const folders = [makeDataDir(), makeDataDir()] as const;
  const servers: Server[] = [];
  let postgres: Databases;
  let env: Environment;
  let accountId: string;
  let apiKey: string;

  /** The running servers, one per folder. */
  let both: readonly [Server, Server];

  const start = async (dataDir: string, more: Environment = {}) => {
    const server = await Server.start(dataDir, { ...env, ...more });
    servers.push(server);
    return server;
  };

  before(async () => {
    postgres = await sharedPostgres();
    env = {
      PHM_DATABASE_URL: await postgres.createDatabase('service'),
      PHM_MASTER_KEY: MASTER_KEY,
      PHM_RATE_LIMITS: 'off',
    };
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await postgres.remove();
    folders.forEach(removeDataDir);
  });

  it('rejects an empty database unless PHM_MIGRATE=auto; concurrent starts create the schema', async () => {
    const atOnce = { ...env, PHM_START_WAIT_SECONDS: '0' };
    const commands = [['serve'], ['account', 'list']];
    const refusals = commands.map((args) => runPhm(args, folders[0], atOnce));
    const [serve, list] = await Promise.all(refusals);
    assert.deepEqual([serve?.code, list?.code], [1, 1]);
    for (const words of [lastReason(serve?.stderr ?? ''), list?.stderr ?? '']) {
      assert.match(words, /no ledger yet.*PHM_MIGRATE=auto, or run: .* migrate$/m);
    }
    const auto = { PHM_MIGRATE: 'auto' };
    both = await Promise.all([start(folders[0], auto), start(folders[1], auto)]);
    const done = await phmJson(['migrate'], folders[0], env);
    assert.deepEqual(done.from, done.to);
    assert.equal(done.store, 'postgres');
    const create = ['account', 'create', '--name', 'pg', '--plan', 'professional'];
    // The address names the store, so no master secret is needed here, and no password is shown.
    const created = await runPhm([...create, '--json'], folders[0], env);
    assert.match(created.stderr, /^Ledger: PostgreSQL, database \w*service on 127\.0\.0\.1:\d+\n$/);
    accountId = JSON.parse(created.stdout).account_id;
    const issue = ['api-key', 'issue', '--account', accountId];
    apiKey = (await phmJson<{ api_key: string }>(issue, folders[0], env)).api_key;
  });

  it('generates, validates and counts, across a restart and with a second server', async () => {
    const [first, second] = both;
    const generated = await first.generate({ security_level: 256 }, apiKey);
    assert.equal(generated.status, 200);
    const { key } = generated.body;
    assert.equal((await first.validate({ key }, apiKey)).body.valid, true);
    assert.equal((await first.generate({ security_level: 256 }, DEMO_KEY)).status, 401);
    assert.equal(await first.stop(), 0);

    both = [await start(folders[0]), second];
    for (const server of both) {
      const { metrics } = (await server.metrics('', apiKey)).body;
      assert.equal(metrics.performance.total_keys_generated, 1);
      assert.equal(metrics.usage.total_usage, 2);
    }
    assert.equal((await second.validate({ key }, apiKey)).body.valid, true);
    const foreign = 'ab'.repeat(32);
    assert.equal((await second.validate({ key: foreign }, apiKey)).body.valid, false);
  });

  it('reports the series and the p-values of keys from both servers', async () => {
    const order = { security_level: 256, enable_nist_validation: true };
    for (const server of both) {
      assert.equal((await server.generate(order, apiKey)).status, 200);
    }
    for (const server of both) {
      const { series } = (await server.metrics('/series?hours=1', apiKey)).body;
      const sum = (name: string) =>
        series.points.reduce((all: number, point: Record<string, number>) => all + point[name], 0);
      assert.deepEqual([sum('keys'), sum('streams')], [3, 2]);
      const busy = series.points.filter(({ keys }: { keys: number }) => keys > 0);
      for (const { latency_ms } of busy) assert.ok(latency_ms.p50 > 0 && latency_ms.p99 > 0);
      const { randomness } = (await server.metrics('/randomness?include=p_values', apiKey)).body;
      assert.deepEqual([randomness.keys, randomness.rows.length], [2, 192]);
      assert.ok(randomness.rows[0].p_values.every((p: number) => p >= 0 && p <= 1));
    }
  });

  it('shares the quota exactly between two servers', async () => {
    await postgres.query('service', `UPDATE usage SET used = ${QUOTA - 100}`);
    const [one, other] = both;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        (i % 2 ? one : other).generate({ security_level: 128 }, apiKey),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 200).length, 100);
    assert.equal(answers.filter((answer) => answer.body.code === 'quota_exceeded').length, 100);
    const [usage] = await postgres.query('service', 'SELECT used::integer FROM usage');
    assert.deepEqual(usage, { used: QUOTA });
  });

  it('includes in the metrics of either server every earlier request to any server', async () => {
    const { seen } = await makeAccount({ kind: 'postgres', url: env.PHM_DATABASE_URL ?? '' });
    await assertCountsOwnRequests(both, seen);
  });

  it('refuses a suspended and a deleted account on both servers, and serves a resumed one', async () => {
    const location = { kind: 'postgres', url: env.PHM_DATABASE_URL ?? '' } as const;
    const [account] = (await addAccounts(location, ['enterprise'])) as [Account];
    const { accountId: id, apiKey: key } = account;
    const change = (...args: string[]) => phmJson(['account', ...args], folders[0], env);
    const onBoth = (code: string | undefined, what: string) =>
      Promise.all(
        both.map((server) =>
          until(
            what,
            async () => (await server.generate({ security_level: 128 }, key)).body.code === code,
          ),
        ),
      );
    await onBoth(undefined, 'both serve the account');
    await change('suspend', id, '--reason', 'a test');
    await onBoth('account_suspended', 'both refuse the suspended account');
    await change('resume', id);
    await onBoth(undefined, 'both serve the resumed account');
    await change('delete', id, '--confirm', id);
    await onBoth('invalid_api_key', 'both refuse the deleted account');
  });

  it('shares the limit of an API key, and takes its rotation and its end from the command line', async () => {
    const phm = (...args: string[]) =>
      phmJson<{ api_key: string; api_key_id: string }>(args, folders[0], env);
    const create = ['account', 'create', '--name', 'n', '--plan', 'enterprise'];
    const { account_id: account } = await phmJson<{ account_id: string }>(create, folders[0], env);
    const settings = ['--scope', 'generate', '--monthly-limit', '50'];
    const first = await phm('api-key', 'issue', '--account', account, ...settings);
    const [one, other] = both;
    const generate = (apiKey: string) =>
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? one : other).generate({ security_level: 128 }, apiKey),
      );
    const second = await phm('api-key', 'rotate', first.api_key_id, '--overlap', '1h');
    const answers = await Promise.all([first, second].flatMap(({ api_key: key }) => generate(key)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 50);
    const refused = answers.filter(({ body }) => body.code === 'quota_exceeded');
    assert.equal(refused.length, 30);
    for (const { body } of refused) assert.match(body.detail, /^This API key has used its own/);
    for (const server of both) {
      assert.equal((await server.metrics('', second.api_key)).body.code, 'insufficient_scope');
    }
    const third = await phm('api-key', 'rotate', second.api_key_id, '--overlap', '0');
    for (const server of both) {
      await until('the replaced API key is refused', async () => {
        return (await server.metrics('', second.api_key)).status === 401;
      });
      assert.equal((await server.metrics('', third.api_key)).body.code, 'insufficient_scope');
      const { body } = await server.generate({ security_level: 128 }, third.api_key);
      assert.equal(body.code, 'quota_exceeded');
    }
    await until('the last use is written', async () => {
      const { api_keys: rows } = await phmJson<{ api_keys: { last_used_hour: string | null }[] }>(
        ['api-key', 'list', '--account', account],
        folders[0],
        env,
      );
      return rows.every(({ last_used_hour: hour }) => hour !== null);
    });
  });

  it('never writes the password of the address', async () => {
    const wrong = `${env.PHM_DATABASE_URL}_missing`;
    const failed = await runPhm(['serve'], folders[0], { ...env, PHM_DATABASE_URL: wrong });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /127\.0\.0\.1:\d+\/\w*service_missing/);
    const incomplete = await runPhm(['account', 'list'], folders[0], {
      ...env,
      PHM_DATABASE_URL: `postgres://phm:${PASSWORD}@127.0.0.1`,
    });
    assert.equal(incomplete.code, 2);
    assert.deepEqual(await Promise.all(both.map((server) => server.stop())), [0, 0]);
    const texts = [failed.stderr, incomplete.stderr, ...servers.map(({ log }) => log)];
    for (const text of texts) assert.ok(!text.includes(PASSWORD));
  });

  it('rejects a master secret other than that of the database', async () => {
    const { code, stderr } = await runPhm(['serve'], folders[1], {
      ...env,
      PHM_MASTER_KEY: 'a5'.repeat(32),
    });
    assert.equal(code, 1);
    assert.match(stderr, /master secret is not the one this database was made with/);
  });
});
