/**
 * The way back after a migration: this release on a schema from an invented later release, and forward again.
 *
 * The later release is a copy of this one with one more migration, which its own `phm migrate` applies. The
 * test runs twice: the migration names this release as able to work with its schema, or does not.
 *
 * About a minute on two idle cores. Nothing is random. Expected on each store: 3 keys, each valid on both
 * releases.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import {
  type Environment,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Schema changes of the later release beside programs of this one: a column, a table, and on PostgreSQL a
 * function.
 */
const ADDITIONS = {
  sqlite: `ALTER TABLE ledger ADD COLUMN tomorrow TEXT;
    ALTER TABLE accounts ADD COLUMN tomorrow INTEGER NOT NULL DEFAULT 7;
    CREATE TABLE tomorrow (id INTEGER PRIMARY KEY) STRICT;`,
  postgres: `ALTER TABLE ledger ADD COLUMN tomorrow text;
    ALTER TABLE accounts ADD COLUMN tomorrow integer NOT NULL DEFAULT 7;
    CREATE TABLE tomorrow (id integer PRIMARY KEY);
    SELECT make_write_batch_12();
    CREATE FUNCTION tomorrow() RETURNS integer LANGUAGE sql AS 'SELECT 1';`,
} as const;

type Kind = keyof typeof ADDITIONS;

const later = mkdtempSync(join(tmpdir(), 'phm-later-'));
const LATER = join(later, 'src/main.mjs');
cpSync(join(ROOT, 'src'), join(later, 'src'), { recursive: true });
for (const name of readdirSync(ROOT)) {
  if (name !== 'src' && !name.startsWith('.')) symlinkSync(join(ROOT, name), join(later, name));
}

/** Adds the migration `version` to the later release. */
function addMigration(version: number, oldestProgram: number, kind: Kind, sql: string): void {
  const file = join(later, 'src/ledger/migrations', kind, `${version}-later.sql`);
  writeFileSync(file, `-- oldest-program: ${oldestProgram}\n${sql}\n`);
}

after(() => rmSync(later, { recursive: true, force: true }));

interface Store {
  readonly kind: Kind;
  readonly dataDir: string;
  readonly env: Environment;
}

interface ReleasedKey {
  readonly key: string;
  readonly proof: string;
}

async function releaseKey(
  server: Server,
  apiKey: string,
  withEvidence = false,
): Promise<ReleasedKey> {
  const order = { security_level: 256, enable_nist_validation: withEvidence };
  const { status, body } = await server.generate(order, apiKey);
  assert.equal(status, 200);
  return { key: body.key, proof: body.hash_proof };
}

/** Checks that each key is known, by its row alone and by its proof. */
async function assertKnown(
  server: Server,
  apiKey: string,
  keys: readonly ReleasedKey[],
): Promise<void> {
  for (const { key, proof } of keys) {
    for (const body of [{ key }, { key, hash_proof: proof }]) {
      assert.equal((await server.validate(body, apiKey)).body.valid, true);
    }
  }
}

/** Creates a ledger of this release, with an account and a key. */
async function fill({ dataDir, env }: Store): Promise<{ apiKey: string; keys: ReleasedKey[] }> {
  const server = await Server.start(dataDir, { ...env, PHM_MIGRATE: 'auto' });
  const create = ['account', 'create', '--name', 'r', '--plan', 'enterprise'];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir, env);
  const issue = ['api-key', 'issue', '--account', account_id];
  const { api_key: apiKey } = await phmJson<{ api_key: string }>(issue, dataDir, env);
  const keys = [await releaseKey(server, apiKey)];
  assert.equal(await server.stop(), 0);
  return { apiKey, keys };
}

/** Checks that this release serves on the newer schema and generates a plain key and one with evidence. */
async function serveBack(
  { dataDir, env }: Store,
  migrate: 'auto' | 'off',
  apiKey: string,
  keys: readonly ReleasedKey[],
): Promise<ReleasedKey[]> {
  const server = await Server.start(dataDir, { ...env, PHM_MIGRATE: migrate });
  try {
    await server.logged('a newer release has brought the schema to version 9000');
    assert.ok(!server.log.includes('the upkeep of the ledger failed'), server.log);
    await assertKnown(server, apiKey, keys);
    const made = [await releaseKey(server, apiKey), await releaseKey(server, apiKey, true)];
    await assertKnown(server, apiKey, made);
    const { metrics } = (await server.metrics('', apiKey)).body;
    assert.equal(metrics.performance.total_keys_generated, keys.length + made.length);
    for (const path of ['/series', '/randomness']) {
      assert.equal((await server.metrics(path, apiKey)).status, 200, path);
    }
    return made;
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

/** Checks that the commands of this release work, and that only export is refused. */
async function runCommands({ kind, dataDir, env }: Store): Promise<void> {
  const program = readdirSync(join(ROOT, 'src/ledger/migrations', kind))
    .sort()
    .at(-1);
  assert.deepEqual(await phmJson(['migrate'], dataDir, env), {
    store: kind,
    from: 9000,
    to: 9000,
    program: Number(program?.slice(0, 4)),
  });
  const commands = [
    ['migrate'],
    ['account', 'list'],
    ['account', 'create', '--name', 'back', '--plan', 'research'],
    ['secret', 'list'],
    ['ledger', 'prune', '--older-than', '400', '--dry-run'],
    ['ledger', 'prune', '--older-than', '400'],
    ...(kind === 'sqlite' ? [['ledger', 'backup', join(dataDir, 'copy.db')]] : []),
  ];
  for (const args of commands) {
    const { code, stderr } = await runPhm(args, dataDir, env);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }
  const exported = await runPhm(['export', join(dataDir, 'out.ndjson')], dataDir, env);
  assert.equal(exported.code, 1);
  assert.match(exported.stderr, /schema version 9000, .*; export with the newer release\n$/);
}

/** Checks that the later release changes no older schema but by a migration, and says how. */
async function refusesOlder({ kind, dataDir, env }: Store): Promise<void> {
  const listed = await runPhm(['account', 'list'], dataDir, env, LATER);
  assert.equal(listed.code, 1);
  assert.match(
    listed.stderr,
    /has schema version \d\d, and this program needs (version )?9000\. .*, or run: .* migrate\n$/,
  );
  const { stdout } = await runPhm(['doctor', '--json'], dataDir, env, LATER);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
  const found = checks.find(({ name }) => name === 'schema');
  assert.equal(found?.status, kind === 'sqlite' ? 'warning' : 'failed');
  assert.match(JSON.stringify(found), /the schema has version \d\d, .* needs version 9000/);
}

async function goBackAndForth(store: Store): Promise<void> {
  const { kind, dataDir, env } = store;
  const migrateLater = () => runPhm(['migrate'], dataDir, env, LATER);
  const { apiKey, keys } = await fill(store);
  addMigration(9000, 6, kind, ADDITIONS[kind]);
  await refusesOlder(store);
  assert.match((await migrateLater()).stderr, /to 9000\.\n$/);
  keys.push(...(await serveBack(store, 'off', apiKey, keys)));
  await runCommands(store);
  const again = await Server.start(dataDir, { ...env, PHM_MIGRATE: 'auto' });
  assert.equal(await again.stop(), 0);
  const forward = await Server.start(dataDir, env, 'pipe', LATER);
  await assertKnown(forward, apiKey, keys);
  assert.equal(await forward.stop(), 0);
  addMigration(9001, 9001, kind, 'DROP TABLE tomorrow;');
  assert.match((await migrateLater()).stderr, /to 9001\.\n$/);
  for (const args of [['serve'], ['account', 'list'], ['migrate']]) {
    const { code, stderr } = await runPhm(args, dataDir, { ...env, PHM_MIGRATE: 'auto' });
    assert.equal(code, 1, args.join(' '));
    assert.match(
      stderr,
      /has schema version 9001, newer than .*, and needs programs of version 9001; start the newer/,
    );
  }
  const last = await Server.start(dataDir, env, 'pipe', LATER);
  await assertKnown(last, apiKey, keys);
  assert.equal(await last.stop(), 0);
  assert.equal(keys.length, 3);
}

describe('this release after a migration by a later one', () => {
  it('serves on SQLite, rejects what it cannot handle, and lets the later release continue', async () => {
    const dataDir = makeDataDir();
    try {
      await goBackAndForth({ kind: 'sqlite', dataDir, env: { PHM_RATE_LIMITS: 'off' } });
    } finally {
      removeDataDir(dataDir);
    }
  });

  it('serves on PostgreSQL, rejects what it cannot handle, and lets the later release continue', {
    skip: noPostgres,
  }, async () => {
    const postgres = await sharedPostgres();
    const dataDir = makeDataDir();
    try {
      const PHM_DATABASE_URL = await postgres.createDatabase('rollback');
      const env = { PHM_DATABASE_URL, PHM_MASTER_KEY: '5a'.repeat(32), PHM_RATE_LIMITS: 'off' };
      await goBackAndForth({ kind: 'postgres', dataDir, env });
    } finally {
      removeDataDir(dataDir);
      await postgres.remove();
    }
  });
});
