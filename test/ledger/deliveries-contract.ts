/** The contract of every ledger store for deliveries: boxes, states of copies, refusals, and what ends a copy. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  COPY_EVENTS,
  type CopyEvent,
  copyStateAfter,
  type DeliveryOrder,
  EMPTIED_AT_ONCE,
  isInBox,
} from '../../src/ledger/deliveries.ts';
import {
  type BoxLimits,
  COPY_STATES,
  type CommitOutcome,
  type CopyAction,
  type CopyState,
  type LedgerStore,
  type MeteredRequest,
} from '../../src/ledger/index.ts';
import { DAY_MS } from './clock-contract.ts';
import { NOW } from './contract.ts';
import { auditRecord } from './log-contract.ts';
import type { RecordsOrder } from './records-contract.ts';
import { batchOf, plain, record } from './sealing-contract.ts';

const HOUR_MS = 3_600_000;
const UNTIL = NOW + HOUR_MS;
const LARGE: BoxLimits = { copies: 10_000, bytes: 2 ** 26 };

/** What becomes of a copy. The rows of a state are in the order of `COPY_EVENTS`. */
const TABLE: Readonly<Record<CopyState, readonly CopyState[]>> = {
  waiting: ['received', 'removed', 'expired', 'revoked'],
  received: ['received', 'removed', 'expired', 'revoked'],
  removed: ['removed', 'removed', 'removed', 'removed'],
  expired: ['expired', 'expired', 'expired', 'expired'],
  revoked: ['revoked', 'revoked', 'revoked', 'revoked'],
};

/** How a copy gets into a state. */
const WAY: Readonly<Record<CopyState, readonly CopyEvent[]>> = {
  waiting: [],
  received: ['fetch'],
  removed: ['fetch', 'remove'],
  expired: ['expire'],
  revoked: ['revoke'],
};

const newId = () => randomBytes(16);

/** A sealed key that names its place. */
const sealedKey = (id: Uint8Array, recipient: string) =>
  `{"of":"${Buffer.from(id).toString('hex')}","to":"${recipient}"}`;

export function deliveriesContract(
  name: string,
  { open, setClock, ask, tap }: Omit<RecordsOrder, 'writes'>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`deliveries of a ledger: ${name}`, when, () => {
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

    const keyOf = (recipient: string) => Buffer.alloc(40, recipient);

    async function account(recipients = ['lyon', 'paris'], plan = 'enterprise'): Promise<string> {
      const accountId = `acct_${++accounts}`;
      const created = { accountId, name: accountId, plan, demo: false, createdMs: NOW };
      assert.equal(await store.addAccount(created), true);
      for (const one of recipients) await addRecipient(accountId, one);
      return accountId;
    }

    async function addRecipient(
      accountId: string,
      recipient: string,
      publicKey = keyOf(recipient),
    ) {
      const added = { accountId, name: recipient, suite: 's', publicKey, createdMs: NOW };
      assert.equal(await store.addRecipient(added), 'added');
    }

    function orderOf(
      ids: readonly Uint8Array[],
      recipients: readonly string[] = ['paris', 'lyon'],
      changes: Partial<DeliveryOrder> = {},
    ): DeliveryOrder {
      return {
        deliveries: ids.map((deliveryId) => ({
          deliveryId,
          copies: recipients.map((recipient) => sealedKey(deliveryId, recipient)),
        })),
        recipients: recipients.map((one) => ({ name: one, publicKey: keyOf(one) })),
        untilMs: UNTIL,
        limits: LARGE,
        ...changes,
      };
    }

    function requestOf(
      accountId: string,
      delivery: DeliveryOrder,
      changes: Partial<MeteredRequest> = {},
    ): MeteredRequest {
      return batchOf(accountId, delivery.deliveries.length, { delivery, ...changes });
    }

    /** Commits requests, again while earlier ones of the same batch might be in the way. */
    async function commit(...requests: MeteredRequest[]): Promise<CommitOutcome[]> {
      const outcomes = [...(await store.commit(requests, []))];
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.kind === 'account_locked') [outcomes[i]] = await commit(requests[i]);
      }
      return plain(outcomes);
    }

    const kinds = (outcomes: readonly CommitOutcome[]) =>
      outcomes.map((one) => (one.kind === 'delivery_refused' ? one.refusal.reason : one.kind));

    async function deliver(
      accountId: string,
      ids: readonly Uint8Array[],
      ...rest: [recipients?: readonly string[], changes?: Partial<DeliveryOrder>]
    ): Promise<MeteredRequest> {
      const request = requestOf(accountId, orderOf(ids, ...rest));
      assert.deepEqual(kinds(await commit(request)), ['committed']);
      return request;
    }

    async function list(
      accountId: string,
      recipient = 'paris',
      changes: Partial<Parameters<LedgerStore['listCopies']>[0]> = {},
    ) {
      const query = { accountId, recipient, state: 'waiting', afterKeyId: null } as const;
      return plain(await other.listCopies({ ...query, limit: 100, nowMs: NOW, ...changes }));
    }

    const listed = async (...query: Parameters<typeof list>) =>
      (await list(...query)).copies.map(({ deliveryId }) => deliveryId);

    async function take(
      accountId: string,
      action: CopyAction,
      ids: readonly Uint8Array[],
      recipient = 'paris',
      nowMs = NOW,
    ) {
      const order = { accountId, recipient, action, deliveryIds: ids, nowMs };
      const [copies = []] = await store.takeCopies([order]);
      return plain(copies);
    }

    async function states(accountId: string, id: Uint8Array, nowMs = NOW) {
      const found = await other.findDelivery(accountId, id, nowMs);
      return found && Object.fromEntries(found.copies.map((one) => [one.recipient, one.state]));
    }

    async function revoke({ accountId, keys }: MeteredRequest) {
      const order = { accountId, state: 'deactivated', reason: 'superseded', atMs: NOW } as const;
      const revocations = keys.map(({ keyId }) => ({
        order: { ...order, keyId },
        audit: auditRecord(null, { action: 'key_revoked' }),
      }));
      const outcomes = await store.revokeKeys(revocations);
      assert.ok(outcomes.every(({ kind }) => kind === 'revoked' || kind === 'unchanged'));
    }

    async function bytesOf(accountId: string): Promise<number> {
      const [row] = await ask(
        `SELECT coalesce(sum(length(sealed_key)), 0) AS bytes FROM delivery_copies WHERE account_id = '${accountId}'`,
      );
      return Number(row?.bytes);
    }

    it('keep a copy for each recipient, which the others do not see', async () => {
      const id = await account();
      const ids = [newId(), newId()];
      const { keys } = await deliver(id, ids);
      for (const [i, deliveryId] of ids.entries()) {
        const [copy] = await take(id, 'fetch', [deliveryId], 'lyon');
        assert.deepEqual(copy, {
          deliveryId,
          keyId: Buffer.from(keys[i].keyId),
          untilMs: UNTIL,
          state: 'received',
          sealedKey: sealedKey(deliveryId, 'lyon'),
        });
        assert.deepEqual(await states(id, deliveryId), { lyon: 'received', paris: 'waiting' });
      }
      assert.deepEqual(await listed(id, 'lyon'), []);
      assert.equal((await listed(id, 'lyon', { state: 'received' })).length, 2);
      assert.equal((await listed(id, 'paris')).length, 2);
    });

    it('reveal nothing of other accounts and recipients', async () => {
      const [id, foreign] = [await account(), await account()];
      const [paris, both] = [newId(), newId()];
      await deliver(id, [paris], ['paris']);
      await deliver(id, [both]);
      const unknown = newId();
      for (const action of ['fetch', 'remove'] as const) {
        assert.deepEqual(await take(foreign, action, [paris, both, unknown]), [null, null, null]);
        assert.deepEqual(await take(id, action, [paris, unknown], 'lyon'), [null, null]);
        assert.deepEqual(await take(id, action, [paris], 'Paris'), [null]);
      }
      assert.deepEqual(await states(foreign, both), null);
      assert.deepEqual(await states(id, both), { lyon: 'waiting', paris: 'waiting' });
      assert.deepEqual(await listed(foreign), []);
      // The ID is free in another account.
      await deliver(foreign, [both]);
      assert.deepEqual(await states(id, both), { lyon: 'waiting', paris: 'waiting' });
    });

    for (const state of COPY_STATES) {
      COPY_EVENTS.forEach((event, i) => {
        const next = TABLE[state][i] as CopyState;
        it(`lead from ${state} by ${event} to ${next}`, async () => {
          assert.equal(copyStateAfter(state, event), next);
          const id = await account();
          const [deliveryId] = [newId()];
          const request = await deliver(id, [deliveryId]);
          let nowMs = NOW;
          const happen = async (one: CopyEvent) => {
            if (one === 'fetch' || one === 'remove')
              await take(id, one, [deliveryId], 'paris', nowMs);
            else if (one === 'revoke') await revoke(request);
            else {
              nowMs = UNTIL;
              await setClock(nowMs);
              await store.maintain({ nowMs: () => nowMs } as never);
            }
          };
          for (const one of WAY[state]) await happen(one);
          assert.equal((await states(id, deliveryId, nowMs))?.paris, state);
          await happen(event);
          assert.equal((await states(id, deliveryId, nowMs))?.paris, next);
          const [copy] = await take(id, 'fetch', [deliveryId], 'paris', nowMs);
          await setClock(NOW);
          assert.equal(copy?.state, isInBox(next) ? 'received' : next);
          assert.equal(copy?.sealedKey, isInBox(next) ? sealedKey(deliveryId, 'paris') : null);
          const [row] = await ask(
            `SELECT count(sealed_key) AS held FROM delivery_copies WHERE account_id = '${id}' AND recipient = 'paris'`,
          );
          assert.equal(Number(row?.held), isInBox(next) ? 1 : 0);
        });
      });
    }

    it('are fetched again with the same bytes and the first time', async () => {
      const id = await account();
      const deliveryId = newId();
      await deliver(id, [deliveryId]);
      const first = await take(id, 'fetch', [deliveryId]);
      await setClock(NOW + 5_000);
      const second = await take(id, 'fetch', [deliveryId], 'paris', NOW + 5_000);
      await setClock(NOW);
      assert.deepEqual(second, first);
      const found = await store.findDelivery(id, deliveryId, NOW);
      const times = found?.copies.map(({ receivedMs }) => receivedMs);
      assert.deepEqual(times, [null, NOW]);
    });

    it('are taken in the order of the orders, all in one transaction', async () => {
      const id = await account();
      const [one, two] = [newId(), newId()];
      await deliver(id, [one, two]);
      const order = { accountId: id, recipient: 'paris', nowMs: NOW };
      const taken = await store.takeCopies([
        { ...order, action: 'fetch', deliveryIds: [two, one] },
        { ...order, action: 'remove', deliveryIds: [one] },
        { ...order, action: 'fetch', deliveryIds: [one, newId()] },
        { ...order, action: 'remove', deliveryIds: [] },
      ]);
      const found = taken.map((copies) =>
        copies.map((copy) => copy && [copy.state, copy.sealedKey]),
      );
      assert.deepEqual(found, [
        [
          ['received', sealedKey(two, 'paris')],
          ['received', sealedKey(one, 'paris')],
        ],
        [['removed', null]],
        [['removed', null], null],
        [],
      ]);
    });

    it('list a box from the oldest key on, a page at a time', async () => {
      const id = await account();
      const ids = Array.from({ length: 7 }, newId);
      const { keys } = await deliver(id, ids);
      const order = ids
        .map((deliveryId, i) => ({ deliveryId, keyId: Buffer.from(keys[i].keyId) }))
        .sort((one, other) => Buffer.compare(one.keyId, other.keyId));
      const found: unknown[] = [];
      let next: Uint8Array | null = null;
      do {
        const page = await list(id, 'paris', { limit: 3, afterKeyId: next });
        assert.ok(page.copies.length <= 3);
        found.push(...page.copies);
        next = page.next;
      } while (next !== null);
      assert.deepEqual(
        found,
        order.map((one) => ({ ...one, untilMs: UNTIL })),
      );
      assert.deepEqual(await listed(id, 'paris', { nowMs: NOW, afterKeyId: order[5].keyId }), [
        order[6].deliveryId,
      ]);
    });

    it('report the boxes in which a copy waits', async () => {
      const [id, empty] = [await account(), await account()];
      const deliveryId = newId();
      const { keys } = await deliver(id, [deliveryId], ['paris']);
      const asked = async (nowMs = NOW) => {
        const box = (
          accountId: string,
          recipient: string,
          afterKeyId: Uint8Array | null = null,
        ) => ({
          ...{ accountId, recipient, afterKeyId },
        });
        const boxes = [box(empty, 'paris'), box(id, 'paris'), box(id, 'lyon')];
        return store.haveWaiting([...boxes, box(id, 'paris', keys[0].keyId)], nowMs);
      };
      assert.deepEqual(await asked(), [false, true, false, false]);
      await setClock(UNTIL);
      assert.deepEqual(await asked(UNTIL), [false, false, false, false]);
      await setClock(NOW);
      await take(id, 'fetch', [deliveryId]);
      assert.deepEqual(await asked(), [false, false, false, false]);
      assert.deepEqual(await store.haveWaiting([], NOW), []);
    });

    it('refuse a repeated ID, whatever became of the first delivery', async () => {
      const id = await account(['paris', 'lyon'], 'research');
      const [one, two, three] = [newId(), newId(), newId()];
      await deliver(id, [one]);
      await take(id, 'remove', [one]);
      const query = { accountId: id, recipients: [], copyBytes: 1, limits: LARGE, nowMs: NOW };
      const refusal = { reason: 'exists', places: [1] } as const;
      assert.deepEqual(
        await store.findDeliveryRefusal({ ...query, deliveryIds: [two, one, three] }),
        refusal,
      );
      assert.equal(await store.findDeliveryRefusal({ ...query, deliveryIds: [two, three] }), null);
      const again = requestOf(id, orderOf([two, one, three]));
      assert.deepEqual(await commit(again), [{ kind: 'delivery_refused', refusal }]);
      assert.deepEqual(await store.findKeys(again.keys.map(({ keyId }) => keyId)), [
        null,
        null,
        null,
      ]);
      assert.equal(await states(id, two), null);
      // Nothing was counted.
      const [counted] = await commit(requestOf(id, orderOf([two])));
      assert.deepEqual(counted?.kind === 'committed' && counted.usage.used, 2);
    });

    it('refuse the second of two requests with one ID in one batch', async () => {
      const id = await account(['paris', 'lyon']);
      const [one, two] = [newId(), newId()];
      const requests = [[one], [two, one], [two]].map((ids) => requestOf(id, orderOf(ids)));
      assert.deepEqual(kinds(await commit(...requests)), ['committed', 'exists', 'committed']);
      const poor = await account(['paris', 'lyon'], 'tiny');
      const [large, small] = [[one, two, newId(), newId()], [one]];
      const asked = [large, small].map((ids) => requestOf(poor, orderOf(ids)));
      assert.deepEqual(kinds(await commit(...asked)), ['quota_exceeded', 'committed']);
    });

    it('answer a repeated request under its Idempotency-Key', async () => {
      const id = await account();
      const first = requestOf(id, orderOf([newId()]), { idempotency: record('a') });
      assert.deepEqual(kinds(await commit(first, first)), ['committed', 'replayed']);
      const order = first.delivery as DeliveryOrder;
      const again = requestOf(id, order, { idempotency: record('a') });
      assert.deepEqual(kinds(await commit(again)), ['replayed']);
      const anew = requestOf(id, order, { idempotency: record('b') });
      assert.deepEqual(kinds(await commit(anew)), ['exists']);
    });

    it('refuse a request for which a box has no room, in number or bytes', async () => {
      const id = await account();
      const size = sealedKey(newId(), 'paris').length;
      const limited = async (count: number, limits: BoxLimits, recipients = ['lyon', 'paris']) => {
        const order = orderOf(Array.from({ length: count }, newId), recipients, { limits });
        const { name, publicKey } = { name: 'paris', publicKey: keyOf('paris') };
        const early = await store.findDeliveryRefusal({
          ...{ accountId: id, deliveryIds: order.deliveries.map(({ deliveryId }) => deliveryId) },
          ...{ recipients: [{ name, publicKey }], copyBytes: size, limits, nowMs: NOW },
        });
        const [outcome] = await commit(requestOf(id, order));
        const refusal = outcome?.kind === 'delivery_refused' ? outcome.refusal : null;
        if (recipients.includes('paris')) assert.deepEqual(early, refusal);
        return refusal;
      };
      const refusal = { reason: 'box_full', recipient: 'paris' };
      assert.deepEqual(await limited(3, { copies: 2, bytes: 2 ** 20 }, ['paris']), refusal);
      assert.equal(await limited(2, { copies: 2, bytes: 2 ** 20 }, ['paris']), null);
      assert.deepEqual(await limited(1, { copies: 2, bytes: 2 ** 20 }), refusal);
      assert.equal(await limited(1, { copies: 2, bytes: 2 ** 20 }, ['lyon']), null);
      assert.deepEqual(await limited(1, { copies: 9, bytes: 3 * size - 1 }, ['paris']), refusal);
      assert.equal(await limited(1, { copies: 9, bytes: 3 * size }, ['paris']), null);
      // A received copy counts, and a removed one does not.
      const waiting = await listed(id);
      await take(id, 'fetch', waiting);
      assert.deepEqual(await limited(1, { copies: 3, bytes: 2 ** 20 }, ['paris']), refusal);
      await take(id, 'remove', waiting.slice(0, 1));
      assert.equal(await limited(1, { copies: 3, bytes: 2 ** 20 }, ['paris']), null);
    });

    it('fill a box by requests of one batch exactly', async () => {
      const id = await account();
      const limits = { copies: 5, bytes: 2 ** 20 };
      const counts = [2, 4, 2, 1, 1];
      const requests = counts.map((count) =>
        requestOf(id, orderOf(Array.from({ length: count }, newId), ['paris'], { limits })),
      );
      const found = kinds(await commit(...requests));
      assert.deepEqual(
        found.toSorted(),
        [...Array(3).fill('committed'), 'box_full', 'box_full'].toSorted(),
      );
      assert.equal((await listed(id)).length, 5);
    });

    it('give the room of expired copies back at once, and end them with later commits', async () => {
      const id = await account();
      const limits = { copies: 2, bytes: 2 ** 20 };
      const size = sealedKey(newId(), 'paris').length;
      await deliver(id, [newId(), newId()], ['paris'], { limits });
      assert.equal(await bytesOf(id), 2 * size);
      await setClock(UNTIL);
      const order = orderOf([newId(), newId()], ['paris'], { limits, untilMs: UNTIL + HOUR_MS });
      const request = requestOf(id, order, { atMs: UNTIL });
      assert.deepEqual(kinds(await commit(request)), ['committed']);
      assert.equal(await bytesOf(id), 2 * size);
      await setClock(NOW);
    });

    it('refuse a recipient that is not registered, or now with another public key', async () => {
      const id = await account(['paris']);
      const refusal = { reason: 'unknown_recipient', recipient: 'lyon' } as const;
      assert.deepEqual(await commit(requestOf(id, orderOf([newId()]))), [
        { kind: 'delivery_refused', refusal },
      ]);
      await addRecipient(id, 'lyon', Buffer.alloc(40, 1));
      assert.deepEqual(await commit(requestOf(id, orderOf([newId()]))), [
        { kind: 'delivery_refused', refusal },
      ]);
      await store.removeRecipient(id, 'lyon');
      await addRecipient(id, 'lyon');
      await deliver(id, [newId()]);
    });

    it('remove the copies of a recipient that is removed', async () => {
      const id = await account();
      const deliveryId = newId();
      await deliver(id, [deliveryId]);
      assert.equal(await store.removeRecipient(id, 'nobody'), false);
      assert.equal(await store.removeRecipient(id, 'paris'), true);
      assert.equal(await store.removeRecipient(id, 'paris'), false);
      await addRecipient(id, 'paris');
      assert.deepEqual(await states(id, deliveryId), { lyon: 'waiting', paris: 'removed' });
      assert.deepEqual(await listed(id), []);
      const [copy] = await take(id, 'fetch', [deliveryId]);
      assert.deepEqual([copy?.state, copy?.sealedKey], ['removed', null]);
    });

    it('remove many copies in several transactions, of one box or of all', async () => {
      const ids = Array.from({ length: EMPTIED_AT_ONCE }, newId);
      const id = await account();
      await deliver(id, ids);
      await deliver(id, [newId()]);
      let steps = 0;
      const untap = tap((parameters) => {
        if (parameters.at(-1) === EMPTIED_AT_ONCE) steps += 1;
      });
      assert.equal(await store.removeRecipient(id, 'paris'), true);
      assert.equal(steps, 2);
      assert.deepEqual(await states(id, ids.at(-1) ?? newId()), {
        lyon: 'waiting',
        paris: 'removed',
      });
      const change = { accountId: id, to: 'deleted', after: newId(), atMs: NOW } as const;
      const deleted = auditRecord(null, { action: 'account_deleted' });
      assert.equal(await store.changeAccountState(change, deleted), 'stale');
      assert.notEqual(await bytesOf(id), 0);
      assert.equal(await store.changeAccountState({ ...change, after: null }, deleted), 'changed');
      untap();
      assert.equal(steps, 4);
      assert.equal(await bytesOf(id), 0);
    });

    it('remove all copies of an account that is deleted', async () => {
      const id = await account();
      await deliver(id, [newId()]);
      const change = { accountId: id, to: 'deleted', after: null, atMs: NOW } as const;
      assert.equal(
        await store.changeAccountState(change, auditRecord(null, { action: 'account_deleted' })),
        'changed',
      );
      assert.equal(await bytesOf(id), 0);
    });

    it('remove the copies of keys that must not be released', async () => {
      const id = await account();
      const [one, two] = [newId(), newId()];
      await deliver(id, [one, two]);
      await store.withdrawDeliveries({ accountId: id, deliveryIds: [one] });
      assert.deepEqual(await states(id, one), { lyon: 'removed', paris: 'removed' });
      assert.deepEqual(await states(id, two), { lyon: 'waiting', paris: 'waiting' });
    });

    it('forget deliveries only with the rows of their keys', async () => {
      const id = await account();
      const [old, young] = [newId(), newId()];
      const madeMs = NOW - 40 * DAY_MS;
      const request = requestOf(id, orderOf([old]), { atMs: madeMs });
      assert.deepEqual(kinds(await commit(request)), ['committed']);
      await deliver(id, [young]);
      const clock = { nowMs: () => NOW } as never;
      const prune = () =>
        store.prune({ keepMs: 20 * DAY_MS, clock, dryRun: false, acceptClock: true });
      await prune();
      // The copies are still in their boxes.
      assert.deepEqual(await states(id, old), { lyon: 'waiting', paris: 'waiting' });
      await take(id, 'remove', [old]);
      await take(id, 'remove', [old], 'lyon');
      await setClock(UNTIL);
      const later = { nowMs: () => UNTIL } as never;
      await store.prune({ keepMs: 20 * DAY_MS, clock: later, dryRun: false, acceptClock: true });
      await setClock(NOW);
      assert.equal(await states(id, old), null);
      assert.notEqual(await states(id, young), null);
      const [left] = await ask(
        `SELECT count(*) AS n FROM delivery_copies WHERE account_id = '${id}'`,
      );
      assert.equal(Number(left?.n), 2);
    });
  });
}
