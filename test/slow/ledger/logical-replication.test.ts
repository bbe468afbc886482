/** A subscriber of a PostgreSQL ledger takes over. About 10 s. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { migratePostgres, openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { keyRequest, QUOTAS } from '../../ledger/contract.ts';
import {
  assertSameRecords,
  assertSameStates,
  assertSameStore,
  assertSealed,
  fillRecords,
  fillSealed,
  fillStates,
  fillStore,
} from '../../ledger/filled-store.ts';
import { auditRecord, logStart, turnOf } from '../../ledger/log-contract.ts';
import { noPostgres, Postgres } from '../../support/ledgers/postgres.ts';

let postgres: Postgres;
before(async () => {
  if (!noPostgres) postgres = await Postgres.start(undefined, ['wal_level=logical']);
});
after(() => postgres?.remove());

describe('a PostgreSQL ledger with a publication of all tables', { skip: noPostgres }, () => {
  it('is followed by a subscriber, which works when it is promoted', async () => {
    const url = await postgres.createDatabase('published');
    await migratePostgres(url);
    const copy = await postgres.createDatabase('subscribed');
    await migratePostgres(copy);
    // The subscriber has its own rows of these, and needs the months of the rows.
    await postgres.query('subscribed', 'TRUNCATE schema_version, idempotency_slots');
    const months = 'SELECT ensure_ledger_partition(1000 * extract(epoch FROM month)::bigint)';
    const since = "generate_series(timestamp '2026-09-01', now(), interval '1 month') AS month";
    await postgres.query('subscribed', `${months} FROM ${since}`);
    await postgres.query(
      'published',
      'CREATE PUBLICATION everything FOR ALL TABLES WITH (publish_via_partition_root = true)',
    );
    await postgres.query(
      'published',
      "SELECT pg_create_logical_replication_slot('copy', 'pgoutput')",
    );
    await postgres.query(
      'subscribed',
      `CREATE SUBSCRIPTION copy CONNECTION '${url}' PUBLICATION everything
       WITH (create_slot = false, slot_name = copy)`,
    );
    const store = await openPostgresStore({ url, quotas: QUOTAS });
    const filled = await fillStore(store, 30);
    const sealed = await fillSealed(store);
    const records = await fillRecords(store);
    await fillStates(store);
    const log = await store.startLog(logStart('a'));
    await store.addAudit(auditRecord(log.logId));
    await store.takeTurn(turnOf(log.logId));
    const [end] = await postgres.query('published', 'SELECT pg_current_wal_lsn() AS lsn');
    const synced = `SELECT FROM pg_stat_subscription WHERE latest_end_lsn >= '${end?.lsn}'
      AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r')`;
    while ((await postgres.query('subscribed', synced)).length === 0);
    await postgres.query(
      'subscribed',
      'ALTER SUBSCRIPTION copy DISABLE; ALTER SUBSCRIPTION copy SET (slot_name = NONE)',
    );
    await postgres.query('subscribed', 'DROP SUBSCRIPTION copy');
    const promoted = await openPostgresStore({ url: copy, quotas: QUOTAS });
    await assertSameStates(store, promoted);
    await assertSameRecords(store, promoted, records);
    await assertSealed(promoted, sealed);
    await assertSameStore(store, promoted, filled);
    const [outcome] = await promoted.commit([keyRequest('acct_a')], []);
    assert.equal(outcome?.kind, 'committed');
    await Promise.all([store.close(), promoted.close()]);
  });
});
