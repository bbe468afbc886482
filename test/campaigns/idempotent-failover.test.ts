/**
 * PostgreSQL fails over to a synchronous standby among calls with an `Idempotency-Key` on two servers. The standby has
 * the records of all answered calls, so no repeat makes a second key. 15 s; needs pg_basebackup.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newLogKeysText } from '../../src/log/index.ts';
import { type AuditedSite, IdempotentAudit } from '../support/clients/idempotent-audit.ts';
import { IdempotentClients, mixedCalls } from '../support/clients/idempotent-calls.ts';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { crashSeed } from '../support/faults/crashes.ts';
import { type Account, addAccounts } from '../support/ledgers/books.ts';
import { findInstalled, noPostgres, Postgres } from '../support/ledgers/postgres.ts';
import { WayToServer } from '../support/ledgers/way.ts';
import { sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import {
  type Environment,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const DATABASE = 'replicated';
const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup']);
const CLIENTS = 12;
const CALLS = sized({ sample: 120, full: 400 });

/** Number of outcomes at which the primary fails. */
const FAILS_AT = sized({ sample: 50, full: 150 });

describe('a failover among idempotent calls', {
  skip:
    noPostgres || (!PROGRAMS && 'pg_basebackup of PostgreSQL 15 or newer is not installed here'),
}, () => {
  const folders = [makeDataDir(), makeDataDir()];
  const servers: Server[] = [];
  let env: Environment;
  let account: Account;
  let primary: Postgres;
  let standby: Postgres;
  let way: WayToServer;

  before(async () => {
    primary = await Postgres.start(PROGRAMS ?? '', ['synchronous_standby_names=one']);
    standby = await primary.startStandby('one');
    const url = await primary.createLedger(DATABASE);
    [account] = (await addAccounts({ kind: 'postgres', url }, ['enterprise'])) as [Account];
    way = await WayToServer.start(primary.port);
    env = {
      PHM_DATABASE_URL: primary.url(DATABASE, way.port),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_LOG_KEY: newLogKeysText('failover.example/log'),
      PHM_LOG_INTERVAL_MS: '100',
      PHM_RATE_LIMITS: 'off',
    };
    for (const folder of folders) servers.push(await Server.start(folder, env));
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    way?.close();
    for (const postgres of [standby, primary]) await postgres?.remove();
    folders.forEach(removeDataDir);
  });

  async function failOver(): Promise<void> {
    await primary.stop('KILL');
    way.cutAll();
    await standby.query('postgres', 'SELECT pg_promote()');
    way.serverPort = standby.port;
  }

  it('makes no second key', async (test) => {
    const addresses = servers.map(({ address }) => address);
    const clients = new IdempotentClients(account.apiKey, () => addresses);
    const done = clients.run(await mixedCalls(CALLS, seededRandom(crashSeed(test)), 0), CLIENTS);
    await until('calls have outcomes', () => clients.outcomes.length >= FAILS_AT);
    await failOver();
    await done;

    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runPhm(args, folders[0] ?? '', env);
      assert.equal(code, 0, `phm ${args.join(' ')}: ${stdout}${stderr}`);
    };
    // Every log stops after a promotion until an operator has looked.
    for (const server of servers) await server.logged('the transparency log has stopped');
    await run('log', 'recover', '--accept');
    for (const server of servers) await server.logged('the transparency log runs again');
    const site: AuditedSite = {
      apiKey: account.apiKey,
      execute: (sql) => standby.query(DATABASE, sql),
      run,
    };
    const figures = await new IdempotentAudit(site, servers, clients).run(CALLS);
    test.diagnostic(`${clients.unanswered} requests unanswered; ${JSON.stringify(figures)}`);
  });
});
