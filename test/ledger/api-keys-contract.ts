/** The contract of every ledger store for API keys: rules, rotation, last use, and monthly limits. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type {
  ApiKeySettings,
  AuditRecord,
  CommitOutcome,
  LedgerStore,
  MeteredRequest,
} from '../../src/ledger/index.ts';
import { DAY_MS } from './clock-contract.ts';
import { keyRequest, MONTH, makeKeyId, makeRow, NOW } from './contract.ts';
import { auditRecord } from './log-contract.ts';
import type { RecordsOrder } from './records-contract.ts';

const SETTINGS: ApiKeySettings = {
  name: 'Billing – 𝛌',
  scopes: ['generate', 'read', 'receive'],
  recipients: ['paris', 'Bordeaux-2'],
  expiresMs: NOW + 90 * DAY_MS,
  addressRanges: ['192.0.2.0/24', '2001:db8::/32'],
  ratePerSecond: 0.5,
  burst: 3,
  monthlyLimit: 4,
};

const { name: _, monthlyLimit: __, ...RESTRICTIONS } = SETTINGS;

const NONE: Partial<ApiKeySettings> = {};

export function apiKeysContract(
  name: string,
  { open, setClock }: Pick<RecordsOrder, 'open' | 'setClock'>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`API keys of a ledger: ${name}`, when, () => {
    let store: LedgerStore;
    let other: LedgerStore;
    let count = 0;

    before(async () => {
      store = await open();
      other = await open();
      await setClock(NOW);
    });
    after(async () => {
      await store.close();
      await other.close();
    });

    const hashOf = (apiKeyId: string) => Buffer.alloc(32, apiKeyId);

    async function account(plan = 'enterprise'): Promise<string> {
      const accountId = `acct_${++count}`;
      await store.addAccount({ accountId, name: accountId, plan, demo: false, createdMs: NOW });
      return accountId;
    }

    async function issue(accountId: string, settings = NONE, audit: AuditRecord | null = null) {
      const apiKeyId = `key_${++count}`;
      const record = { apiKeyId, accountId, hint: 'h', createdMs: NOW + count, revokedMs: null };
      assert.ok(await store.addApiKey({ ...record, ...settings }, hashOf(apiKeyId), audit));
      return apiKeyId;
    }

    async function rotate(
      apiKeyId: string,
      untilMs: number,
      more: { expiresMs?: number | null; audit?: AuditRecord; of?: LedgerStore } = {},
    ) {
      const next = { apiKeyId: `key_${++count}`, hint: 'n' };
      const { audit, of = store, ...expiry } = more;
      const order = { apiKeyId, next, keyHash: hashOf(next.apiKeyId), atMs: NOW, untilMs };
      const outcome = await of.rotateApiKey({ ...order, ...expiry }, audit);
      return { outcome, next: next.apiKeyId };
    }

    const principalOf = async (apiKeyId: string) =>
      (await store.authenticate([hashOf(apiKeyId)], NOW))[0];

    const recordOf = (apiKeyId: string) => store.findApiKey(hashOf(apiKeyId));

    const audits = async () => (await store.audits(null, 10_000)).length;

    const audit = () => auditRecord(null, { action: 'api_key_rotated', auditId: makeKeyId() });

    it('are kept with their settings, and are found by their hash and listed', async () => {
      const id = await account();
      const plain = await issue(id);
      const full = await issue(id, SETTINGS);
      const base = { accountId: id, hint: 'h', revokedMs: null, lastUsedHour: null };
      const nothing = Object.fromEntries(Object.keys(SETTINGS).map((key) => [key, null]));
      const listed = await store.listApiKeys(id);
      const expected = [
        { ...base, ...nothing, apiKeyId: plain, replacedBy: null },
        { ...base, ...SETTINGS, apiKeyId: full, replacedBy: null },
      ];
      assert.deepEqual(
        listed.map(({ createdMs, ...record }) => record),
        expected,
      );
      assert.deepEqual(await recordOf(full), listed[1]);
      assert.equal(await recordOf('key_unknown'), null);
    });

    it('have rules for the service to judge, or none', async () => {
      const id = await account('research');
      const plain = await principalOf(await issue(id, { name: 'n' }));
      assert.deepEqual([plain?.rules, plain?.lastUsedHour], [null, null]);
      const full = await issue(id, SETTINGS);
      const principal = await principalOf(full);
      assert.deepEqual(principal?.rules, {
        ...RESTRICTIONS,
        monthly: { counterId: full, limit: 4 },
        usage: { month: MONTH, used: 0, quota: 4, counterId: full },
      });
      assert.deepEqual(principal?.usage, { month: MONTH, used: 0, quota: 1_000 });
      // The caller judges the expiry.
      assert.ok(await principalOf(await issue(id, { expiresMs: NOW - 1 })));
      await store.revokeApiKey(full, NOW);
      assert.equal(await principalOf(full), undefined);
      assert.equal((await recordOf(full))?.revokedMs, NOW);
    });

    it('are rotated: the new one has the settings, the old one ends after the overlap', async () => {
      const id = await account();
      const old = await issue(id, SETTINGS);
      const before = await audits();
      const { outcome, next } = await rotate(old, NOW + DAY_MS, { audit: audit() });
      assert.equal(outcome, 'rotated');
      assert.equal(await audits(), before + 1);
      const [first, second] = [await recordOf(old), await recordOf(next)];
      assert.deepEqual([first?.expiresMs, first?.replacedBy], [NOW + DAY_MS, next]);
      assert.equal(first?.revokedMs, null);
      const { createdMs, ...rest } = second ?? { createdMs: 0 };
      assert.equal(createdMs, NOW);
      const same = { ...SETTINGS, accountId: id, revokedMs: null, lastUsedHour: null };
      assert.deepEqual(rest, { ...same, apiKeyId: next, hint: 'n', replacedBy: null });
    });

    it('end at once without an overlap, and never later than they would have', async () => {
      const id = await account();
      const [first, second] = [await issue(id), await issue(id, { expiresMs: NOW + 5 })];
      const third = (await rotate(first, NOW)).next;
      assert.equal(await principalOf(first), undefined);
      assert.deepEqual([(await recordOf(first))?.revokedMs, third], [NOW, third]);
      const fourth = (await rotate(second, NOW + DAY_MS, { expiresMs: NOW + 9 * DAY_MS })).next;
      assert.equal((await recordOf(second))?.expiresMs, NOW + 5);
      assert.equal((await recordOf(fourth))?.expiresMs, NOW + 9 * DAY_MS);
      const fifth = (await rotate(fourth, NOW + 1, { expiresMs: null })).next;
      assert.equal((await recordOf(fifth))?.expiresMs, null);
    });

    it('cannot be rotated when they are replaced, revoked or expired', async () => {
      const id = await account();
      const replaced = await issue(id);
      await rotate(replaced, NOW + DAY_MS);
      const revoked = await issue(id);
      await store.revokeApiKey(revoked, NOW);
      const expired = await issue(id, { expiresMs: NOW });
      const before = [await audits(), (await store.listApiKeys()).length];
      for (const one of [replaced, revoked, expired, 'key_unknown']) {
        assert.equal((await rotate(one, NOW, { audit: audit() })).outcome, 'unusable', one);
      }
      assert.deepEqual([await audits(), (await store.listApiKeys()).length], before);
    });

    it('are rotated once, whichever server is asked', async () => {
      const old = await issue(await account());
      const before = await audits();
      const outcomes = await Promise.all(
        [store, other, store, other].map((of) =>
          rotate(old, NOW + DAY_MS, { of, audit: audit() }).then(({ outcome }) => outcome),
        ),
      );
      assert.deepEqual(outcomes.sort(), ['rotated', 'unusable', 'unusable', 'unusable']);
      assert.equal(await audits(), before + 1);
    });

    it('keep the latest hour of their use', async () => {
      const id = await account();
      const [one, two] = [await issue(id), await issue(id, SETTINGS)];
      await store.noteApiKeyUses([one, 'key_unknown'], 7);
      await other.noteApiKeyUses([one, two], 9);
      await store.noteApiKeyUses([one, two], 8);
      await store.noteApiKeyUses([], 10);
      assert.deepEqual(
        (await store.listApiKeys(id)).map(({ lastUsedHour }) => lastUsedHour),
        [9, 9],
      );
      assert.equal((await principalOf(two))?.lastUsedHour, 9);
    });

    describe('with a monthly limit', () => {
      const requestOf = (
        accountId: string,
        counterId: string | null,
        more: Partial<MeteredRequest> = {},
      ): MeteredRequest => ({
        ...keyRequest(accountId),
        ...(counterId !== null && { apiKeyLimit: { counterId, limit: 4 } }),
        ...more,
      });

      const kinds = (outcomes: readonly CommitOutcome[]) => outcomes.map(({ kind }) => kind);

      const usedBy = async (apiKeyId: string) => (await principalOf(apiKeyId))?.rules?.usage?.used;

      it('get exactly their limit, in order, beside other API keys of the account', async () => {
        const id = await account();
        const [limited, second] = [await issue(id, SETTINGS), await issue(id, SETTINGS)];
        const batch = (counterId: string | null, keys: number) =>
          requestOf(id, counterId, { keys: Array.from({ length: keys }, () => makeRow()) });
        const outcomes = await store.commit(
          [
            ...[batch(limited, 2), batch(second, 3), batch(null, 5), batch(limited, 3)],
            ...[batch(limited, 0), batch(second, 2), batch(limited, 1), batch(limited, 0)],
          ],
          [],
        );
        assert.deepEqual(kinds(outcomes), [
          ...['committed', 'committed', 'committed', 'quota_exceeded'],
          ...['committed', 'quota_exceeded', 'committed', 'quota_exceeded'],
        ]);
        const usage = { month: MONTH, used: 4, quota: 4, counterId: limited };
        assert.deepEqual(outcomes.at(-1), { kind: 'quota_exceeded', usage });
        assert.deepEqual([await usedBy(limited), await usedBy(second)], [4, 3]);
        assert.equal((await principalOf(limited))?.usage.used, 12);
        assert.equal((await store.activity(id, NOW - DAY_MS)).metered, 12);
      });

      it('cannot exceed the quota of the account, which counts first', async () => {
        const id = await account('tiny');
        const limited = await issue(id, SETTINGS);
        const requests = [limited, null, limited, limited].map((one) => requestOf(id, one));
        const outcomes = await store.commit(requests, []);
        const full = { month: MONTH, used: 3, quota: 3 };
        assert.deepEqual(outcomes, [
          { kind: 'committed', usage: { month: MONTH, used: 1, quota: 3 } },
          { kind: 'committed', usage: { ...full, used: 2 } },
          { kind: 'committed', usage: full },
          { kind: 'quota_exceeded', usage: full },
        ]);
        assert.equal(await usedBy(limited), 2);
      });

      it('report the limit that leaves less', async () => {
        const id = await account('tiny');
        const limited = await issue(id, { monthlyLimit: 2 });
        const apiKeyLimit = { counterId: limited, limit: 2 };
        const [outcome] = await store.commit([requestOf(id, null, { apiKeyLimit })], []);
        const usage = { month: MONTH, used: 1, quota: 2, counterId: limited };
        assert.deepEqual(outcome, { kind: 'committed', usage });
      });

      it('share it with the API keys that replace them', async () => {
        const id = await account();
        const first = await issue(id, SETTINGS);
        const second = (await rotate(first, NOW + DAY_MS)).next;
        const third = (await rotate(second, NOW + DAY_MS)).next;
        await store.commit([requestOf(id, first)], []);
        for (const one of [first, second, third]) {
          const rules = (await principalOf(one))?.rules;
          assert.deepEqual(
            [rules?.monthly, rules?.usage?.used],
            [{ counterId: first, limit: 4 }, 1],
          );
        }
      });

      it('are counted exactly when several servers commit at once', async () => {
        const id = await account();
        const limited = await issue(id, SETTINGS);
        const outcomes = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            (i % 2 ? store : other).commit([requestOf(id, limited)], []),
          ),
        );
        const committed = kinds(outcomes.flat()).filter((kind) => kind === 'committed');
        assert.equal(committed.length, 4);
        assert.equal(await usedBy(limited), 4);
      });

      it('count neither a repeated key nor a request of another month', async () => {
        const id = await account();
        const limited = await issue(id, SETTINGS);
        const row = makeRow();
        const again = { ...row, keyId: makeKeyId() };
        const outcomes = await store.commit(
          [row, again].map((one) => requestOf(id, limited, { keys: [one] })),
          [],
        );
        assert.deepEqual(kinds(outcomes), ['committed', 'repeated_key']);
        assert.equal(await usedBy(limited), 1);
        const later = NOW + 31 * DAY_MS;
        await setClock(later);
        await store.commit([requestOf(id, limited, { atMs: later })], []);
        const [principal] = await store.authenticate([hashOf(limited)], later);
        assert.equal(principal?.rules?.usage?.used, 1);
        await setClock(NOW);
      });
    });
  });
}
