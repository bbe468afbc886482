/** The contract of every ledger store for batches of keys, retries, sealed keys and registered recipients. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type {
  CommitOutcome,
  LedgerRow,
  LedgerStore,
  MeteredRequest,
  RowSeal,
} from '../../src/ledger/index.ts';
import { sealsOf, toRowSeal } from '../../src/ledger/row-seals.ts';
import { areRecorded, keyRequest, MONTH, makeKeyId, makeRow, NOW } from './contract.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const COUNTS = { streams: 5, streamsPassed: 4 };

/** Returns the seals of a key for this many recipients. */
export function seal(recipients = 1): RowSeal {
  const one = () => ({ recipient: randomBytes(32), digest: randomBytes(32) });
  return toRowSeal([one(), ...Array.from({ length: recipients - 1 }, one)]);
}

const rowsAt = (count: number, atMs: number): LedgerRow[] =>
  Array.from({ length: count }, () => makeRow({ keyId: makeKeyId(atMs) }));

/** Returns a request for this many keys. */
export function batchOf(
  accountId: string,
  count: number,
  changes: Partial<MeteredRequest> = {},
): MeteredRequest {
  const { atMs = NOW } = changes;
  return { ...keyRequest(accountId, makeRow(), atMs), keys: rowsAt(count, atMs), ...changes };
}

/** Returns a record whose request hash and body depend on its key. */
export function record(key: string, body: string | null = `{"of":"${key}"}`) {
  return { key, requestHash: createHash('sha256').update(key).digest(), body };
}

/** Returns what a repetition of the request with this `Idempotency-Key` finds. */
export async function findAnswer(
  store: LedgerStore,
  accountId: string,
  key: string,
  atMs: number = NOW,
) {
  const { requestHash } = record(key);
  return (await store.findAnswers([{ accountId, key, requestHash, atMs }]))[0] ?? null;
}

/** Returns the outcome of a retry of this request. */
function replayOf(request: MeteredRequest, used: number, quota: number | null): CommitOutcome {
  return {
    kind: 'replayed',
    answer: answerTo(request),
    usage: { month: MONTH, used, quota },
  };
}

export function answerTo({ keys, atMs, idempotency }: MeteredRequest) {
  return {
    requestHash: idempotency?.requestHash ?? Buffer.alloc(0),
    keyIds: keys.map(({ keyId }) => keyId),
    createdMs: atMs,
    body: idempotency?.body ?? null,
  };
}

/** Returns the same outcomes with all bytes as Buffers. */
export function plain<T>(value: T): T {
  if (value instanceof Uint8Array) return Buffer.from(value) as T;
  if (Array.isArray(value)) return value.map(plain) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)])) as T;
}

const kinds = (outcomes: readonly CommitOutcome[]) => outcomes.map(({ kind }) => kind);

/**
 * Declares the tests. `open` opens a store of the same database each time. `setClock` sets the database's own clock,
 * if it has one. `ask` reads the database directly.
 */
export function sealingContract(
  name: string,
  open: () => Promise<LedgerStore>,
  setClock: (atMs: number) => Promise<void>,
  ask: (sql: string) => Promise<readonly Record<string, unknown>[]>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`ledger batches and retries: ${name}`, when, () => {
    let store: LedgerStore;
    let other: LedgerStore;
    let accounts = 0;

    before(async () => {
      store = await open();
      other = await open();
      await setClock(NOW);
    });
    after(async () => {
      await store.close();
      await other.close();
    });

    async function account(plan = 'enterprise'): Promise<string> {
      const accountId = `acct_${++accounts}`;
      const created = { accountId, name: accountId, plan, demo: false, createdMs: NOW };
      assert.equal(await store.addAccount(created), true);
      await store.addApiKey(
        { apiKeyId: `key_${accountId}`, accountId, hint: 'h', createdMs: NOW, revokedMs: null },
        hashOf(accountId),
      );
      return accountId;
    }

    const hashOf = (accountId: string) => Buffer.alloc(32, accountId);

    async function commit(...requests: MeteredRequest[]): Promise<CommitOutcome[]> {
      return plain(await store.commit(requests, []));
    }

    /** Commits one request at a time of the database's clock. */
    async function commitAt(atMs: number, request: MeteredRequest): Promise<string> {
      await setClock(atMs);
      const [outcome] = await store.commit([{ ...request, atMs }], []);
      await setClock(NOW);
      return outcome?.kind ?? '';
    }

    async function recorded({ keys }: MeteredRequest): Promise<boolean[]> {
      return await areRecorded(
        store,
        keys.map(({ keyId }) => keyId),
      );
    }

    async function sums(id: string) {
      const { keys, metered, streams, streamsPassed, latencyUs } = await store.activity(id, 0);
      const [principal] = await store.authenticate([hashOf(id)], NOW);
      return [keys, metered, streams, streamsPassed, latencyUs, principal?.usage.used];
    }

    it('record all keys of a batch as one item, and count each key once', async () => {
      const id = await account('research');
      const batch = batchOf(id, 250, { counts: COUNTS });
      assert.deepEqual(await commit(batch, keyRequest(id)), [
        { kind: 'committed', usage: { month: MONTH, used: 250, quota: 1_000 } },
        { kind: 'committed', usage: { month: MONTH, used: 251, quota: 1_000 } },
      ]);
      assert.ok((await recorded(batch)).every(Boolean));
      assert.deepEqual(await sums(id), [251, 251, 5, 4, 251 * 1_500, 251]);
      const [hour] = await store.series({
        accountId: id,
        startMs: NOW - (NOW % 3_600_000),
        stepMinutes: 60,
        steps: 1,
      });
      assert.equal(
        hour?.latencies?.reduce((sum, one) => sum + one, 0),
        251,
      );
    });

    it('grant a batch whole or not at all, and the rest of the quota to those that fit', async () => {
      const id = await account('tiny');
      const batches = [2, 2, 1, 1].map((count) => batchOf(id, count));
      const outcomes = await commit(...batches);
      const usage = { month: MONTH, used: 2, quota: 3 };
      assert.deepEqual(outcomes, [
        { kind: 'committed', usage },
        { kind: 'quota_exceeded', usage },
        { kind: 'committed', usage: { ...usage, used: 3 } },
        { kind: 'quota_exceeded', usage: { ...usage, used: 3 } },
      ]);
      const rows = (await Promise.all(batches.map(recorded))).flat();
      assert.deepEqual(rows, [true, true, false, false, true, false]);
      assert.deepEqual((await sums(id)).at(-1), 3);
    });

    it('refuse all keys of a batch if one is repeated, even within it', async () => {
      const id = await account();
      const known = makeRow();
      await commit(keyRequest(id, known));
      const again = makeRow({ commitment: known.commitment });
      const held = batchOf(id, 3, { idempotency: record('repeats') });
      const repeated = { ...held, keys: [...held.keys, again] };
      const twin = makeRow();
      const twins = [twin, makeRow(), makeRow({ commitment: twin.commitment })];
      const sound = batchOf(id, 2);
      const outcomes = await commit(repeated, batchOf(id, 0, { keys: twins }), sound);
      assert.deepEqual(kinds(outcomes), ['repeated_key', 'repeated_key', 'committed']);
      assert.deepEqual(await recorded(repeated), [false, false, false, false]);
      assert.deepEqual(await areRecorded(store, [twin.keyId]), [false]);
      assert.deepEqual((await sums(id)).slice(0, 2), [3, 3]);
      assert.equal(await findAnswer(store, id, 'repeats'), null);
    });

    it('write nothing of a batch if one row fails', async () => {
      const id = await account();
      const rows = [makeRow(), makeRow({ securityLevel: 100 })];
      const bad = batchOf(id, 0, { keys: rows, idempotency: record('fails') });
      await assert.rejects(store.commit([bad], []));
      assert.deepEqual(await recorded(bad), [false, false]);
      assert.equal(await findAnswer(store, id, 'fails'), null);
      assert.deepEqual(kinds(await commit({ ...bad, keys: [makeRow()] })), ['committed']);
    });

    it('replay the answer of an earlier request, and count nothing', async () => {
      const id = await account('research');
      const first = batchOf(id, 3, { idempotency: record('one', '{"π":"\\"\\\\\u{1F511}"}') });
      assert.deepEqual(kinds(await commit(first)), ['committed']);
      const before = await sums(id);
      const retry = batchOf(id, 1, { idempotency: record('one'), counts: COUNTS });
      assert.deepEqual(await commit(retry), [plain(replayOf(first, 3, 1_000))]);
      assert.deepEqual(plain(await findAnswer(store, id, 'one')), plain(answerTo(first)));
      assert.deepEqual(plain(await findAnswer(other, id, 'one')), plain(answerTo(first)));
      assert.deepEqual(await recorded(retry), [false]);
      assert.deepEqual(await sums(id), before);
      assert.equal(await findAnswer(store, id, 'One'), null);
    });

    it('remove the answer of a request whose keys were withheld, and no other', async () => {
      const id = await account();
      const [withheld, kept] = ['withheld', 'kept'].map((key) =>
        batchOf(id, 3, { idempotency: record(key) }),
      ) as [MeteredRequest, MeteredRequest];
      await commit(withheld, kept);
      const keyIds = withheld.keys.map(({ keyId }) => keyId);
      for (const other of [
        { accountId: 'acct_other', key: 'withheld', keyIds },
        { accountId: id, key: 'kept', keyIds },
        { accountId: id, key: 'withheld', keyIds: keyIds.slice(0, 2) },
      ]) {
        assert.equal(await store.withdrawAnswer(other), false);
      }
      const answer = { accountId: id, key: 'withheld', keyIds };
      assert.equal(await store.withdrawAnswer(answer), true);
      assert.equal(await store.withdrawAnswer(answer), false);
      assert.equal(await findAnswer(other, id, 'withheld'), null);
      assert.deepEqual(plain(await findAnswer(other, id, 'kept')), plain(answerTo(kept)));
      assert.deepEqual(await recorded(withheld), [true, true, true]);
      const retry = batchOf(id, 1, { idempotency: record('withheld') });
      assert.deepEqual(kinds(await commit(retry)), ['committed']);
    });

    it('find the answers of many requests at once, and give the body only to the same request', async () => {
      const id = await account();
      const [one, two] = ['many 1', 'many 2'].map((key) =>
        batchOf(id, 1, { idempotency: record(key) }),
      ) as [MeteredRequest, MeteredRequest];
      await commit(one, two);
      const query = (key: string, hashed = key) => {
        const { requestHash } = record(hashed);
        return { accountId: id, key, requestHash, atMs: NOW };
      };
      const asked = [query('many 2'), query('many 3'), query('many 1', 'x'), query('many 1')];
      const bodiless = { ...answerTo(one), body: null };
      const expected = [answerTo(two), null, bodiless, answerTo(one)];
      assert.deepEqual(plain(await store.findAnswers(asked)), plain(expected));
      assert.deepEqual(await store.findAnswers([]), []);
      const other = { ...record('many 1'), requestHash: record('x').requestHash };
      const [outcome] = await commit(batchOf(id, 1, { idempotency: other }));
      assert.deepEqual(outcome?.kind === 'replayed' && outcome.answer, plain(bodiless));
    });

    it('keep no body of plaintext keys, and the whole of a large one', async () => {
      const id = await account();
      const kept = batchOf(id, 1, { idempotency: record('plain', null) });
      const large = batchOf(id, 2, { idempotency: record('large', '"key":12'.repeat(2 ** 19)) });
      await commit(kept, large, keyRequest(id));
      const again = ['plain', 'large'].map((key) => batchOf(id, 1, { idempotency: record(key) }));
      const outcomes = await commit(...again);
      assert.deepEqual(outcomes, [replayOf(kept, 4, null), replayOf(large, 4, null)].map(plain));
    });

    it('let the first of two equal keys in a batch commit, and replay it to the second', async () => {
      const [id, stranger] = [await account('tiny'), await account('tiny')];
      const [first, second, too] = ['twin', 'twin', 'big'].map((key) =>
        batchOf(id, key === 'big' ? 4 : 1, { idempotency: record(key) }),
      ) as [MeteredRequest, MeteredRequest, MeteredRequest];
      const fits = batchOf(id, 1, { idempotency: record('big') });
      const elsewhere = batchOf(stranger, 1, { idempotency: record('twin') });
      const outcomes = await commit(first, too, second, elsewhere, fits);
      assert.deepEqual(kinds(outcomes), [
        'committed',
        'quota_exceeded',
        'replayed',
        'committed',
        'committed',
      ]);
      assert.deepEqual(outcomes[2], plain(replayOf(first, 1, 3)));
      assert.deepEqual(await recorded(second), [false]);
      assert.deepEqual(plain(await findAnswer(store, id, 'big')), plain(answerTo(fits)));
    });

    it('replay although the quota is used up or the key repeats', async () => {
      const id = await account('tiny');
      const first = batchOf(id, 3, { idempotency: record('last') });
      await commit(first);
      const retry = batchOf(id, 0, { keys: first.keys, idempotency: record('last') });
      const outcomes = await commit(batchOf(id, 1, { idempotency: record('new') }), retry);
      assert.deepEqual(kinds(outcomes), ['quota_exceeded', 'replayed']);
      assert.equal(await findAnswer(store, id, 'new'), null);
    });

    it('decide random batches by the rule, one request after another', async () => {
      const plans = ['tiny', 'research', 'enterprise'] as const;
      const ids = await Promise.all(plans.map(account));
      const used = new Map(ids.map((id) => [id, 0]));
      const limited = new Map<string, number>();
      const answers = new Map<string, MeteredRequest>();
      const quota = [3, 1_000, null];
      const pick = (below: number) => Math.floor(Math.random() * below);
      for (let round = 0; round < 12; round++) {
        const batch = Array.from({ length: 1 + pick(12) }, () => {
          const idempotency = pick(2) ? record(`k${pick(20)}`, pick(2) ? 'a body' : null) : null;
          const id = ids[pick(3)] ?? '';
          const counterId = `key_${id}_${pick(2)}`;
          const apiKeyLimit = pick(2) ? { counterId, limit: 30 } : undefined;
          const keys = pick(4) ? pick(4) : pick(90);
          return batchOf(id, keys, { idempotency, apiKeyLimit });
        });
        const expected = batch.map((request): CommitOutcome => {
          const { accountId, keys, idempotency, apiKeyLimit: limit } = request;
          const usage = {
            month: MONTH,
            used: used.get(accountId) ?? 0,
            quota: quota[ids.indexOf(accountId)] ?? null,
          };
          const name = `${accountId} ${idempotency?.key}`;
          const earlier = answers.get(name);
          const units = Math.max(1, keys.length);
          /** Usage of the account, or of the API key's limit if less is left of it. */
          const tighter = (more: number) => {
            const ofAccount = { ...usage, used: usage.used + more };
            if (!limit) return ofAccount;
            const ofKey = more + (limited.get(limit.counterId) ?? 0);
            const left = (usage.quota ?? Number.POSITIVE_INFINITY) - ofAccount.used;
            const { counterId, limit: most } = limit;
            const isKey = most - ofKey < left;
            return isKey ? { month: MONTH, used: ofKey, quota: most, counterId } : ofAccount;
          };
          if (idempotency && earlier) {
            return { kind: 'replayed', answer: answerTo(earlier), usage: tighter(0) };
          }
          const next = usage.used + units;
          if (usage.quota !== null && next > usage.quota) return { kind: 'quota_exceeded', usage };
          const ofKey = limited.get(limit?.counterId ?? '') ?? 0;
          if (limit && ofKey + units > limit.limit) {
            const { counterId, limit: most } = limit;
            const ofLimit = { month: MONTH, used: ofKey, quota: most, counterId };
            return { kind: 'quota_exceeded', usage: ofLimit };
          }
          const committed: CommitOutcome = { kind: 'committed', usage: tighter(units) };
          used.set(accountId, next);
          if (limit) limited.set(limit.counterId, ofKey + units);
          if (idempotency) answers.set(name, request);
          return committed;
        });
        assert.deepEqual(await commit(...batch), plain(expected));
        const rows = await Promise.all(batch.map(recorded));
        assert.deepEqual(
          rows.map((found) => found.every(Boolean)),
          expected.map(({ kind }, i) => kind === 'committed' || batch[i]?.keys.length === 0),
        );
      }
      for (const id of ids) assert.equal((await sums(id)).at(-1), used.get(id));
    });

    it('let exactly one of two stores commit a key, and replay its answer to the other', async () => {
      const id = await account();
      for (let round = 0; round < 20; round++) {
        const racers = [1, 2].map((count) =>
          batchOf(id, count, { idempotency: record(`race ${round}`) }),
        );
        const outcomes = await Promise.all([
          store.commit(racers.slice(0, 1), []),
          other.commit(racers.slice(1), []),
        ]);
        const found = outcomes.flat();
        assert.deepEqual(kinds(found).sort(), ['committed', 'replayed']);
        const winner = found.findIndex(({ kind }) => kind === 'committed');
        const [replay] = found.filter((one) => one.kind === 'replayed');
        assert.deepEqual(plain(replay?.answer), plain(answerTo(racers[winner] as MeteredRequest)));
        const counts = await Promise.all(racers.map(recorded));
        assert.deepEqual(
          counts.map((rows) => rows.every(Boolean)),
          [winner === 0, winner === 1],
        );
      }
    });

    it('replay for 24 hours, also over midnight, and then commit again', async () => {
      const id = await account();
      const midnight = Math.ceil(NOW / DAY_MS) * DAY_MS;
      const madeMs = midnight - MINUTE_MS;
      const keyed = (key: string, count = 1) => batchOf(id, count, { idempotency: record(key) });
      assert.equal(await commitAt(madeMs, keyed('night')), 'committed');
      assert.equal(await commitAt(midnight + MINUTE_MS, keyed('night')), 'replayed');
      assert.equal(await commitAt(madeMs + DAY_MS - 1, keyed('night')), 'replayed');
      assert.equal(await commitAt(madeMs + DAY_MS, keyed('night')), 'committed');
      // The newest record counts, whichever table holds it.
      const again = keyed('night');
      assert.equal(await commitAt(madeMs + DAY_MS + MINUTE_MS, again), 'replayed');
      for (const days of [2, 3, 4, 7]) {
        assert.equal(await commitAt(madeMs + days * DAY_MS, keyed('night')), 'committed');
      }
    });

    it('replay what was committed before the clock was set back', async () => {
      const id = await account();
      const keyed = () => batchOf(id, 1, { idempotency: record('ahead') });
      assert.equal(await commitAt(NOW + 40 * DAY_MS, keyed()), 'committed');
      for (const backMs of [MINUTE_MS, DAY_MS, 2 * DAY_MS, 39 * DAY_MS]) {
        assert.equal(await commitAt(NOW + 40 * DAY_MS - backMs, keyed()), 'replayed');
      }
    });

    it('remove records that have expired, day by day, and no others', async () => {
      const id = await account();
      const left = async () => {
        const rows = await ask(
          `SELECT idempotency_key AS key FROM idempotency WHERE account_id = '${id}'`,
        );
        return rows.map(({ key }) => Number(key));
      };
      for (let day = 100; day < 108; day++) {
        const atMs = NOW + day * DAY_MS;
        const clock = { nowMs: () => atMs };
        const keyed = batchOf(id, 1, { idempotency: record(String(day)) });
        assert.equal(await commitAt(atMs + MINUTE_MS, keyed), 'committed');
        await setClock(atMs);
        await store.acceptClock(clock);
        await store.maintain(clock);
        const kept = await left();
        // The day before counts for one more minute.
        const needed = [day - 1, day].filter((one) => one >= 100);
        assert.deepEqual(
          needed.filter((one) => !kept.includes(one)),
          [],
        );
        assert.deepEqual(
          kept.filter((one) => one < day - 1),
          [],
        );
      }
      await setClock(NOW);
    });

    it('keep the recipient and the digest of a sealed key', async () => {
      const id = await account();
      const [sealed, open] = [makeRow({ sealed: seal() }), makeRow()];
      await commit(batchOf(id, 0, { keys: [sealed, open] }));
      const [one, two] = [await store.findRecord(sealed.keyId), await store.findRecord(open.keyId)];
      assert.deepEqual(plain(one?.sealed), plain(sealed.sealed));
      assert.equal(two?.sealed, null);
      const found = await store.findKeys([sealed.keyId, open.keyId]);
      assert.deepEqual(plain(found.map((key) => key?.recipients)), [
        [sealed.sealed?.recipient],
        [],
      ]);
    });

    it('keep all recipients and digests of a key, in their order', async () => {
      const id = await account();
      const keys = [1, 2, 8].map((recipients) => makeRow({ sealed: seal(recipients) }));
      await commit(batchOf(id, 0, { keys }));
      const found = plain(await store.findKeys(keys.map(({ keyId }) => keyId)));
      for (const [i, { keyId, sealed }] of keys.entries()) {
        assert.ok(sealed);
        const recorded = await store.findRecord(keyId);
        assert.deepEqual(plain(recorded?.sealed), plain(sealed));
        assert.ok(recorded?.sealed);
        assert.deepEqual(plain(sealsOf(recorded.sealed)), plain(sealsOf(sealed)));
        const recipients = plain(sealsOf(sealed).map(({ recipient }) => recipient));
        assert.deepEqual(found[i]?.recipients, recipients);
        const record = await store.findKeyRecord(id, keyId);
        assert.deepEqual(plain(record?.recipients), recipients);
      }
      const page = { accountId: id, beforeKeyId: null, fromKeyId: null, limit: 10 };
      const listed = (await store.listKeys(page)).keys.map(({ recipients }) => recipients.length);
      assert.deepEqual(listed.toSorted(), [1, 2, 8]);
    });

    it('set an account to sealed keys only, for all its API keys', async () => {
      const id = await account();
      const principal = async () => (await store.authenticate([hashOf(id)], NOW))[0]?.sealedOnly;
      const listed = async () =>
        (await store.listAccounts()).find(({ accountId }) => accountId === id)?.sealedOnly;
      assert.deepEqual([await principal(), await listed()], ['off', 'off']);
      for (const rule of ['on', 'on', 'registered', 'off'] as const) {
        assert.equal(await store.setSealedOnly(id, rule), true);
        assert.deepEqual([await principal(), await listed()], [rule, rule]);
      }
      assert.equal(await store.setSealedOnly('acct_unknown', 'on'), false);
    });

    it('add, find, list and remove the recipients of an account', async () => {
      const [id, stranger] = [await account(), await account()];
      const recipient = (accountId: string, name: string) => {
        const suite = 'MLKEM768-X25519';
        return { accountId, name, suite, publicKey: randomBytes(1_216), createdMs: NOW };
      };
      const [b, a] = [recipient(id, 'b'), recipient(id, 'a')];
      assert.equal(await store.addRecipient(b), 'added');
      assert.equal(await store.addRecipient(a), 'added');
      assert.equal(await store.addRecipient(recipient(id, 'a')), 'taken');
      assert.equal(await store.addRecipient(recipient('acct_none', 'a')), 'unknown_account');
      assert.equal(await store.addRecipient(recipient(stranger, 'a')), 'added');
      assert.deepEqual(plain(await store.listRecipients(id)), [a, b]);
      assert.equal((await store.listRecipients()).length, 3);
      assert.deepEqual(plain(await other.findRecipient(id, 'a')), a);
      assert.equal(await store.findRecipient(id, 'c'), null);
      assert.equal(await store.removeRecipient(id, 'a'), true);
      assert.equal(await store.removeRecipient(id, 'a'), false);
      assert.equal(await store.findRecipient(id, 'a'), null);
      assert.ok(await store.findRecipient(stranger, 'a'));
    });

    it('audit these changes in their transaction, and only if something changed', async () => {
      const id = await account();
      const audit = (action: 'recipient_added' | 'recipient_removed' | 'sealed_only_set') => {
        const auditId = makeKeyId();
        const details = JSON.stringify({ account_id: id });
        return { auditId, atMs: NOW, action, details, salt: randomBytes(32), pending: null };
      };
      const fields = { suite: 's', publicKey: randomBytes(9), createdMs: NOW };
      const recipient = { accountId: id, name: 'n', ...fields };
      const counts = async () => {
        const audits = await store.audits(null, 1_000);
        return audits.filter(({ details }) => details.includes(`"${id}"`)).length;
      };
      const seen: number[] = [];
      for (const change of [
        () => store.addRecipient(recipient, audit('recipient_added')),
        () => store.addRecipient(recipient, audit('recipient_added')),
        () => store.setSealedOnly(id, 'on', audit('sealed_only_set')),
        () => store.setSealedOnly(id, 'on', audit('sealed_only_set')),
        () => store.setSealedOnly(id, 'off', audit('sealed_only_set')),
        () => store.removeRecipient(id, 'n', audit('recipient_removed')),
        () => store.removeRecipient(id, 'n', audit('recipient_removed')),
      ]) {
        await change();
        seen.push(await counts());
      }
      assert.deepEqual(seen, [1, 1, 2, 2, 3, 4, 4]);
      assert.equal((await store.lastAudit('recipient_removed'))?.action, 'recipient_removed');
    });
  });
}
