/** The deferred index of the embedded store, with passes that begin after a few entries. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { type LedgerRow, openSqliteStore } from '../../src/ledger/index.ts';
import { SqliteConnection } from '../../src/ledger/sqlite/connection.ts';
import { findUnindexed } from '../../src/ledger/sqlite/fingerprint-check.ts';
import type { MergeLimits } from '../../src/ledger/sqlite/fingerprints.ts';
import { BUCKETS, packEntries, RecentEntries } from '../../src/ledger/sqlite/recent-entries.ts';
import { SqliteStore } from '../../src/ledger/sqlite/store.ts';
import { guessedRow, keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-fingerprints-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const FEW: MergeLimits = { entries: 7, commits: 5 };
const DAY_MS = 86_400_000;
const clock = { nowMs: () => NOW };

/** A connection that fails or is copied at a chosen statement. */
class StagedConnection extends SqliteConnection {
  /** Called before each statement that changes something. */
  before: (sql: string) => void = () => {};

  override run(...args: Parameters<SqliteConnection['run']>): number {
    this.before(args[0]);
    return super.run(...args);
  }

  override commit(): void {
    this.before('COMMIT');
    super.commit();
  }
}

let files = 0;
const newPath = () => join(directory, `${files++}.db`);

async function openFew(
  path: string,
): Promise<{ store: SqliteStore; connection: StagedConnection }> {
  const connection = new StagedConnection(path);
  const store = new SqliteStore(connection, QUOTAS, FEW);
  const account = { name: 'e', plan: 'enterprise', demo: false, createdMs: NOW };
  await store.addAccount({ accountId: 'acct_e', ...account });
  return { store, connection };
}

const commit = async (store: SqliteStore, rows: readonly LedgerRow[]) => {
  const requests = rows.map((row) => keyRequest('acct_e', row));
  return (await store.commit(requests, [])).map(({ kind }) => kind);
};

const rowsOf = (count: number, atMs = NOW) =>
  Array.from({ length: count }, () => makeRow({ keyId: makeKeyId(atMs), createdMs: atMs }));

async function assertFound(store: SqliteStore, rows: readonly LedgerRow[]): Promise<void> {
  const found = await store.findCommitments(rows.map(({ commitment }) => commitment));
  assert.ok(found.every((atMs) => atMs !== null));
}

function ask(path: string, sql: string): Record<string, unknown> | undefined {
  const database = new DatabaseSync(path);
  const row = database.prepare(sql).get();
  database.close();
  return row;
}

/** Commits a row, and others until passes have merged it and ended. */
async function commitUntilMerged(store: SqliteStore, path: string, row: LedgerRow): Promise<void> {
  await commit(store, [row]);
  const to = Number(ask(path, 'SELECT max(seq) AS seq FROM recent_fingerprints')?.seq);
  const merged = 'SELECT merged FROM fingerprint_merge';
  while (Number(ask(path, merged)?.merged) < to) await commit(store, rowsOf(1));
}

/** Checks that the index has every row, and nothing else. */
function assertIndexed(path: string): void {
  const database = new DatabaseSync(path);
  assert.equal(findUnindexed(database), null);
  database.close();
  const surplus = `SELECT count(*) AS n FROM fingerprints WHERE NOT EXISTS (
    SELECT 1 FROM ledger WHERE ledger.key_id = fingerprints.key_id)`;
  assert.equal(ask(path, surplus)?.n, 0);
}

describe('recent entries', () => {
  it('find what a map by fingerprint finds, also after buckets were emptied', () => {
    // Few buckets and few fingerprints, so that they are shared.
    const fingerprint = fc
      .tuple(fc.constantFrom(0n, -1n, 1n << 62n, -(1n << 63n)), fc.bigInt(0n, 3n))
      .map(([high, low]) => high ^ low);
    const step = fc.oneof(
      fc.array(fingerprint, { maxLength: 40 }).map((all) => ({ all })),
      fc.constantFrom(0, 1_024, 2_048, BUCKETS - 1).map((bucket) => ({ bucket })),
    );
    const bucketOf = (one: bigint) => Number(BigInt.asUintN(64, one) >> 52n);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const entries = new RecentEntries();
        let model: LedgerRow[] = [];
        for (const one of steps) {
          if ('all' in one) {
            const rows = one.all.map((value) => guessedRow(value));
            entries.add(packEntries(rows));
            model.push(...rows);
          } else {
            entries.empty(one.bucket);
            model = model.filter(
              ({ commitment }) => bucketOf(commitment.fingerprint) !== one.bucket,
            );
          }
        }
        assert.equal(entries.count, model.length);
        for (const value of new Set(model.map(({ commitment }) => commitment.fingerprint))) {
          const same = model.filter(({ commitment }) => commitment.fingerprint === value);
          const keyIds = same.map(({ keyId }) => Buffer.from(keyId).toString('hex'));
          const found = entries.find(value).map((keyId) => Buffer.from(keyId).toString('hex'));
          assert.deepEqual(found, keyIds);
        }
        const all = Array.from({ length: BUCKETS }, (_, i) => entries.countOf(i));
        assert.equal(
          all.reduce((sum, count) => sum + count),
          model.length,
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe('the deferred index of a SQLite store', () => {
  it('merges in passes, and finds rows and repeated keys at every moment of them', async () => {
    const path = newPath();
    const { store } = await openFew(path);
    const rows: LedgerRow[] = [];
    const states = new Set<string>();
    for (let i = 0; i < 30; i++) {
      const some = rowsOf(1 + (i % 4));
      assert.deepEqual(new Set(await commit(store, some)), new Set(['committed']));
      rows.push(...some);
      await assertFound(store, rows);
      const old = rows[i] as LedgerRow;
      assert.deepEqual(await commit(store, [{ ...old, keyId: makeKeyId() }]), ['repeated_key']);
      const state =
        'SELECT through > merged AS isPass, merged > 0 AS hasMerged FROM fingerprint_merge';
      states.add(JSON.stringify(ask(path, state)));
    }
    assert.ok(states.size >= 3, 'before, during and between passes');
    assertIndexed(path);
    assert.ok(Number(ask(path, 'SELECT count(*) AS n FROM fingerprints')?.n) > 40);
    assert.ok(Number(ask(path, 'SELECT count(*) AS n FROM recent_fingerprints')?.n) < 20);
    await store.close();
    const reader = openSqliteStore({ path, quotas: QUOTAS, readOnly: true });
    await assertFound(reader as SqliteStore, rows);
    await reader.close();
  });

  it('refuses a key that repeats one of its batch, under one version', async () => {
    const { store } = await openFew(newPath());
    const [one, two] = [makeRow(), makeRow()];
    const again = { ...one, keyId: makeKeyId() };
    const { fingerprint } = one.commitment;
    const others = [guessedRow(fingerprint), { ...guessedRow(fingerprint), keyId: makeKeyId() }];
    assert.deepEqual(await commit(store, [one, two, again, ...others]), [
      ...['committed', 'committed', 'repeated_key', 'committed', 'committed'],
    ]);
    const pair = { ...keyRequest('acct_e', makeRow()), keys: [again, makeRow()] };
    const twice = {
      ...pair,
      keys: [two, makeRow(), makeRow()].map((row) => ({ ...row, keyId: makeKeyId() })),
    };
    const fresh = makeRow();
    const itself = { ...pair, keys: [fresh, { ...fresh, keyId: makeKeyId() }] };
    const outcomes = await store.commit([pair, twice, itself], []);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      Array(3).fill('repeated_key'),
    );
    await store.close();
  });

  it('finds the keys of another process, whichever of them merges', async () => {
    const path = newPath();
    const stores = [(await openFew(path)).store, (await openFew(path)).store] as const;
    const rows: LedgerRow[] = [];
    for (let i = 0; i < 60; i++) {
      // One of them commits alone for a while, so that it merges what only the other has in memory.
      const [writer, other] = (i >> 3) & 1 ? stores : stores.toReversed();
      const some = rowsOf(1 + (i % 3));
      await commit(writer as SqliteStore, some);
      rows.push(...some);
      const old = rows[Math.floor((i * 7) % rows.length)] as LedgerRow;
      const again = { ...old, keyId: makeKeyId() };
      if (i % 5 === 0)
        assert.deepEqual(await commit(other as SqliteStore, [again]), ['repeated_key']);
      await assertFound(other as SqliteStore, some);
    }
    for (const store of stores) await assertFound(store, rows);
    assertIndexed(path);
    for (const store of stores) await store.close();
  });

  it('holds what was committed if transactions fail at any statement', async () => {
    const path = newPath();
    const { store, connection } = await openFew(path);
    const rows: LedgerRow[] = [];
    let failed = 0;
    for (let i = 0; i < 160; i++) {
      const some = rowsOf(2);
      let left = (i * 7) % 37;
      connection.before = () => {
        if (left-- === 0) throw new Error('staged: a statement failed');
      };
      const isCommitted = await commit(store, some).then(
        () => true,
        () => false,
      );
      connection.before = () => {};
      if (isCommitted) rows.push(...some);
      else {
        failed += 1;
        const found = await store.findCommitments(some.map(({ commitment }) => commitment));
        assert.deepEqual(found, [null, null]);
      }
      await assertFound(store, rows);
    }
    assert.ok(failed > 20 && rows.length > 20, `${failed} failures, ${rows.length} rows`);
    assertIndexed(path);
    await store.close();
  });

  it('holds what was committed in a copy of the files at any statement, as after a kill', async () => {
    const path = newPath();
    const { store, connection } = await openFew(path);
    const rows: LedgerRow[] = [];
    const copies: { copy: string; rows: number }[] = [];
    let statements = 0;
    connection.before = () => {
      if (statements++ % 7 !== 0) return;
      const copy = newPath();
      for (const end of ['', '-wal'])
        if (existsSync(path + end)) copyFileSync(path + end, copy + end);
      copies.push({ copy, rows: rows.length });
    };
    for (let i = 0; i < 25; i++) {
      const some = rowsOf(2);
      await commit(store, some);
      rows.push(...some);
    }
    connection.before = () => {};
    await store.close();
    assert.ok(copies.length > 20);
    for (const { copy, rows: count } of copies) {
      const restarted = (await openFew(copy)).store;
      await assertFound(restarted, rows.slice(0, count));
      const more = rowsOf(9);
      await commit(restarted, more);
      await assertFound(restarted, [...rows.slice(0, count), ...more]);
      assertIndexed(copy);
      await restarted.close();
    }
  });

  it('loses the entries of pruned rows, of which another process may hold some', async () => {
    const path = newPath();
    const stores = [(await openFew(path)).store, (await openFew(path)).store] as const;
    const old = rowsOf(23, NOW - 20 * DAY_MS);
    const young = rowsOf(4);
    for (const [i, row] of [...old, ...young].entries())
      await commit(stores[i % 2] as SqliteStore, [row]);
    for (const store of stores) await assertFound(store, old);
    const { rows } = await stores[0].prune({ keepMs: 10 * DAY_MS, clock, dryRun: false });
    assert.equal(rows, old.length);
    const more = rowsOf(40);
    for (const [i, row] of more.entries()) await commit(stores[i % 2] as SqliteStore, [row]);
    for (const store of stores) {
      const gone = await store.findCommitments(old.map(({ commitment }) => commitment));
      assert.ok(gone.every((atMs) => atMs === null));
      await assertFound(store, [...young, ...more]);
    }
    assertIndexed(path);
    for (const store of stores) await store.close();
  });

  it('follows rows that are changed or removed by hand', async () => {
    const path = newPath();
    const { store } = await openFew(path);
    const rows = rowsOf(30);
    for (const row of rows) await commit(store, [row]);
    const database = new DatabaseSync(path);
    database.exec(`UPDATE ledger SET fingerprint = fingerprint + 1;
      DELETE FROM ledger WHERE key_id > (SELECT key_id FROM ledger ORDER BY key_id LIMIT 1 OFFSET 5)`);
    assert.equal(findUnindexed(database), null);
    const [first] = rows as [LedgerRow];
    database.exec('DELETE FROM fingerprints');
    assert.match(
      findUnindexed(database) ?? '',
      /^row [0-9a-f]{32} of ledger is missing from fingerprints$/,
    );
    database.close();
    assert.deepEqual(await store.findCommitments([first.commitment]), [null]);
    await store.close();
  });

  it('reads its filters again after another process has changed them', async () => {
    const path = newPath();
    const [writer, other] = [(await openFew(path)).store, (await openFew(path)).store];
    const row = makeRow();
    const { fingerprint } = row.commitment;
    await commitUntilMerged(writer, path, guessedRow(fingerprint ^ 16n));
    await commit(other, [guessedRow(fingerprint ^ 32n)]);
    await commitUntilMerged(writer, path, row);
    assert.deepEqual(await commit(other, [{ ...row, keyId: makeKeyId() }]), ['repeated_key']);
    for (const store of [writer, other]) await store.close();
  });

  it('makes a filter again that has taken more entries than it has room for', async () => {
    const path = newPath();
    const { store } = await openFew(path);
    const { fingerprint } = makeRow().commitment;
    const rows = Array.from({ length: 70 }, (_, i) => guessedRow(fingerprint ^ BigInt(i << 4)));
    for (const row of rows.slice(0, 25)) await commit(store, [row]);
    const room = 'SELECT min(room) AS room FROM fingerprint_filters';
    assert.ok(Number(ask(path, room)?.room) > 4_000);
    const database = new DatabaseSync(path);
    database.exec('UPDATE fingerprint_filters SET room = 0, bits = zeroblob(2048)');
    assert.match(findUnindexed(database) ?? '', /^the filter \d+ of fingerprints lacks an entry$/);
    for (const row of rows.slice(25)) await commit(store, [row]);
    assert.ok(Number(ask(path, room)?.room) > 4_000);
    assert.equal(findUnindexed(database), null);
    database.close();
    for (const row of rows)
      assert.deepEqual(await commit(store, [{ ...row, keyId: makeKeyId() }]), ['repeated_key']);
    await store.close();
  });

  it('refuses the repetition of a row whose fingerprint was changed by hand', async () => {
    const path = newPath();
    const { store } = await openFew(path);
    const [row, changed] = [makeRow(), makeRow()];
    const { fingerprint, digest } = changed.commitment;
    await commitUntilMerged(store, path, row);
    await commitUntilMerged(store, path, guessedRow(fingerprint ^ 16n));
    await commit(store, [guessedRow(fingerprint ^ 32n)]);
    const database = new DatabaseSync(path);
    const update = 'UPDATE ledger SET fingerprint = ?, commitment = ? WHERE key_id = ?';
    database.prepare(update).run(fingerprint, digest, row.keyId);
    assert.equal(findUnindexed(database), null);
    database.close();
    assert.deepEqual(await commit(store, [changed]), ['repeated_key']);
    await store.close();
  });

  it('advances past many rows of one fingerprint', async () => {
    const path = newPath();
    const { store } = await openFew(path);
    const { commitment } = makeRow();
    const rows = Array.from({ length: 60 }, () => guessedRow(commitment.fingerprint));
    for (const row of rows) await commit(store, [row]);
    const last = makeRow({
      keyId: makeKeyId(),
      commitment: { ...commitment, digest: randomBytes(32) },
    });
    await commit(store, [last]);
    const merged = 'SELECT merged FROM fingerprint_merge';
    assert.ok(Number(ask(path, merged)?.merged) > 40);
    for (const row of [rows[0] as LedgerRow, rows[59] as LedgerRow, last]) {
      const again = { ...row, keyId: makeKeyId() };
      assert.deepEqual(await commit(store, [again]), ['repeated_key']);
    }
    await store.close();
  });
});
