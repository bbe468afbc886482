/**
 * The behaviour of every ledger store with clocks, which `sqlite.test.ts` and, for PostgreSQL, the slow `postgres-growth.test.ts` run.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { utcMonth } from '../../src/clock.ts';
import type { LedgerStore } from '../../src/ledger/index.ts';
import { areRecorded, keyRequest, makeKeyId, makeRow, NOW } from './contract.ts';
import { evidenceAt } from './statistics-contract.ts';

export const DAY_MS = 86_400_000;

const ACCOUNT = 'acct_e';

/** Returns a clock that shows `atMs` and stands still. */
export const clockAt = (atMs: number) => ({ nowMs: () => atMs });

export const rowAt = (atMs: number, createdMs = atMs) =>
  makeRow({ keyId: makeKeyId(atMs), createdMs });

/**
 * Declares the tests. `clear` empties the store; `setClock` sets the database's own clock, if it has one.
 */
export function clockContract(
  name: string,
  open: () => Promise<LedgerStore>,
  clear: () => Promise<unknown>,
  setClock: (atMs: number) => Promise<void>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`clock contract: ${name}`, when, () => {
    let store: LedgerStore;

    before(async () => {
      store = await open();
      await setClock(NOW);
      const created = { accountId: ACCOUNT, name: 'e', plan: 'enterprise', demo: false };
      await store.addAccount({ ...created, createdMs: NOW });
    });
    beforeEach(clear);
    after(() => store.close());

    /**
     * Commits rows and returns a function that lists the remaining ones. There are no sums that are out of
     * date.
     */
    async function fill(...rows: ReturnType<typeof rowAt>[]): Promise<() => Promise<boolean[]>> {
      await store.commit(
        rows.map((row) => keyRequest(ACCOUNT, row)),
        [],
      );
      return () =>
        areRecorded(
          store,
          rows.map(({ keyId }) => keyId),
        );
    }

    const order = (days: number, clock = clockAt(NOW)) => ({
      keepMs: days * DAY_MS,
      clock,
      dryRun: false,
    });

    it('prunes at most 31 days per run, oldest rows first, and reports that more remain', async () => {
      const ages = [200, 175, 140, 120, 60, 31, 29, 0];
      const found = await fill(...ages.map((days) => rowAt(NOW - days * DAY_MS)));
      const whole = await store.prune({ ...order(30), dryRun: true });
      assert.deepEqual([whole.rows, whole.isPartial], [6, true]);
      assert.ok((await found()).every(Boolean));
      const turns = [];
      for (let left = true; left; left = turns.at(-1)?.isPartial ?? false) {
        const oldest = ages[(await found()).indexOf(true)];
        const report = await store.prune(order(30));
        turns.push(report);
        assert.ok(report.rows > 0);
        assert.ok(report.beforeMs <= NOW - (oldest - 31) * DAY_MS);
      }
      assert.equal(
        turns.reduce((sum, { rows }) => sum + rows, 0),
        6,
      );
      assert.ok(turns.length >= 3, `${turns.length} turns`);
      assert.deepEqual(
        await found(),
        ages.map((days) => days < 30),
      );
    });

    it('never treats a row with widely differing times as the oldest, and reports what it leaves', async () => {
      const rowBetween = (idDays: number, createdDays: number) =>
        rowAt(NOW - idDays * DAY_MS, NOW - createdDays * DAY_MS);
      const found = await fill(rowBetween(900, 500), rowBetween(100, 100), rowBetween(0, 0));
      assert.equal((await store.prune(order(30))).rows, 2);
      assert.deepEqual(await found(), [false, false, true]);
      const apart = await fill(rowBetween(900, 500), rowBetween(800, 100), rowBetween(950, 5));
      const turns = [];
      for (let i = 0; i < 3; i++) turns.push(await store.prune(order(30)));
      assert.deepEqual(
        turns.map(({ rows, isPartial }) => [rows, isPartial]),
        [
          [1, true],
          [1, false],
          [0, false],
        ],
      );
      assert.deepEqual(await apart(), [false, false, true]);
    });

    it('prunes minute sums of at most 31 days per run', async () => {
      const ages = [500, 480, 450, 380, 10];
      await store.commit(
        ages.map((days) => keyRequest(ACCOUNT, rowAt(NOW), NOW - days * DAY_MS)),
        [],
      );
      const removed = [];
      for (let i = 0; i < 4; i++) removed.push((await store.prune(order(30))).minuteSums);
      assert.deepEqual(removed, [2, 1, 1, 0]);
    });

    it('keeps a row and its p-values while its key ID or creation time is recent', async () => {
      const old = NOW - 90 * DAY_MS;
      const evidence = evidenceAt(ACCOUNT, old, 1).keys[0]?.evidence ?? null;
      const young = makeRow({ keyId: makeKeyId(old), createdMs: NOW, evidence });
      const found = await fill(rowAt(old), rowAt(old, NOW), rowAt(NOW, old));
      await fill(young);
      for (let i = 0; i < 3; i++) await store.prune(order(30));
      assert.deepEqual(await found(), [false, true, true]);
      assert.equal((await store.keyEvidence(ACCOUNT, 9)).length, 1);
    });

    it('prunes nothing while the clock is 400 days ahead, even if rows have that time', async () => {
      const ahead = clockAt(NOW + 400 * DAY_MS);
      const found = await fill(rowAt(NOW - 20 * DAY_MS), rowAt(NOW));
      await store.maintain(clockAt(NOW));
      const refused = {
        name: 'SetupError',
        message: /^the clock of this machine is 400 days ahead of /,
      };
      await assert.rejects(store.prune(order(30, ahead)), refused);
      await assert.rejects(store.prune({ ...order(30, ahead), dryRun: true }), refused);
      assert.match((await store.readClock(ahead)).doubt ?? '', refused.message);
      await fill(rowAt(ahead.nowMs()));
      await store.maintain(ahead);
      await assert.rejects(store.prune(order(30, ahead)), refused);
      assert.deepEqual(await found(), [true, true]);
    });

    it('prunes nothing while the clock is behind', async () => {
      const found = await fill(rowAt(NOW - 90 * DAY_MS), rowAt(NOW));
      const behind = clockAt(NOW - 61_000);
      const { skewMs, doubt } = await store.readClock(behind);
      assert.deepEqual(
        [skewMs, doubt?.slice(0, 46)],
        [-61_000, 'the clock of this machine is 61 seconds behind'],
      );
      await assert.rejects(store.prune(order(30, behind)), { name: 'SetupError' });
      assert.deepEqual(await found(), [true, true]);
      for (const skewMs of [-59_000, 0, 59_000]) {
        assert.equal((await store.readClock(clockAt(NOW + skewMs))).doubt, null);
      }
      assert.equal((await store.prune(order(30))).rows, 1);
    });

    it('counts from zero when its own clock reaches a new month', async () => {
      const next = Date.UTC(2026, 11, 1);
      const month = utcMonth(next);
      const used = async (atMs: number) => {
        await setClock(atMs);
        const request = { ...keyRequest(ACCOUNT, rowAt(atMs), atMs), keys: [] };
        const [outcome] = await store.commit([request], []);
        return outcome?.kind === 'committed' ? outcome.usage : undefined;
      };
      const before = await used(next - 1);
      assert.equal(before?.month, month - 1);
      assert.deepEqual(await used(next), { month, used: 1, quota: null });
      assert.deepEqual(await used(next), { month, used: 2, quota: null });
      await setClock(NOW);
    });
  });
}
