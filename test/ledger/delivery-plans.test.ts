/** A box is read by its indexes in SQLite, however many copies have left it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { COPY_PAGE, HELD } from '../../src/ledger/sqlite/deliveries.ts';

describe('a box in SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'phm-boxes-'));
  const path = join(directory, 'phm.db');
  let database: DatabaseSync;

  before(async () => {
    await openSqliteStore({ path, quotas: {} }).close();
    database = new DatabaseSync(path);
  });
  after(() => {
    database.close();
    rmSync(directory, { recursive: true });
  });

  for (const [what, sql, index] of [
    ['is read in the order of its keys', COPY_PAGE, 'delivery_copies_box'],
    ['is counted from an index alone', HELD, 'COVERING INDEX delivery_copies_until'],
  ] as const) {
    it(what, () => {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      const text = plan.map(({ detail }) => detail).join('\n');
      assert.match(text, new RegExp(`^SEARCH delivery_copies USING .*${index}`));
      assert.doesNotMatch(text, /SCAN|TEMP B-TREE/);
    });
  }
});
