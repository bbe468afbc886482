import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { changelogHead } from '../../scripts/release/version.ts';
import {
  baselineVersion,
  isNewerSchema,
  type Migration,
  missingMigrations,
  oldestProgram,
  readMigrations,
} from '../../src/ledger/migrations.ts';
import { COMMIT_BATCH } from '../../src/ledger/postgres/writer.ts';
import { ROOT } from '../support/texts/imports.ts';

/** The oldest program that a baseline names. Later migrations name none before the baseline: those were never released. */
const FIRST = 11;

const FOLDER = new URL('../../src/ledger/migrations/', import.meta.url);

/**
 * The digests of migrations that were released. A ledger somewhere has run them, so they never change. Each release adds its
 * own.
 */
const RELEASED: Readonly<Record<string, string>> = {
  'postgres/0014-baseline.sql': '0c29791a79c36b25aba407becde522c7b0b53af72ed3b1103eb24a52c68dde00',
  'sqlite/0014-baseline.sql': 'e62eadcc19d41764bc6f4d3668b5fa679b6b6c5f810e8142170167aeb29c70c6',
};

const migration = (version: number, oldest?: number): Migration => ({
  version,
  sql: `${oldest === undefined ? '' : `-- oldest-program: ${oldest}\n`}SELECT 1;`,
});

describe('migrations', () => {
  it('define the function that commits a batch in PostgreSQL, which calls its own write_batch', () => {
    const sql = readMigrations('postgres')
      .map((one) => one.sql)
      .join('\n');
    const bodies = new Map(
      [...sql.matchAll(/^CREATE FUNCTION commit_batch_(\d+)\([\s\S]*?^END \$\$;/gm)].map(
        ([body, number]) => [Number(number), body],
      ),
    );
    const newest = Math.max(...bodies.keys());
    assert.equal(COMMIT_BATCH, `commit_batch_${newest}`, 'the writer calls the newest');
    for (const [number, body] of bodies) {
      const called = new Set(body.match(/write_batch_\d+/g));
      assert.deepEqual([...called], [`write_batch_${number}`], `commit_batch_${number}`);
    }
  });

  it('never change once they are released, and a release adds its own', () => {
    const digests = Object.keys(RELEASED).map((file) => {
      const bytes = readFileSync(new URL(file, FOLDER));
      return [file, createHash('sha256').update(bytes).digest('hex')];
    });
    assert.deepEqual(Object.fromEntries(digests), RELEASED);
    const { date } = changelogHead(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
    if (date === undefined) return;
    const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(all.filter((file) => file.endsWith('.sql')).sort(), Object.keys(RELEASED));
  });

  it('are missing in a new database and after their baseline, and never before it', () => {
    const chain = [migration(7, 7), migration(8), migration(9)];
    const missing = (version: number) =>
      missingMigrations('the database', version, chain).map((one) => one.version);
    assert.deepEqual([0, 7, 8, 9, 10].map(missing), [[7, 8, 9], [8, 9], [9], [], []]);
    for (const version of [1, 6]) {
      assert.throws(() => missing(version), {
        name: 'SetupError',
        message:
          `the database has schema version ${version}, and the migrations of this program begin at 7. Make a backup, and bring ` +
          'it to version 7 with the checkout of the tag before-baseline: docs/ledger.md, "Schemas before version 7"',
      });
    }
  });

  it('have the same versions in both stores, so that a column names one for both', () => {
    const [one, other] = (['postgres', 'sqlite'] as const).map((store) =>
      readMigrations(store).map(({ version }) => version),
    );
    assert.deepEqual(one, other);
  });

  for (const store of ['postgres', 'sqlite'] as const) {
    it(`name the oldest program that works with their schema: ${store}`, () => {
      const migrations = readMigrations(store);
      const baseline = baselineVersion(migrations);
      for (const { version, sql } of migrations) {
        const first = version === baseline ? FIRST : baseline;
        const named = /^-- oldest-program: (\d+)\n/.exec(sql)?.[1];
        assert.ok(named, `the first line of ${store} ${version} is "-- oldest-program: <version>"`);
        assert.ok(Number(named) >= first && Number(named) <= version, `${store} ${version}`);
      }
    });
  }

  it('need the newest program that any of them names, or their own version if unnamed', () => {
    const chain = [migration(6, 6), migration(7, 7), migration(8, 6), migration(9)];
    const needed = chain.map((_, i) => oldestProgram(chain.slice(0, i + 1)));
    assert.deepEqual(needed, [6, 7, 7, 9]);
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
