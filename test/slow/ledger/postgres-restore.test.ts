/**
 * The commands of docs/operations.md that back up and restore PostgreSQL, as they are printed there, from one cluster to a
 * new one that has no role of the service. Debian's programs. 15 s. Expected: every table of the restored database belongs to
 * the service's role, keys of before validate without their proof, new keys are made, and the server makes a month that is missing.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { find, readText } from '../../deploy/files.ts';
import { findInstalled, noPostgres, PASSWORD, Postgres } from '../../support/ledgers/postgres.ts';
import {
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';
import { codeBlocks } from '../../support/texts/markdown.ts';

const bin = findInstalled(['postgres', 'pg_dump', 'pg_restore', 'createdb', 'createuser']);

/** The administrator of test clusters is named phm, so the role of the service has another name here. */
const ROLE = 'phm_service';

describe('a restore of PostgreSQL', {
  skip: noPostgres || (!bin && 'PostgreSQL 15 or newer of Debian is not installed here'),
}, () => {
  const folder = makeDataDir();
  const clusters: Postgres[] = [];
  after(async () => {
    for (const cluster of clusters) await cluster.remove();
    removeDataDir(folder);
  });
  mkdirSync(join(folder, 'backup'));

  const cluster = async () => {
    // Servers of its own: a backup of a whole cluster is restored.
    const started = await Postgres.start(bin ?? '');
    clusters.push(started);
    return started;
  };

  /** Runs a command of the page in a shell without a terminal, which answers prompts with the password. */
  const run = (command: string, { port }: Postgres, more: Record<string, string> = {}) => {
    const adapted = command
      .replace(/ phm( |$)/, ` ${ROLE}$1`)
      .replace(/(--owner=|--role=)phm\b/g, `$1${ROLE}`)
      .replaceAll('/backup/', `${folder}/backup/`);
    const env = {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGUSER: 'phm',
      PGPASSWORD: PASSWORD,
      PGDATABASE: 'postgres',
      ...more,
    };
    const input = `${PASSWORD}\n${PASSWORD}\n`;
    // Without a terminal, the password is read from standard input.
    const result = spawnSync('setsid', ['sh', '-c', adapted], { env, input, encoding: 'utf8' });
    assert.equal(result.status, 0, `${adapted}\n${result.stderr}`);
    return result.stdout;
  };

  it('gives the new database to the role of the servers', async () => {
    const page = find(readText('docs/operations.md'), /### PostgreSQL\n([\s\S]*?)\n## /);
    const blocks = codeBlocks({ path: 'docs/operations.md', text: page });
    const shell = blocks.filter(({ language }) => language === 'sh');
    const lines = shell.flatMap(({ code }) => code.split('\n'));
    const command = (name: string) => {
      const found = lines.find((line) => line.startsWith(`${name} `));
      assert.ok(found, `the page has no ${name}`);
      return found.replace(/ +#.*/, '');
    };
    const url = ({ port }: Postgres, database: string) =>
      `postgres://${ROLE}:${PASSWORD}@127.0.0.1:${port}/${database}`;
    const env = { PHM_MASTER_KEY: '5a'.repeat(32) };

    const old = await cluster();
    run(command('createuser'), old);
    run(command('createdb').replace('phm_restored', 'phm_before'), old);
    const before = { ...env, PHM_DATABASE_URL: url(old, 'phm_before') };
    assert.equal((await runPhm(['migrate'], folder, before)).code, 0);
    const create = ['account', 'create', '--name', 'one', '--plan', 'enterprise'];
    const { account_id } = await phmJson<{ account_id: string }>(create, folder, before);
    const issue = ['api-key', 'issue', '--account', account_id];
    const { api_key } = await phmJson<{ api_key: string }>(issue, folder, before);
    const first = await Server.start(folder, before);
    const { body } = await first.generate({ security_level: 256 }, api_key);
    assert.equal(await first.stop(), 0);
    // A reporting role, which the new cluster lacks.
    await old.query('phm_before', 'CREATE ROLE report; GRANT SELECT ON ledger TO report');
    run(command('pg_dump'), old, { PGDATABASE: 'phm_before', PGUSER: ROLE });

    const fresh = await cluster();
    for (const name of ['createuser', 'createdb', 'pg_restore']) run(command(name), fresh);
    const others = await fresh.query(
      'phm_restored',
      `SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
       WHERE nspname = 'public' AND relowner <> '${ROLE}'::regrole
       UNION ALL SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
       WHERE nspname = 'public' AND proowner <> '${ROLE}'::regrole`,
    );
    assert.deepEqual(others, []);

    const restored = { ...env, PHM_DATABASE_URL: url(fresh, 'phm_restored') };
    // A month that an earlier dump lacks: the server creates it.
    const month = await lastMonth(fresh);
    await fresh.query('phm_restored', `DROP TABLE ledger_${month}`);
    const verified = await runPhm(['ledger', 'verify'], folder, restored);
    assert.equal(verified.code, 0, verified.stderr);
    const second = await Server.start(folder, restored);
    const verdict = await second.validate({ key: body.key }, api_key);
    assert.deepEqual([verdict.status, verdict.body.valid], [200, true]);
    assert.equal((await second.generate({ security_level: 256 }, api_key)).status, 200);
    assert.equal(await second.stop(), 0);
    assert.equal(await lastMonth(fresh), month);
  });
});

/** Returns the last month that has a table. It has no rows, because it lies in the future. */
async function lastMonth(cluster: Postgres): Promise<string> {
  const [row] = await cluster.query(
    'phm_restored',
    `SELECT max(substr(relname, 8)) AS month FROM pg_class WHERE relname ~ '^ledger_[0-9]{6}$'`,
  );
  return String(row?.month);
}
