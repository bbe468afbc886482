import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  isNewerSchema,
  type Migration,
  oldestProgram,
  readMigrations,
} from '../../src/ledger/migrations.ts';

/** From this version on, each migration names the oldest programs that can work with its schema. */
const FIRST = 6;

const migration = (version: number, oldest?: number): Migration => ({
  version,
  sql: `${oldest === undefined ? '' : `-- oldest-program: ${oldest}\n`}SELECT 1;`,
});

describe('migrations', () => {
  it('contain the PostgreSQL quota decision in the file that quota-decision.ts names', () => {
    const folder = new URL('../../src/ledger/migrations/postgres/', import.meta.url);
    const deciding = readdirSync(folder).filter((file) =>
      readFileSync(new URL(file, folder), 'utf8').includes('CREATE FUNCTION write_batch'),
    );
    const source = new URL('../../src/ledger/quota-decision.ts', import.meta.url);
    const named = /`(\d{4}-[a-z-]+\.sql)`/.exec(readFileSync(source, 'utf8'))?.[1];
    assert.equal(named, deciding.sort().at(-1));
  });

  for (const store of ['postgres', 'sqlite'] as const) {
    it(`name the oldest program that works with their schema: ${store}`, () => {
      const migrations = readMigrations(store).filter(({ version }) => version >= FIRST);
      assert.equal(migrations[0]?.version, FIRST);
      for (const { version, sql } of migrations) {
        const named = /^-- oldest-program: (\d+)\n/.exec(sql)?.[1];
        assert.ok(named, `the first line of ${store} ${version} is "-- oldest-program: <version>"`);
        assert.ok(Number(named) >= FIRST && Number(named) <= version, `${store} ${version}`);
      }
    });
  }

  it('need the newest program that any of them names, or their own version if unnamed', () => {
    const chain = [migration(5), migration(6, 6), migration(7, 7), migration(8, 6), migration(9)];
    const needed = chain.map(({ version }) => oldestProgram(chain, version));
    assert.deepEqual(needed, [null, 6, 7, 7, 9]);
  });

  it('of a newer release accept the programs they name and refuse older ones', () => {
    const judge = (version: number, oldest: number | null) =>
      isNewerSchema('the database', { version, oldestProgram: oldest }, 6);
    assert.deepEqual(
      [judge(5, null), judge(6, 6), judge(9, 5), judge(9, 6)],
      [false, false, true, true],
    );
    assert.throws(() => judge(9, 7), {
      name: 'SetupError',
      message:
        "the database has schema version 9, newer than this program's 6, and needs programs of version 7; " +
        'start the newer release instead',
    });
    assert.throws(() => judge(9, null), {
      name: 'SetupError',
      message: /newer than this program's 6; start/,
    });
  });
});
