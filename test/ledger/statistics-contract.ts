/** The contract of every ledger store for series and for the evidence of an account's keys. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LedgerStore, MeteredRequest, PeriodSums } from '../../src/ledger/index.ts';
import { LATENCY_ERROR, latencyPercentileUs } from '../../src/ledger/latency.ts';
import { keyRequest, makeKeyId, makeRow } from './contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The start of a day in UTC. */
const START = Date.UTC(2026, 10, 20);

const QUIET: PeriodSums = {
  keys: 0,
  latencyUs: 0,
  streams: 0,
  streamsPassed: 0,
  metered: 0,
  failures: 0,
  latencies: [],
};

const validation = (accountId: string, atMs: number): MeteredRequest => ({
  ...keyRequest(accountId, makeRow(), atMs),
  keys: [],
});

const keyAt = (accountId: string, atMs: number, latencyUs = 1_000) =>
  keyRequest(accountId, makeRow({ keyId: makeKeyId(atMs), latencyUs }), atMs);

/** Returns a validated key whose p-values consist of this byte. */
export function evidenceAt(accountId: string, atMs: number, fill: number): MeteredRequest {
  const pValues = Buffer.alloc(768, fill);
  const evidence = { definition: 2, gateP: 1, testsPassed: 15, totalTests: 15, pValues };
  const request = keyRequest(accountId, makeRow({ keyId: makeKeyId(atMs), evidence }), atMs);
  const counts = { streams: 1, streamsPassed: 1 };
  return { ...request, counts };
}

/** Declares the tests. `run` changes the database directly, not through the store. */
export function statisticsContract(
  name: string,
  open: () => Promise<LedgerStore>,
  run: (sql: string) => Promise<unknown>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`ledger statistics: ${name}`, when, () => {
    let store: LedgerStore;
    let accounts = 0;

    before(async () => {
      store = await open();
    });
    after(() => store.close());

    async function account(plan = 'enterprise'): Promise<string> {
      const accountId = `acct_${++accounts}`;
      await store.addAccount({ accountId, name: accountId, plan, demo: false, createdMs: START });
      return accountId;
    }

    const series = (accountId: string, stepMinutes: number, steps: number, startMs = START) =>
      store.series({ accountId, startMs, stepMinutes, steps });

    it('return every step with all counts from its first to its last millisecond', async () => {
      const [id, other] = [await account(), await account()];
      const judged = { streams: 3, streamsPassed: 2 };
      await store.commit(
        [
          keyAt(id, START - 1),
          keyAt(id, START, 2_000),
          keyAt(id, START + 5 * MINUTE_MS - 1, 4_000),
          keyAt(id, START + 5 * MINUTE_MS, 8_000),
          validation(id, START + 5 * MINUTE_MS),
          keyAt(other, START + 5 * MINUTE_MS),
          keyAt(id, START + 15 * MINUTE_MS),
        ],
        [{ accountId: id, atMs: START + 5 * MINUTE_MS, counts: judged }],
      );
      const three = await series(id, 5, 3);
      const plain = (sums: PeriodSums | undefined) => ({ ...sums, latencies: undefined });
      assert.deepEqual(three.map(plain), [
        plain({ ...QUIET, keys: 2, latencyUs: 6_000, metered: 2 }),
        plain({ ...QUIET, ...judged, keys: 1, latencyUs: 8_000, metered: 2, failures: 1 }),
        plain(QUIET),
      ]);
      assert.deepEqual(three[2], QUIET);
      const minutes = await series(id, 1, 15);
      assert.deepEqual(
        minutes.map(({ keys }) => keys),
        [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      );
      assert.deepEqual(await series('acct_unknown', 1, 2), [QUIET, QUIET]);
    });

    it('return the same sums in hours, parts of a day and days as in minutes', async () => {
      const id = await account();
      const times = Array.from({ length: 200 }, (_, i) => START + Math.floor((i * DAY_MS) / 100));
      await store.commit(
        times.map((atMs, i) => keyAt(id, atMs, 16 + i ** 3)),
        [],
      );
      for (const [stepMinutes, steps] of [
        [60, 48],
        [360, 8],
        [1_440, 2],
      ] as const) {
        const parts = await series(id, stepMinutes, steps);
        for (const [i, sums] of parts.entries()) {
          const first = START + i * stepMinutes * MINUTE_MS;
          const end = first + stepMinutes * MINUTE_MS;
          const indexes = times.flatMap((atMs, at) => (atMs >= first && atMs < end ? [at] : []));
          assert.equal(sums.keys, indexes.length);
          assert.equal(
            sums.latencyUs,
            indexes.reduce((sum, at) => sum + 16 + at ** 3, 0),
          );
          const minutes = await series(id, 1, stepMinutes, first);
          const latencies: number[] = [];
          for (const minute of minutes) {
            for (const [bucket, count] of (minute.latencies ?? []).entries()) {
              latencies[bucket] = (latencies[bucket] ?? 0) + count;
            }
          }
          assert.deepEqual(sums.latencies, latencies.length ? [...latencies] : []);
        }
      }
      const { keys, latencyUs } = await store.activity(id, START);
      assert.deepEqual([keys, latencyUs], [200, times.reduce((sum, _, i) => sum + 16 + i ** 3, 0)]);
    });

    it('return percentiles within the stated error, also across many batches', async () => {
      const id = await account();
      const latencies = Array.from({ length: 3_000 }, () =>
        Math.round(16 * 2 ** (Math.random() * 22)),
      );
      for (let i = 0; i < latencies.length; ) {
        const batch = latencies.slice(i, i + 1 + Math.floor(Math.random() * 700));
        i += batch.length;
        await store.commit(
          batch.map((latencyUs, j) => keyAt(id, START + ((i + j) % 9) * 30_000, latencyUs)),
          [],
        );
      }
      const sorted = latencies.toSorted((a, b) => a - b);
      for (const step of [5, 60]) {
        const [sums] = await series(id, step, 1);
        assert.equal(sums?.keys, 3_000);
        for (const share of [0.001, 0.5, 0.9, 0.99, 1]) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          const ratio = latencyPercentileUs(sums.latencies ?? [], share) / exact;
          assert.ok(Math.max(ratio, 1 / ratio) <= 1 + LATENCY_ERROR + 1e-9, `${share}: ${ratio}`);
        }
      }
    });

    it('keep each count in its step although the clock is set back', async () => {
      const id = await account();
      await store.commit([keyAt(id, START + 10 * MINUTE_MS)], []);
      await store.commit([keyAt(id, START + 2 * MINUTE_MS)], []);
      await store.commit([keyAt(id, START + 2 * MINUTE_MS)], []);
      const keys = (await series(id, 5, 3)).map((sums) => sums.keys);
      assert.deepEqual(keys, [2, 0, 1]);
      // Requests after the last step are not added to it.
      assert.deepEqual(
        (await series(id, 5, 2)).map((sums) => sums.keys),
        [2, 0],
      );
    });

    it('return no latencies for a time when a release without latencies took part', async () => {
      const id = await account();
      await store.commit([keyAt(id, START), keyAt(id, START + MINUTE_MS)], []);
      await run(
        `UPDATE rollup_minute SET latency_counts = NULL
         WHERE account_id = '${id}' AND period = ${START / MINUTE_MS}`,
      );
      const known = async () => (await series(id, 1, 3)).map(({ latencies }) => latencies !== null);
      assert.deepEqual(await known(), [false, true, true]);
      // The latencies counted from now on do not cover the whole minute.
      await store.commit([keyAt(id, START)], []);
      assert.deepEqual(await known(), [false, true, true]);
      assert.equal((await series(id, 5, 1))[0]?.latencies, null);
      // A server of that release adds a key to a minute with counts.
      await run(
        `UPDATE rollup_minute SET keys = keys + 1
         WHERE account_id = '${id}' AND period = ${START / MINUTE_MS + 1}`,
      );
      assert.deepEqual(await known(), [false, false, true]);
    });

    it('return only the account’s last keys with evidence, oldest first', async () => {
      const [id, other] = [await account(), await account()];
      const requests = Array.from({ length: 40 }, (_, i) => [
        evidenceAt(id, START + i * DAY_MS, i),
        evidenceAt(other, START + i * DAY_MS, 200 + i),
        keyAt(id, START + i * DAY_MS),
      ]).flat();
      // The batches are not in order of time, like those of servers with different clocks.
      await store.commit(requests.slice(60), []);
      await store.commit(requests.slice(0, 60), []);
      for (const limit of [1, 7, 40, 1_000]) {
        const found = await store.keyEvidence(id, limit);
        const expected = Array.from({ length: 40 }, (_, i) => i).slice(-limit);
        assert.deepEqual(
          found.map(({ atMs, pValues }) => [atMs, pValues.length, pValues[0], pValues[767]]),
          expected.map((i) => [START + i * DAY_MS, 768, i, i]),
        );
      }
      const [last] = await store.keyEvidence(other, 1);
      assert.equal(last?.pValues[0], 239);
      assert.deepEqual(await store.keyEvidence('acct_unknown', 10), []);
    });

    it('store the definition of the evidence with each row', async () => {
      const [id, earlier] = [await account(), await account()];
      const definitions = async (of: string) =>
        (await store.keyEvidence(of, 10)).map(({ definition }) => definition);
      await store.commit([evidenceAt(id, START, 1), keyAt(id, START)], []);
      // As a program writes it that does not know the column.
      await run(`INSERT INTO validated_keys (account_id, key_id, p_values)
        SELECT '${earlier}', key_id, p_values FROM validated_keys WHERE account_id = '${id}'`);
      assert.deepEqual(await definitions(id), [2]);
      assert.deepEqual(await definitions(earlier), [1]);
    });

    it('store no p-values of refused keys', async () => {
      const id = await account('tiny');
      const requests = [1, 2, 3, 4].map((i) => evidenceAt(id, START + i, i));
      const outcomes = await store.commit(requests, []);
      assert.equal(outcomes.at(-1)?.kind, 'quota_exceeded');
      const generous = await account();
      const twin = { ...evidenceAt(generous, START, 9), keys: requests[0]?.keys ?? [] };
      assert.deepEqual(await store.commit([twin], []), [{ kind: 'repeated_key' }]);
      assert.equal((await store.keyEvidence(id, 10)).length, 3);
      assert.deepEqual(await store.keyEvidence(generous, 10), []);
    });

    it('include the size of the database', async () => {
      const bytes = await store.sizeBytes();
      assert.ok(Number.isInteger(bytes) && bytes > 50_000 && bytes < 2 ** 30, `${bytes} bytes`);
    });
  });
}
