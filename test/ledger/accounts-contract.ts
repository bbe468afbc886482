/** The contract of every ledger store for the states of accounts: suspension, resumption, deletion. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type {
  AccountChangeOutcome,
  AccountState,
  AuditAction,
  AuditRecord,
  LedgerStore,
} from '../../src/ledger/index.ts';
import { accountState } from '../../src/ledger/index.ts';
import { areRecorded, keyRequest, makeRow, NOW } from './contract.ts';
import { auditRecord } from './log-contract.ts';
import { plain } from './sealing-contract.ts';

const ACTIONS: Readonly<Record<AccountState, AuditAction>> = {
  suspended: 'account_suspended',
  active: 'account_resumed',
  deleted: 'account_deleted',
};

/** The changes of each state, and their outcome. */
const TRANSITIONS: readonly (readonly [
  before: AccountState,
  to: AccountState,
  outcome: AccountChangeOutcome,
])[] = [
  ['active', 'active', 'unchanged'],
  ['active', 'suspended', 'changed'],
  ['active', 'deleted', 'changed'],
  ['suspended', 'active', 'changed'],
  ['suspended', 'suspended', 'unchanged'],
  ['suspended', 'deleted', 'changed'],
  ['deleted', 'active', 'deleted'],
  ['deleted', 'suspended', 'deleted'],
  ['deleted', 'deleted', 'unchanged'],
];

interface AccountsOrder {
  /** Opens a store of the same database each time. */
  readonly open: () => Promise<LedgerStore>;
  /** Reads the database directly. */
  readonly ask: (sql: string) => Promise<readonly Record<string, unknown>[]>;
}

const hashOf = (accountId: string) => createHash('sha256').update(accountId).digest();

export function accountsContract(
  name: string,
  { open, ask }: AccountsOrder,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`states of accounts in a ledger: ${name}`, when, () => {
    let store: LedgerStore;
    let other: LedgerStore;
    let accounts = 0;

    before(async () => {
      store = await open();
      other = await open();
    });
    after(async () => {
      await store.close();
      await other.close();
    });

    /** Adds an account with an API key and a recipient. */
    async function account(plan = 'enterprise'): Promise<string> {
      const accountId = `acct_${++accounts}`;
      const created = { accountId, name: `Ada ${accounts}`, plan, demo: false, createdMs: NOW };
      assert.equal(await store.addAccount(created), true);
      assert.equal(await addApiKey(accountId), true);
      assert.equal(await addRecipient(accountId), 'added');
      return accountId;
    }

    const addApiKey = (accountId: string) =>
      store.addApiKey(
        {
          apiKeyId: `key_${accountId}`,
          accountId,
          hint: 'hint',
          createdMs: NOW,
          revokedMs: null,
        },
        hashOf(accountId),
      );

    /** Rotates the API key that the account began with. */
    const rotate = (accountId: string, apiKeyId: string) =>
      store.rotateApiKey({
        apiKeyId: `key_${accountId}`,
        next: { apiKeyId, hint: 'h' },
        keyHash: hashOf(apiKeyId),
        atMs: NOW,
        untilMs: NOW + 1,
      });

    const addRecipient = (accountId: string, called = 'laptop') =>
      store.addRecipient({
        accountId,
        name: called,
        suite: 's',
        publicKey: Buffer.from('k'),
        createdMs: NOW,
      });

    const auditOf = (to: AccountState, atMs = NOW): AuditRecord =>
      auditRecord(null, { action: ACTIONS[to], atMs });

    /** Brings an account to a state as an operator does: read, then change. */
    async function change(accountId: string, to: AccountState, atMs = NOW, audit = auditOf(to)) {
      const after = (await store.findAccount(accountId))?.stateAudit ?? null;
      return store.changeAccountState({ accountId, to, after, atMs }, audit);
    }

    const principalOf = async (accountId: string, from = store) =>
      (await from.authenticate([hashOf(accountId)], NOW))[0];

    async function auditCount(): Promise<number> {
      return (await store.audits(null, 1_000)).length;
    }

    it('are active at first', async () => {
      const id = await account();
      const found = await store.findAccount(id);
      assert.equal(found && accountState(found), 'active');
      assert.deepEqual(
        [found?.suspendedMs, found?.deletedMs, found?.stateAudit, found?.change],
        [null, null, null, null],
      );
      assert.equal(await store.findAccount('acct_unknown'), null);
      assert.equal((await principalOf(id))?.suspended, false);
    });

    it('change with their audit record', async () => {
      const id = await account();
      const audit = auditOf('suspended', NOW + 5);
      assert.equal(await change(id, 'suspended', NOW + 5, audit), 'changed');
      const found = plain(await other.findAccount(id));
      assert.equal(found && accountState(found), 'suspended');
      assert.deepEqual(
        [found?.suspendedMs, found?.deletedMs, found?.stateAudit],
        [NOW + 5, null, Buffer.from(audit.auditId)],
      );
      assert.deepEqual(found?.change, plain({ ...audit, pending: null }));
      const listed = (await store.listAccounts()).find(({ accountId }) => accountId === id);
      assert.deepEqual(plain({ ...listed, change: found?.change }), found);
    });

    for (const [from, to, outcome] of TRANSITIONS) {
      it(`say "${outcome}" from ${from} to ${to}`, async () => {
        const id = await account();
        if (from !== 'active') await change(id, from);
        const before = plain(await store.findAccount(id));
        const audits = await auditCount();
        assert.equal(await change(id, to, NOW + 9), outcome);
        const after = plain(await store.findAccount(id));
        if (outcome === 'changed') {
          assert.equal(after && accountState(after), to);
          assert.equal(await auditCount(), audits + 1);
        } else {
          assert.deepEqual(after, before);
          assert.equal(await auditCount(), audits);
        }
      });
    }

    it('do not change for an unknown account, nor for a caller that has read an earlier state', async () => {
      assert.equal(await change('acct_unknown', 'suspended'), 'unknown');
      const id = await account();
      const audits = await auditCount();
      const stale = { accountId: id, after: Buffer.alloc(16, 7), atMs: NOW };
      for (const to of ['suspended', 'deleted'] as const) {
        assert.equal(await store.changeAccountState({ ...stale, to }, auditOf(to)), 'stale');
      }
      assert.equal((await principalOf(id))?.suspended, false);
      assert.equal(await auditCount(), audits);
    });

    it('are suspended once, by one of two operators', async () => {
      const id = await account();
      const order = { accountId: id, to: 'suspended', after: null } as const;
      const outcomes = await Promise.all(
        [store, other].map((one, i) =>
          one.changeAccountState({ ...order, atMs: NOW + i }, auditOf('suspended', NOW + i)),
        ),
      );
      assert.deepEqual(outcomes.toSorted(), ['changed', 'unchanged']);
      const found = await store.findAccount(id);
      assert.equal(found?.suspendedMs, NOW + outcomes.indexOf('changed'));
    });

    it('mark the principals of a suspended account until it is resumed', async () => {
      const id = await account();
      await change(id, 'suspended');
      assert.equal((await principalOf(id, other))?.suspended, true);
      await change(id, 'active');
      assert.equal((await principalOf(id, other))?.suspended, false);
      assert.equal((await store.listApiKeys(id))[0]?.revokedMs, null);
    });

    it('admit new API keys, recipients and settings while suspended', async () => {
      const id = await account();
      await change(id, 'suspended');
      const record = { apiKeyId: `key_${id}_2`, accountId: id, hint: 'h', createdMs: NOW };
      assert.equal(await store.addApiKey({ ...record, revokedMs: null }, hashOf('2')), true);
      assert.equal((await store.authenticate([hashOf('2')], NOW))[0]?.suspended, true);
      assert.equal(await store.setPlan(id, 'tiny'), true);
    });

    it('leave what a deleted account has generated, and erase its name, API keys and recipients', async () => {
      const [id, bystander] = [await account(), await account()];
      const row = makeRow();
      await store.commit([keyRequest(id, row)], []);
      await store.revokeApiKey(`key_${id}`, NOW - 5);
      const second = {
        ...{ apiKeyId: `key_${id}_b`, accountId: id, hint: 'h', createdMs: NOW, revokedMs: null },
        ...{ name: 'laptop of Ada', addressRanges: ['192.0.2.7/32'], scopes: ['read'] as const },
      };
      await store.addApiKey(second, hashOf(`${id}b`));
      assert.equal(await change(id, 'deleted', NOW + 1), 'changed');
      assert.deepEqual(await store.authenticate([hashOf(id), hashOf(`${id}b`)], NOW), [
        undefined,
        undefined,
      ]);
      const [first, last] = await store.listApiKeys(id);
      assert.deepEqual([first?.revokedMs, last?.revokedMs], [NOW - 5, NOW + 1]);
      assert.deepEqual([last?.name, last?.addressRanges, last?.scopes], [null, null, ['read']]);
      assert.deepEqual(await store.listRecipients(id), []);
      const found = await store.findAccount(id);
      assert.deepEqual([found?.name, found?.plan], ['(deleted)', 'enterprise']);
      assert.deepEqual(await areRecorded(store, [row.keyId]), [true]);
      assert.deepEqual((await store.activity(id, 0)).keys, 1);
      assert.equal((await principalOf(bystander))?.accountId, bystander);
      assert.equal((await store.listRecipients(bystander)).length, 1);
    });

    it('never give a deleted account a new API key, recipient, setting or account of its ID', async () => {
      const id = await account('lost');
      const outside = async () =>
        (await store.accountsOutside(['tiny', 'enterprise'])).map(({ accountId }) => accountId);
      assert.ok((await outside()).includes(id));
      await change(id, 'deleted');
      assert.ok(!(await outside()).includes(id));
      const record = { apiKeyId: `key_${id}_3`, accountId: id, hint: 'h', createdMs: NOW };
      assert.equal(await store.addApiKey({ ...record, revokedMs: null }, hashOf('3')), false);
      await ask(`UPDATE api_keys SET revoked_ms = NULL WHERE account_id = '${id}'`);
      assert.equal(await rotate(id, `key_${id}_6`), 'unusable');
      assert.equal(await addRecipient(id), 'unknown_account');
      assert.equal(await store.setPlan(id, 'tiny'), false);
      assert.equal(await store.setSealedOnly(id, 'on'), false);
      const again = { accountId: id, name: 'n', plan: 'tiny', demo: false, createdMs: NOW };
      assert.equal(await store.addAccount(again), false);
      assert.equal((await store.findAccount(id))?.name, '(deleted)');
    });

    it('refuse API keys that are issued or rotated while the account is deleted', async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => account()));
      await Promise.all(
        ids.flatMap((id) => [
          other.changeAccountState(
            { accountId: id, to: 'deleted', after: null, atMs: NOW },
            auditOf('deleted'),
          ),
          store.addApiKey(
            { apiKeyId: `key_${id}_4`, accountId: id, hint: 'h', createdMs: NOW, revokedMs: null },
            hashOf(`${id}4`),
          ),
          rotate(id, `key_${id}_5`),
          addRecipient(id, 'late'),
        ]),
      );
      for (const id of ids) {
        assert.ok((await store.listApiKeys(id)).every(({ revokedMs }) => revokedMs !== null));
        assert.deepEqual(await store.listRecipients(id), []);
      }
    });
  });
}
