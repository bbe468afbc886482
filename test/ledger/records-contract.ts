/** The contract of every ledger store for key records: labels, expiry, listing, and the states of keys. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type {
  AuditRecord,
  KeyRecord,
  LedgerRow,
  LedgerStore,
  RevocationReason,
  RevokedState,
} from '../../src/ledger/index.ts';
import { DAY_MS } from './clock-contract.ts';
import { guessedRow, keyRequest, makeCommitment, makeKeyId, makeRow, NOW } from './contract.ts';
import { auditRecord, logStart } from './log-contract.ts';
import { plain, seal } from './sealing-contract.ts';

const LABELS = '{"env":"prod","team":"a \\"b\\" – c"}';

const PV = Buffer.alloc(768);
const EVIDENCE = { definition: 2, gateP: 0.25, testsPassed: 14, totalTests: 15, pValues: PV };

/** Which programs may open the ledger. */

/** The states that a revocation may meet, and what then is stored. */
const TRANSITIONS: readonly (readonly [
  before: RevokedState | 'active' | 'expired',
  asked: RevokedState,
  after: RevokedState,
  kind: 'revoked' | 'unchanged',
])[] = [
  ['active', 'deactivated', 'deactivated', 'revoked'],
  ['active', 'compromised', 'compromised', 'revoked'],
  ['deactivated', 'deactivated', 'deactivated', 'unchanged'],
  ['deactivated', 'compromised', 'compromised', 'revoked'],
  ['compromised', 'deactivated', 'compromised', 'unchanged'],
  ['compromised', 'compromised', 'compromised', 'unchanged'],
  ['expired', 'deactivated', 'deactivated', 'revoked'],
  ['expired', 'compromised', 'compromised', 'revoked'],
];

const REASONS: Record<RevokedState, RevocationReason> = {
  deactivated: 'superseded',
  compromised: 'key_compromise',
};

export interface RecordsOrder {
  /** Opens a store of the same database each time. */
  readonly open: () => Promise<LedgerStore>;
  /** Sets the database's own clock, if it has one. */
  readonly setClock: (atMs: number) => Promise<void>;
  /** Reads or changes the database directly. */
  readonly ask: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  /** Returns a value that each commit that writes changes. */
  readonly writes: () => Promise<unknown>;
  /** Reports the parameters that reach the database, until the returned function is called. */
  readonly tap: (seen: (parameters: readonly unknown[]) => void) => () => void;
}

export function recordsContract(
  name: string,
  { open, setClock, ask, writes, tap }: RecordsOrder,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`key records of a ledger: ${name}`, when, () => {
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
      await store.addAccount(created);
      return accountId;
    }

    /** Records keys of an account at times, and returns their rows in this order. */
    async function record(
      accountId: string,
      changes: readonly Partial<LedgerRow>[],
    ): Promise<LedgerRow[]> {
      const rows = changes.map((one) => makeRow(one));
      await store.commit(
        rows.map((row) => keyRequest(accountId, row)),
        [],
      );
      return rows;
    }

    const rowsAt = (times: readonly number[]) =>
      times.map((atMs) => ({ keyId: makeKeyId(atMs), createdMs: atMs }));

    function revocationOf(
      accountId: string,
      keyId: Uint8Array,
      state: RevokedState,
      atMs: number,
      reason = REASONS[state],
    ) {
      return { accountId, keyId, state, reason, atMs };
    }

    const revocationAudit = (atMs = NOW, logId: number | null = null): AuditRecord =>
      auditRecord(logId, { action: 'key_revoked', atMs, details: '{}', auditId: makeKeyId(atMs) });

    async function revoke(
      accountId: string,
      keyId: Uint8Array,
      state: RevokedState,
      atMs = NOW,
      of = store,
    ) {
      const audit = revocationAudit(atMs);
      const order = revocationOf(accountId, keyId, state, atMs);
      const [outcome] = await of.revokeKeys([{ order, audit }]);
      return { outcome, audit };
    }

    const audited = async ({ auditId }: AuditRecord): Promise<boolean> =>
      (await store.audits(null, 10_000)).some((one) => Buffer.compare(one.auditId, auditId) === 0);

    const ids = (records: readonly KeyRecord[]) =>
      records.map(({ keyId }) => Buffer.from(keyId).toString('hex'));

    it('finds the record of a key by its ID, in its own account only', async () => {
      const [id, stranger] = [await account(), await account()];
      const sealed = seal();
      const [plainKey, tested] = await record(id, [
        { labels: LABELS, expiresMs: NOW + DAY_MS, createdMs: NOW - 5, securityLevel: 128 },
        { evidence: EVIDENCE, sealed, source: 'jitter', modulation: 'none' },
      ]);
      const ofPlain: KeyRecord = {
        keyId: plainKey.keyId,
        accountId: id,
        apiKeyId: `key_${id}`,
        createdMs: NOW - 5,
        securityLevel: 128,
        strengthBits: null,
        modulation: 'phase',
        source: 'os',
        evidence: null,
        recipients: [],
        deliveryId: null,
        labels: LABELS,
        expiresMs: NOW + DAY_MS,
        revocation: null,
        hasReceipt: false,
      };
      assert.deepEqual(plain(await store.findKeyRecord(id, plainKey.keyId)), plain(ofPlain));
      const { pValues: _, ...evidence } = EVIDENCE;
      const ofTested: KeyRecord = {
        ...ofPlain,
        ...{ keyId: tested.keyId, createdMs: tested.createdMs, securityLevel: 256 },
        ...{
          modulation: 'none',
          source: 'jitter',
          recipients: [sealed.recipient],
          deliveryId: null,
          evidence,
        },
        ...{ labels: null, expiresMs: null },
      };
      assert.deepEqual(plain(await store.findKeyRecord(id, tested.keyId)), plain(ofTested));
      assert.equal(await store.findKeyRecord(stranger, tested.keyId), null);
      assert.equal(await store.findKeyRecord(id, makeKeyId()), null);
      assert.deepEqual(
        (await store.findRecord(plainKey.keyId))?.labels,
        LABELS,
        'a row for its statement has the labels',
      );
      assert.equal((await store.findRecord(plainKey.keyId))?.expiresMs, NOW + DAY_MS);
    });

    it('says whether a key has what a receipt needs, and its strength', async () => {
      const id = await account();
      const softwareId = await store.registerSoftware('records/1');
      const receipt = {
        ...{ keyCommitment: randomBytes(32), salt: randomBytes(32), strengthBits: 128 },
        ...{ sources: 'os:256', softwareId, pending: null },
      };
      const [row] = await record(id, [{ receipt }]);
      const found = await store.findKeyRecord(id, row.keyId);
      assert.deepEqual([found?.hasReceipt, found?.strengthBits], [true, 128]);
    });

    it('lists the keys of one account, newest first, in pages', async () => {
      const [id, stranger] = [await account(), await account()];
      const times = [0, 1, 2, 3, 4].map((day) => NOW - 60 * DAY_MS + 15 * day * DAY_MS);
      const rows = await record(id, rowsAt(times));
      await record(stranger, rowsAt(times));
      const expected = ids(rows as unknown as KeyRecord[]).reverse();
      const seen: string[] = [];
      let beforeKeyId: Uint8Array | null = null;
      for (let pages = 0; pages < 4; pages++) {
        const query = { accountId: id, beforeKeyId, fromKeyId: null, limit: 2 };
        const { keys, next } = await store.listKeys(query);
        assert.ok(keys.length <= 2 && keys.every(({ accountId }) => accountId === id));
        seen.push(...ids(keys));
        beforeKeyId = next;
        if (next === null) break;
      }
      assert.equal(beforeKeyId, null);
      assert.deepEqual(seen, expected);
      const all = await store.listKeys({
        ...{ accountId: id, beforeKeyId: rows[4].keyId, fromKeyId: rows[1].keyId, limit: 9 },
      });
      assert.deepEqual(ids(all.keys), expected.slice(1, 4));
      assert.equal(all.next, null);
      const none = { accountId: 'acct_none', beforeKeyId: null, fromKeyId: null, limit: 9 };
      assert.deepEqual(await store.listKeys(none), { keys: [], next: null });
    });

    it('lists the keys of one account from any position, such as a key of another account', async () => {
      const [id, stranger] = [await account(), await account()];
      const times = [NOW - 3, NOW - 2, NOW - 1];
      const own = await record(id, rowsAt(times));
      const foreign = await record(stranger, rowsAt(times));
      const positions = [
        ...foreign.map(({ keyId }) => keyId),
        ...[Buffer.alloc(16), Buffer.alloc(16, 0xff), randomBytes(16)],
      ];
      for (const beforeKeyId of positions) {
        const query = { accountId: id, beforeKeyId, fromKeyId: null, limit: 9 };
        const below = own.filter(({ keyId }) => Buffer.compare(keyId, beforeKeyId) < 0);
        const expected = ids(below as unknown as KeyRecord[]).reverse();
        const page = await store.listKeys(query);
        assert.deepEqual([ids(page.keys), page.next], [expected, null]);
      }
    });

    for (const [before, asked, stored, kind] of TRANSITIONS) {
      const effect = kind === 'revoked' ? 'makes' : 'leaves';
      it(`${effect} a key that is ${before} ${stored} when it is to be ${asked}`, async () => {
        const id = await account();
        const expiresMs = before === 'expired' ? NOW - 1 : null;
        const [{ keyId }] = await record(id, [{ expiresMs }]);
        const isRevoked = before === 'deactivated' || before === 'compromised';
        if (isRevoked) await revoke(id, keyId, before, NOW - 7);
        const { outcome, audit } = await revoke(id, keyId, asked, NOW);
        assert.ok(outcome.kind === 'revoked' || outcome.kind === 'unchanged');
        const revokedMs = kind === 'revoked' ? NOW : NOW - 7;
        const revocation = { state: stored, reason: REASONS[stored], revokedMs };
        assert.deepEqual([outcome.kind, plain(outcome.record.revocation)], [kind, revocation]);
        assert.deepEqual(
          plain((await other.findKeyRecord(id, keyId))?.revocation),
          plain(revocation),
        );
        assert.equal(await audited(audit), kind === 'revoked');
      });
    }

    it('keeps the first reason and time of a state', async () => {
      const id = await account();
      const [{ keyId }] = await record(id, [{}]);
      await revoke(id, keyId, 'deactivated', NOW - 9);
      const again = revocationOf(id, keyId, 'deactivated', NOW, 'cessation_of_use');
      const [outcome] = await store.revokeKeys([{ order: again, audit: revocationAudit() }]);
      assert.ok(outcome.kind === 'unchanged');
      const { revocation } = outcome.record;
      assert.deepEqual([revocation?.reason, revocation?.revokedMs], ['superseded', NOW - 9]);
    });

    it('revokes no key of another account and no unknown key, and writes nothing', async () => {
      const [id, stranger] = [await account(), await account()];
      const [{ keyId, commitment }] = await record(id, [{}]);
      for (const [accountId, asked] of [
        [stranger, keyId],
        [id, makeKeyId()],
      ] as const) {
        const { outcome, audit } = await revoke(accountId, asked, 'compromised');
        assert.deepEqual(outcome, { kind: 'unknown' });
        assert.equal(await audited(audit), false);
      }
      assert.deepEqual(await store.findStates([commitment]), [null]);
    });

    it('writes the audit record and its pending entry with the revocation, once', async () => {
      const id = await account();
      const [{ keyId }] = await record(id, [{}]);
      const { logId } = await store.startLog(logStart('records.example/log'));
      const order = revocationOf(id, keyId, 'compromised', NOW);
      const [first, second] = [revocationAudit(NOW, logId), revocationAudit(NOW, logId)];
      await store.revokeKeys([{ order, audit: first }]);
      await other.revokeKeys([{ order, audit: second }]);
      assert.equal(await store.findLogged(first.auditId), 'pending');
      assert.equal(await store.findLogged(second.auditId), null);
      const [state] = await store.findKeyStates([keyId]);
      assert.deepEqual(plain(state?.audit?.auditId), plain(first.auditId));
    });

    it('makes exactly one of several concurrent revocations the one that counts', async () => {
      const id = await account();
      const keys = await record(
        id,
        Array.from({ length: 20 }, () => ({})),
      );
      for (const { keyId } of keys) {
        const outcomes = await Promise.all(
          [store, other, store, other].map((of) => revoke(id, keyId, 'compromised', NOW, of)),
        );
        const made = outcomes.filter(({ outcome }) => outcome.kind === 'revoked');
        assert.equal(made.length, 1);
        const [state] = await store.findKeyStates([keyId]);
        assert.deepEqual(plain(state?.audit?.auditId), plain(made[0].audit.auditId));
      }
    });

    it('revokes many keys in one call, each as if alone, in the order of the call', async () => {
      const [id, stranger] = [await account(), await account()];
      const keys = await record(
        id,
        Array.from({ length: 40 }, (_, i) => ({ expiresMs: i % 2 === 0 ? NOW + 3 : null })),
      );
      const orders = keys.flatMap(({ keyId }, i) => [
        revocationOf(id, keyId, 'deactivated', NOW + i),
        revocationOf(stranger, keyId, 'compromised', NOW),
        revocationOf(id, keyId, 'compromised', NOW + 100 + i),
        revocationOf(id, keyId, 'deactivated', NOW + 200 + i),
      ]);
      const revocations = [...orders, revocationOf(id, makeKeyId(), 'compromised', NOW)].map(
        (order) => ({ order, audit: revocationAudit(order.atMs) }),
      );
      const outcomes = await store.revokeKeys(revocations);
      const kinds = ['revoked', 'unknown', 'revoked', 'unchanged'];
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        [...keys.flatMap(() => kinds), 'unknown'],
      );
      for (const [i, { audit }] of revocations.entries()) {
        assert.equal(await audited(audit), outcomes[i].kind === 'revoked');
      }
      const states = await other.findKeyStates(keys.map(({ keyId }) => keyId));
      assert.deepEqual(
        states.map((state) => state?.revocation?.revokedMs),
        keys.map((_, i) => NOW + 100 + i),
      );
      assert.deepEqual(await store.revokeKeys([]), []);
    });

    it('revokes the same keys from two stores in opposite orders at once', async () => {
      const id = await account();
      const keys = await record(
        id,
        Array.from({ length: 60 }, () => ({})),
      );
      const from = (of: LedgerStore, some: readonly { readonly keyId: Uint8Array }[]) =>
        of.revokeKeys(
          some.map(({ keyId }) => ({
            order: revocationOf(id, keyId, 'compromised', NOW),
            audit: revocationAudit(),
          })),
        );
      for (let round = 0; round < 5; round++) {
        const some = keys.slice(12 * round, 12 * (round + 1));
        const found = await Promise.all([from(store, some), from(other, some.toReversed())]);
        const made = found.flat().filter(({ kind }) => kind === 'revoked');
        assert.equal(made.length, some.length);
      }
    });

    it('writes an unchanged state again, so that its commit is confirmed', async () => {
      const id = await account();
      const [{ keyId }] = await record(id, [{}]);
      await revoke(id, keyId, 'deactivated');
      const before = await writes();
      const { outcome } = await revoke(id, keyId, 'deactivated');
      assert.equal(outcome.kind, 'unchanged');
      assert.notEqual(await writes(), before);
    });

    it('finds the state of a key by its whole commitment, and sends only the fingerprint', async () => {
      const id = await account();
      const [revoked, expiring, active] = await record(id, [{}, { expiresMs: NOW + 3 }, {}]);
      await revoke(id, revoked.keyId, 'compromised');
      const { commitment } = revoked;
      const guess = guessedRow(commitment.fingerprint).commitment;
      const asked = [commitment, guess, expiring.commitment, active.commitment, makeCommitment()];
      const seen: unknown[] = [];
      const untap = tap((parameters) => seen.push(...parameters));
      const found = await store.findStates([...asked, { ...commitment, version: 2 }]);
      untap();
      const revocation = { state: 'compromised', reason: 'key_compromise', revokedMs: NOW };
      assert.deepEqual(plain(found), [
        plain({ keyId: revoked.keyId, expiresMs: null, revocation }),
        null,
        plain({ keyId: expiring.keyId, expiresMs: NOW + 3, revocation: null }),
        null,
        null,
        null,
      ]);
      const sent = seen.flat(2).map(String);
      assert.ok(sent.includes(String(commitment.fingerprint)));
      assert.ok(!sent.some((one) => one.includes(commitment.digest.toString('hex'))));
      assert.ok(!seen.flat(2).some((one) => one instanceof Uint8Array && one.length >= 32));
      assert.deepEqual(await store.findStates([]), []);
    });

    it('keeps the states of pruned keys', async () => {
      const id = await account();
      const atMs = NOW - 20 * DAY_MS;
      const old = { createdMs: atMs, labels: LABELS };
      const [revoked, expiring] = await record(id, [
        { ...old, keyId: makeKeyId(atMs) },
        { ...old, keyId: makeKeyId(atMs), expiresMs: NOW + 5 },
      ]);
      await revoke(id, revoked.keyId, 'deactivated');
      const order = { keepMs: 15 * DAY_MS, clock: { nowMs: () => NOW }, dryRun: false };
      while ((await store.prune(order)).isPartial);
      assert.equal(await store.findKeyRecord(id, revoked.keyId), null);
      const found = await store.findStates([revoked.commitment, expiring.commitment]);
      assert.deepEqual(
        found.map((one) => [one?.revocation?.state ?? null, one?.expiresMs]),
        [
          ['deactivated', null],
          [null, NOW + 5],
        ],
      );
      const { outcome } = await revoke(id, revoked.keyId, 'compromised');
      assert.deepEqual(outcome, { kind: 'unknown' });
    });

    it('writes no state for a request that is refused', async () => {
      const id = await account('tiny');
      const rows = Array.from({ length: 4 }, () => makeRow({ expiresMs: NOW + 9, labels: LABELS }));
      const outcomes = await store.commit(
        rows.map((row) => keyRequest(id, row)),
        [],
      );
      assert.equal(outcomes[3].kind, 'quota_exceeded');
      const found = await store.findStates(rows.map(({ commitment }) => commitment));
      assert.deepEqual(
        found.map((one) => one !== null),
        [true, true, true, false],
      );
    });

    it('pages through all states, with the rows and audit records that explain them', async () => {
      const id = await account();
      const [revoked, expiring] = await record(id, [
        { expiresMs: NOW + 1 },
        { expiresMs: NOW + 2 },
      ]);
      const { audit } = await revoke(id, revoked.keyId, 'compromised');
      const states = await store.findKeyStates([revoked.keyId, makeKeyId(), expiring.keyId]);
      assert.equal(states[1], null);
      const [first, , last] = states;
      const { commitment } = revoked;
      const row = { accountId: id, commitment, expiresMs: NOW + 1 };
      const revocation = { state: 'compromised', reason: 'key_compromise', revokedMs: NOW };
      assert.deepEqual(
        plain(first),
        plain({ ...row, keyId: revoked.keyId, revocation, row, audit: { ...audit } }),
      );
      assert.deepEqual([last?.revocation, last?.audit], [null, null]);
      const all = [];
      for (let at: Uint8Array | null = null; ; ) {
        const page: Awaited<ReturnType<LedgerStore['pageKeyStates']>> = await store.pageKeyStates(
          at,
          2,
        );
        all.push(...page.map(({ keyId }) => Buffer.from(keyId).toString('hex')));
        if (page.length < 2) break;
        at = page[1].keyId;
      }
      assert.deepEqual(all, [...new Set(all)].sort());
      assert.ok(all.includes(Buffer.from(expiring.keyId).toString('hex')));
    });

    it('leaves no trace of a probe among the states', async () => {
      const count = async () => (await ask('SELECT count(*) AS n FROM key_states'))[0]?.n;
      const before = await count();
      await store.probe({ accountIds: [], room: true });
      assert.deepEqual(await count(), before);
    });
  });
}
