/**
 * Servers and commands of this release on ledgers that the migrations before the baseline made: one with the rows of a used
 * service goes on, with its log, and an older one is refused.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Databases } from '../../support/ledgers/databases.ts';
import {
  FIXTURE_SECRET,
  fixtureLogKey,
  LAST_OLD,
  makeOldPostgres,
  makeOldSqlite,
  oldRows,
} from '../../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import {
  type Environment,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

/** Serves the account of the rows: its keys are there, and a new one gets a receipt. */
async function serves(server: Server, dataDir: string, env: Environment): Promise<void> {
  const { accounts } = await phmJson<{ accounts: { account_id: string; name: string }[] }>(
    ['account', 'list'],
    dataDir,
    env,
  );
  const account = accounts.find(({ name }) => name === 'Ada “A”')?.account_id ?? '';
  const issue = ['api-key', 'issue', '--account', account];
  const { api_key } = await phmJson<{ api_key: string }>(issue, dataDir, env);
  const order = { security_level: 256, include: ['receipt'] };
  const { status, body } = await server.generate(order, api_key);
  assert.equal(status, 200);
  assert.ok(body.receipt, 'the log takes in the key');
  const listed = await server.request('/api/v2/keys', { headers: { 'X-API-Key': api_key } });
  const states = listed.body.keys.map((key: { status: string }) => key.status);
  assert.equal(states.length, 13, 'twelve keys of before and this one');
  assert.equal(states.filter((state: string) => state === 'compromised').length, 1);
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a ledger in ${kind} from before the baseline`, {
    skip: kind === 'postgres' && noPostgres,
  }, () => {
    let postgres: Databases | null = null;
    const dataDirs: string[] = [];
    before(async () => {
      if (kind === 'postgres') postgres = await sharedPostgres();
    });
    after(async () => {
      for (const dataDir of dataDirs) removeDataDir(dataDir);
      await postgres?.remove();
    });

    /** Makes a ledger of a version, and returns the variables of its servers. */
    async function make(
      version: number,
      rows = '',
    ): Promise<{ dataDir: string; env: Environment }> {
      const dataDir = makeDataDir();
      dataDirs.push(dataDir);
      writeFileSync(join(dataDir, 'log.key'), fixtureLogKey(kind), { mode: 0o600 });
      const secret = { PHM_MASTER_KEY: FIXTURE_SECRET };
      if (postgres === null) {
        makeOldSqlite(join(dataDir, 'phm.db'), version, { rows });
        return { dataDir, env: secret };
      }
      const name = `version_${version}`;
      const url = await postgres.createDatabase(name);
      await makeOldPostgres(postgres, name, version);
      await postgres.query(name, rows);
      return { dataDir, env: { ...secret, PHM_DATABASE_URL: url } };
    }

    it('goes on with its rows and its log', async () => {
      const { dataDir, env } = await make(LAST_OLD, oldRows(kind));
      const run = async (...args: string[]): Promise<string> => {
        const { code, stdout, stderr } = await runPhm(args, dataDir, env);
        assert.equal(code, 0, `phm ${args.join(' ')}: ${stdout}${stderr}`);
        return stderr;
      };
      assert.match(await run('migrate'), new RegExp(`version ${LAST_OLD}`));
      assert.match(await run('ledger', 'verify'), /13 ledger rows[\s\S]*No problems found\.\n$/);
      // A restore, as far as the log can tell: the state file is missing.
      await run('log', 'recover', '--accept');
      const server = await Server.start(dataDir, env);
      try {
        await serves(server, dataDir, env);
      } finally {
        assert.equal(await server.stop(), 0);
      }
      await run('log', 'check');
      assert.match(await run('ledger', 'verify'), /14 ledger rows[\s\S]*No problems found\.\n$/);
    });

    it('is refused before version 14, by a server too, which does not wait', async () => {
      const { dataDir, env } = await make(LAST_OLD - 1);
      for (const PHM_MIGRATE of ['auto', 'off']) {
        const { code, stderr } = await runPhm(['serve'], dataDir, { ...env, PHM_MIGRATE });
        assert.equal(code, 1);
        assert.match(
          stderr,
          /has schema version 13, and the migrations of this program begin at 14\./,
        );
        assert.match(stderr, /the tag before-baseline: docs\/ledger\.md/);
      }
    });
  });
}
