/** Work that needs a lock on the whole ledger waits briefly and retries, and commits continue. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { readMigrations } from '../../../src/ledger/migrations.ts';
import { migratePostgres } from '../../../src/ledger/postgres/store.ts';
import { keyRequest, NOW } from '../../ledger/contract.ts';
import { openPatientStore } from '../../ledger/patient-store.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

let postgres: Databases;
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
});
after(() => postgres?.remove());

/** A store on a ledger that a long transaction reads until `end`. */
async function openHeld(database: string) {
  const url = await postgres.createLedger(database);
  const store = await openPatientStore(url);
  const accountId = 'acct_e';
  await store.addAccount({ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs: NOW });
  const oldest = Date.UTC(2020, 0);
  await postgres.query(database, `SELECT ensure_ledger_partition(${oldest})`);
  const reader = await postgres.connect(database);
  await reader.query('BEGIN; SELECT FROM ledger LIMIT 1');
  return { url, store, accountId, end: () => reader.end() };
}

/** Waits until a session waits for a lock. */
async function whenWaiting(database: string): Promise<void> {
  const waits =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  while ((await postgres.query(database, waits)).length === 0);
}

describe('a PostgreSQL ledger locked by a long transaction', { skip: noPostgres }, () => {
  it('is pruned when the lock is released', async () => {
    const { store, accountId, end } = await openHeld('pruned');
    const pruned = store.prune({ keepMs: 365 * 86_400_000, clock: systemClock, dryRun: false });
    await whenWaiting('pruned');
    assert.equal((await store.commit([keyRequest(accountId)], [])).length, 1);
    await end();
    assert.deepEqual((await pruned).partitions, ['ledger_202001']);
    await store.close();
  });

  it('keeps a month that it cannot remove, and says what to do', async () => {
    const { store, accountId, end } = await openHeld('kept');
    const pruned = store.prune({ keepMs: 365 * 86_400_000, clock: systemClock, dryRun: false });
    await assert.rejects(pruned, { name: 'SetupError', message: /ledger_202001 was not removed/ });
    assert.equal((await store.commit([keyRequest(accountId)], [])).length, 1);
    await end();
    await store.close();
  });

  it('is migrated after a deadlock with a reader of the tables in another order', async () => {
    const { url, store, end } = await openHeld('deadlock');
    const reader = await postgres.connect('deadlock');
    await reader.query("SET deadlock_timeout = '1min'; BEGIN; SELECT FROM rollup_hour");
    const sql = `SET LOCAL deadlock_timeout = '500ms';
      ALTER TABLE rollup_minute ADD COLUMN tomorrow text; ALTER TABLE rollup_hour ADD COLUMN tomorrow text`;
    const migrated = migratePostgres(url, [...readMigrations('postgres'), { version: 900, sql }]);
    await whenWaiting('deadlock');
    await reader.query('SELECT FROM rollup_minute; COMMIT');
    assert.equal((await migrated).to, 900);
    await reader.end();
    await end();
    await store.close();
  });

  it('is migrated when the lock is released', async () => {
    const { url, store, accountId, end } = await openHeld('migrated');
    const sql = 'ALTER TABLE ledger ADD COLUMN tomorrow text';
    const migrated = migratePostgres(url, [...readMigrations('postgres'), { version: 900, sql }]);
    await whenWaiting('migrated');
    assert.equal((await store.commit([keyRequest(accountId)], [])).length, 1);
    await end();
    assert.equal((await migrated).to, 900);
    await store.close();
  });
});
