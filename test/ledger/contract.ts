/** The contract of every ledger store. Each store's test file runs this with its own opener. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { MAX_CANDIDATES } from '../../src/ledger/commitments.ts';
import type {
  CommitOutcome,
  LedgerRow,
  LedgerStore,
  MeteredRequest,
} from '../../src/ledger/index.ts';
import { keyIdMs } from '../../src/ledger/key-time.ts';
import { type Commitment, Keyring } from '../../src/proof/index.ts';
import { KeyWorker } from '../../src/service/threads/key-worker.ts';
import type { KeyTask } from '../../src/service/threads/messages.ts';

import {
  fakeGenerator,
  fakePlainGenerator,
  keyring,
  order,
  plainRow,
  RecordingDrbg,
  STAGED,
} from '../support/servers/fakes.ts';

export const QUOTAS = { research: 1_000, tiny: 3, enterprise: null };
export const MONTH = 2026 * 12 + 10;
export const NOW = Date.UTC(2026, 10, 21, 12, 34, 56, 789);

/** Returns a UUIDv7 of a time, as the service makes it. */
export function makeKeyId(atMs = NOW): Uint8Array {
  const keyId = randomBytes(16);
  keyId.writeUIntBE(atMs, 0, 6);
  keyId[6] = 0x70 | (keyId[6] & 0x0f);
  keyId[8] = 0x80 | (keyId[8] & 0x3f);
  return keyId;
}

/** Reports for each of these keys whether it has a row. */
export async function areRecorded(
  store: LedgerStore,
  keyIds: readonly Uint8Array[],
): Promise<boolean[]> {
  const found = await store.findKeys(keyIds);
  return found.map((key) => key !== null);
}

/** Returns a commitment that belongs to no key, or the one with this digest. */
export function makeCommitment(digest = randomBytes(32), version = 1): Commitment {
  return { version, digest, fingerprint: digest.readBigInt64BE(0) };
}

export function makeRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  const keyId = changes.keyId ?? makeKeyId();
  const commitment = makeCommitment();
  const measured = { createdMs: keyIdMs(keyId), latencyUs: 1_500, entropyBits: 255.1 };
  return { ...plainRow(), keyId, commitment, ...measured, ...changes };
}

export function keyRequest(accountId: string, row = makeRow(), atMs = NOW): MeteredRequest {
  return {
    accountId,
    apiKeyId: `key_${accountId}`,
    atMs,
    keys: [row],
    counts: { streams: 0, streamsPassed: 0 },
    idempotency: null,
  };
}

const validation = (accountId: string, atMs = NOW): MeteredRequest => ({
  ...keyRequest(accountId, makeRow(), atMs),
  keys: [],
});

/**
 * Returns a row that an attacker with write access forges: the first 64 bits are right, the rest is a
 * guess.
 */
export function guessedRow(fingerprint: bigint, version = 1): LedgerRow {
  const digest = randomBytes(32);
  digest.writeBigInt64BE(fingerprint);
  return makeRow({ commitment: makeCommitment(digest, version) });
}

const commitmentOf = ({ commitment }: LedgerRow): Commitment => commitment;

/**
 * Returns every byte string of 32 bytes or more, binary or hexadecimal, among the parameters of statements.
 */
function digestsIn(parameters: readonly unknown[]): Buffer[] {
  return parameters.flat(2).flatMap((one) => {
    if (one instanceof Uint8Array) return one.length >= 32 ? [Buffer.from(one)] : [];
    const found = typeof one === 'string' ? one.match(/[0-9a-f]{64}/g) : null;
    return (found ?? []).map((hex) => Buffer.from(hex, 'hex'));
  });
}

const kinds = (outcomes: readonly CommitOutcome[]) => outcomes.map(({ kind }) => kind);

/**
 * Declares the tests. `tap` reports the parameters that reach the database, until the returned function is
 * called. `setClock` sets the database's own clock, if it has one.
 */
export function ledgerContract(
  name: string,
  open: () => Promise<LedgerStore>,
  cleanUp: () => Promise<void>,
  tap: (seen: (parameters: readonly unknown[]) => void) => () => void,
  setClock: (atMs: number) => Promise<void>,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`ledger contract: ${name}`, when, () => {
    let store: LedgerStore;
    let accounts = 0;

    before(async () => {
      store = await open();
      await setClock(NOW);
    });
    after(async () => {
      await store.close();
      await cleanUp();
    });

    async function account(plan: string): Promise<string> {
      const accountId = `acct_${++accounts}`;
      const created = { accountId, name: accountId, plan, demo: false, createdMs: NOW };
      assert.equal(await store.addAccount(created), true);
      const record = {
        apiKeyId: `key_${accountId}`,
        accountId,
        hint: 'hint',
        createdMs: NOW,
        revokedMs: null,
      };
      assert.equal(await store.addApiKey(record, hashOf(accountId)), true);
      return accountId;
    }

    const hashOf = (accountId: string) => Buffer.alloc(32, accountId);

    it('reports whether an API key other than a demo key was ever issued', async () => {
      const demo = { accountId: 'demo', name: 'demo', plan: 'tiny', demo: true, createdMs: NOW };
      const record = {
        apiKeyId: 'k',
        accountId: 'demo',
        hint: '',
        createdMs: NOW,
        revokedMs: null,
      };
      assert.equal(await store.hasOwnApiKeys(), false);
      await store.addAccount(demo);
      await store.addApiKey(record, randomBytes(32));
      await store.addAccount({ ...demo, accountId: 'own', demo: false });
      assert.equal(await store.hasOwnApiKeys(), false);
      const id = await account('tiny');
      assert.equal(await store.hasOwnApiKeys(), true);
      await store.revokeApiKey(`key_${id}`, NOW);
      assert.equal(await store.hasOwnApiKeys(), true);
    });

    it('keeps a committed row and finds it by key ID and by commitment', async () => {
      const id = await account('enterprise');
      const row = makeRow();
      const [outcome] = await store.commit([keyRequest(id, row)], []);
      assert.deepEqual(outcome, {
        kind: 'committed',
        usage: { month: MONTH, used: 1, quota: null },
      });
      assert.deepEqual(await areRecorded(store, [row.keyId, randomBytes(16)]), [true, false]);
      const { commitment } = row;
      const digest = Buffer.concat([commitment.digest.subarray(0, 8), randomBytes(24)]);
      assert.deepEqual(
        await store.findCommitments([
          commitment,
          { ...commitment, version: 2 },
          { ...commitment, digest },
        ]),
        [NOW, null, null],
      );
    });

    it('returns the account of each key ID in the order of the query', async () => {
      const [one, other] = [await account('enterprise'), await account('enterprise')];
      const pValues = new Uint8Array(8);
      const evidence = { definition: 2, gateP: 0.5, testsPassed: 15, totalTests: 15, pValues };
      const plain = makeRow({ securityLevel: 128, modulation: 'none', createdMs: NOW - 5 });
      const tested = makeRow({ evidence });
      await store.commit([keyRequest(one, plain), keyRequest(other, tested)], []);
      const ofPlain = {
        accountId: one,
        accountName: one,
        apiKeyId: `key_${one}`,
        createdMs: NOW - 5,
        securityLevel: 128,
        modulation: 'none',
        hasEvidence: false,
        recipients: [],
      };
      const ofTested = {
        ...ofPlain,
        accountId: other,
        accountName: other,
        apiKeyId: `key_${other}`,
        createdMs: NOW,
        securityLevel: 256,
        modulation: 'phase',
        hasEvidence: true,
      };
      const found = await store.findKeys([tested.keyId, makeKeyId(), plain.keyId, tested.keyId]);
      assert.deepEqual(
        found.map((key) => key && { ...key }),
        [ofTested, null, ofPlain, ofTested],
      );
      assert.deepEqual(await store.findKeys([]), []);
    });

    it('finds a commitment among rows with its fingerprint and returns its version and time', async () => {
      const id = await account('enterprise');
      const commitment = makeCommitment(randomBytes(32), 2);
      const { fingerprint } = commitment;
      const made = makeRow({ commitment, keyId: makeKeyId(NOW - 7) });
      const others = [1, 2, 3].map((version) => guessedRow(fingerprint, version));
      const twin = makeRow({
        commitment: { ...commitment, version: 3 },
        keyId: makeKeyId(NOW - 8),
      });
      const rows = [...others, made, twin];
      await store.commit(
        rows.map((row) => keyRequest(id, row)),
        [],
      );
      const guess = commitmentOf(guessedRow(fingerprint));
      assert.deepEqual(await store.findCommitments([guess, ...rows.map(commitmentOf), guess]), [
        null,
        NOW,
        NOW,
        NOW,
        NOW - 7,
        NOW - 8,
        null,
      ]);
      assert.deepEqual(await store.findCommitments([{ ...commitment, version: 1 }]), [null]);
    });

    it('compares a bounded number of rows with the same fingerprint', async () => {
      const id = await account('enterprise');
      const { fingerprint } = makeCommitment();
      const rows = Array.from({ length: 40 }, () => guessedRow(fingerprint));
      await store.commit(
        rows.map((row) => keyRequest(id, row)),
        [],
      );
      const found = await store.findCommitments(rows.map(commitmentOf));
      assert.equal(found.filter((madeMs) => madeMs !== null).length, MAX_CANDIDATES);
    });

    it('does not reveal to the database which row would make a key valid', async () => {
      const id = await account('enterprise');
      const requester = { accountId: id, apiKeyId: `key_${id}`, atMs: NOW };
      const key = randomBytes(32);
      const generator = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
      const worker = new KeyWorker(generator, keyring, store);
      await store.registerSecret(1, keyring.checkValue(1), NOW);
      const validate = async () => {
        const parts = { key: Buffer.from(key), proof: undefined };
        const tasks: KeyTask[] = [{ kind: 'validate', requester, ...parts }];
        const [result] = (await worker.run({ id: 1, tasks, failures: [] })).results;
        return result.kind === 'validated' && result.verdict.valid;
      };
      const seen: unknown[] = [];
      const untap = tap((parameters) => seen.push(...parameters));
      assert.equal(await validate(), false);
      untap();
      const commitment = keyring.commit(key);
      const { fingerprint } = commitment;
      assert.ok(seen.flat().some((one) => String(one) === String(fingerprint)));
      // The attacker inserts everything that may be the commitment, and a guess.
      const rows = digestsIn(seen).map((digest) =>
        makeRow({ commitment: { ...commitment, digest } }),
      );
      await store.commit(
        [...rows, guessedRow(fingerprint)].map((row) => keyRequest(id, row)),
        [],
      );
      assert.equal(await validate(), false);
      assert.deepEqual(digestsIn(seen), []);
      await store.commit([keyRequest(id, makeRow({ commitment }))], []);
      assert.equal(await validate(), true);
    });

    it('takes the time of a row from its key ID, not from other columns', async () => {
      const id = await account('enterprise');
      const row = makeRow({ keyId: makeKeyId(NOW - 5), createdMs: NOW - 99 });
      await store.commit([keyRequest(id, row)], []);
      assert.deepEqual(await store.findCommitments([row.commitment]), [NOW - 5]);
    });

    it('gives the last places of a quota to the first requests of a batch', async () => {
      const id = await account('tiny');
      const rows = Array.from({ length: 5 }, () => makeRow());
      const outcomes = await store.commit(
        rows.map((row) => keyRequest(id, row)),
        [],
      );
      assert.deepEqual(kinds(outcomes), [
        'committed',
        'committed',
        'committed',
        'quota_exceeded',
        'quota_exceeded',
      ]);
      assert.deepEqual(
        await areRecorded(
          store,
          rows.map(({ keyId }) => keyId),
        ),
        [true, true, true, false, false],
      );
      const [after] = await store.commit([validation(id)], []);
      assert.deepEqual(after, {
        kind: 'quota_exceeded',
        usage: { month: MONTH, used: 3, quota: 3 },
      });
    });

    it('counts from zero each month, separately for each account', async () => {
      const [one, other] = [await account('tiny'), await account('tiny')];
      await store.commit([validation(one), validation(one), validation(one)], []);
      const nextMs = Date.UTC(2026, 11, 1);
      await setClock(nextMs);
      const next = [validation(one, nextMs), validation(other, nextMs)];
      assert.deepEqual(kinds(await store.commit(next, [])), ['committed', 'committed']);
      await setClock(NOW);
    });

    it('applies the current plan of the account', async () => {
      const id = await account('tiny');
      const four = Array.from({ length: 4 }, () => validation(id));
      assert.equal(kinds(await store.commit(four, [])).at(-1), 'quota_exceeded');
      assert.equal(await store.setPlan(id, 'research'), true);
      assert.equal(kinds(await store.commit([validation(id)], [])).at(-1), 'committed');
      assert.equal(await store.setPlan('acct_unknown', 'research'), false);
    });

    it('refuses only the requests of accounts whose plan it lacks, until they have another', async () => {
      const [lost, other] = [await account('gone'), await account('tiny')];
      const row = makeRow();
      const batch = [keyRequest(lost, row), keyRequest(other), validation(lost)];
      for (const used of [1, 2]) {
        const [first, second, third] = await store.commit(batch.slice(0), []);
        assert.deepEqual([first, third], [{ kind: 'unknown_plan' }, { kind: 'unknown_plan' }]);
        assert.deepEqual(second, {
          kind: 'committed',
          usage: { month: MONTH, used, quota: 3 },
        });
        batch[1] = keyRequest(other);
      }
      assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
      const [principal] = await store.authenticate([hashOf(lost), hashOf(other)], NOW);
      assert.deepEqual(principal?.usage, { month: MONTH, used: 0, quota: 0 });
      assert.equal(principal?.plan, 'gone');
      const outside = await store.accountsOutside(Object.keys(QUOTAS));
      assert.deepEqual(outside, [{ accountId: lost, plan: 'gone' }]);
      await store.setPlan(lost, 'tiny');
      assert.deepEqual(kinds(await store.commit([keyRequest(lost, row)], [])), ['committed']);
      assert.deepEqual(await store.accountsOutside(Object.keys(QUOTAS)), []);
    });

    it('refuses a repeated commitment, even within a batch, and counts it nowhere', async () => {
      const id = await account('enterprise');
      const row = makeRow();
      const again = makeRow({ commitment: row.commitment });
      const outcomes = await store.commit([keyRequest(id, row), keyRequest(id, again)], []);
      assert.deepEqual(kinds(outcomes), ['committed', 'repeated_key']);
      assert.deepEqual(kinds(await store.commit([keyRequest(id, again)], [])), ['repeated_key']);
      assert.deepEqual(await areRecorded(store, [again.keyId]), [false]);
      const [principal] = await store.authenticate([hashOf(id)], NOW);
      assert.equal(principal?.usage.used, 1);
    });

    it('refuses a key that it has under another version of the secret, and compares whole digests', async () => {
      const id = await account('enterprise');
      const digest = randomBytes(32);
      const old = makeRow({ commitment: makeCommitment(digest, 1) });
      assert.deepEqual(kinds(await store.commit([keyRequest(id, old)], [])), ['committed']);
      /** A row under version 2 of a key whose commitment under version 1 is this one. */
      const rotated = (one: Commitment) =>
        keyRequest(
          id,
          makeRow({ commitment: makeCommitment(randomBytes(32), 2), otherCommitments: [one] }),
        );
      const repeat = rotated(old.commitment);
      // Rows that share no more than the fingerprint, or that have the digest under another version, are others.
      const alike = Buffer.concat([digest.subarray(0, 8), randomBytes(24)]);
      const batch = [
        rotated(makeCommitment(randomBytes(32), 1)),
        repeat,
        rotated(makeCommitment(alike, 1)),
        rotated(makeCommitment(digest, 3)),
        validation(id),
      ];
      const outcomes = await store.commit(batch, []);
      assert.deepEqual(kinds(outcomes), [
        'committed',
        'repeated_key',
        'committed',
        'committed',
        'committed',
      ]);
      const keyIds = batch.flatMap(({ keys }) => keys.map(({ keyId }) => keyId));
      assert.deepEqual(await areRecorded(store, keyIds), [true, false, true, true]);
      const last = outcomes.at(-1);
      assert.deepEqual(last?.kind === 'committed' && last.usage.used, 5);
      assert.deepEqual(kinds(await store.commit([repeat], [])), ['repeated_key']);
      const [principal] = await store.authenticate([hashOf(id)], NOW);
      assert.equal(principal?.usage.used, 5);
    });

    it('refuses all keys of a request if one of them is under another version', async () => {
      const id = await account('enterprise');
      const old = makeRow();
      await store.commit([keyRequest(id, old)], []);
      const fresh = makeRow({ commitment: makeCommitment(randomBytes(32), 2) });
      const again = makeRow({
        commitment: makeCommitment(randomBytes(32), 2),
        otherCommitments: [makeCommitment(randomBytes(32), 3), old.commitment],
      });
      const batch = { ...keyRequest(id), keys: [fresh, again] };
      assert.deepEqual(kinds(await store.commit([batch], [])), ['repeated_key']);
      assert.deepEqual(await areRecorded(store, [fresh.keyId, again.keyId]), [false, false]);
    });

    it('refuses a constant key of a generator after the master secret was rotated, and back', async () => {
      const id = await account('enterprise');
      const requester = { accountId: id, apiKeyId: `key_${id}`, atMs: NOW };
      const task: KeyTask = { kind: 'generate', requester, order: order(), idempotency: null };
      const versions = [1, 2].map((version) => ({ version, secret: randomBytes(32) }));
      /** Generates the first key of a generator that is the same in every process. */
      const firstKey = async (current: number, held = versions) => {
        const generator = fakeGenerator(new RecordingDrbg());
        const ring = new Keyring(held, current);
        const worker = new KeyWorker(fakePlainGenerator(generator), ring, store);
        const [result] = (await worker.run({ id: 1, tasks: [task], failures: [] })).results;
        return [result?.kind, generator.latched?.cause];
      };
      assert.deepEqual(await firstKey(1, versions.slice(0, 1)), ['generated', undefined]);
      assert.deepEqual(await firstKey(2), ['failed', 'repeated_key']);
      assert.deepEqual(await firstKey(1), ['failed', 'repeated_key']);
      assert.equal((await store.activity(id, NOW)).keys, 1);
    });

    it('records no key after a latch, but counts the validation in the same batch', async () => {
      const id = await account('enterprise');
      const requester = { accountId: id, apiKeyId: `key_${id}`, atMs: NOW };
      const tasks: KeyTask[] = [
        { kind: 'generate', requester, order: order(), idempotency: null },
        { kind: 'validate', requester, key: undefined, proof: undefined },
      ];
      const generator = fakeGenerator(new RecordingDrbg());
      const worker = new KeyWorker(fakePlainGenerator(generator), keyring, store);
      const run = async () => (await worker.run({ id: 1, tasks, failures: [] })).results;
      const [made] = await run();
      generator.latch(STAGED);
      const [dropped, validated] = await run();
      assert.deepEqual(
        [made.kind, dropped.kind, validated.kind],
        ['generated', 'failed', 'validated'],
      );
      const { keys, metered } = await store.activity(id, NOW);
      assert.deepEqual([keys, metered], [1, 3]);
    });

    it('writes nothing of a batch if one write fails', async () => {
      const id = await account('enterprise');
      const good = makeRow();
      const bad = makeRow({ securityLevel: 100 });
      await assert.rejects(store.commit([keyRequest(id, good), keyRequest(id, bad)], []), {
        code: 'ledger_unavailable',
      });
      assert.deepEqual(await areRecorded(store, [good.keyId]), [false]);
      assert.equal((await store.authenticate([hashOf(id)], NOW))[0]?.usage.used, 0);
      assert.deepEqual(kinds(await store.commit([keyRequest(id, good)], [])), ['committed']);
    });

    it('sums keys, latency, streams, failures and metered requests from a full minute', async () => {
      const id = await account('enterprise');
      const minute = 60_000;
      const hour = 60 * minute;
      const since = NOW - 2 * hour;
      const judged = { streams: 2, streamsPassed: 1 };
      const validated = keyRequest(id, makeRow({ latencyUs: 2_500 }), since + minute);
      await store.commit(
        [
          { ...validated, counts: judged },
          keyRequest(id, makeRow({ latencyUs: 500 }), NOW),
          validation(id, NOW),
          // The period includes the minute that holds `since`, but not the minute before.
          validation(id, Math.floor(since / minute) * minute),
          keyRequest(id, makeRow(), Math.floor(since / minute) * minute - 1),
        ],
        [{ accountId: id, atMs: NOW, counts: { streams: 2, streamsPassed: 0 } }],
      );
      assert.deepEqual(await store.activity(id, since), {
        keys: 2,
        latencyUs: 3_000,
        streams: 4,
        streamsPassed: 1,
        metered: 4,
        failures: 1,
        activeApiKeys: 1,
      });
      const sums = await store.activity(id, NOW - 8_760 * hour);
      assert.equal(sums.keys, 3);
      assert.equal((await store.activity('acct_unknown', since)).keys, 0);
    });

    it('authenticates only active API keys', async () => {
      const id = await account('research');
      const [principal] = await store.authenticate([hashOf(id)], NOW);
      assert.deepEqual(principal, {
        apiKeyId: `key_${id}`,
        accountId: id,
        plan: 'research',
        demo: false,
        sealedOnly: 'off',
        suspended: false,
        usage: { month: MONTH, used: 0, quota: 1_000 },
        rules: null,
        lastUsedHour: null,
      });
      const other = await account('enterprise');
      const asked = [randomBytes(32), hashOf(other), hashOf(id), hashOf(other)];
      const found = await store.authenticate(asked, NOW);
      assert.deepEqual(
        found.map((one) => one?.accountId),
        [undefined, other, id, other],
      );
      assert.deepEqual(await store.authenticate([], NOW), []);
      assert.equal(await store.revokeApiKey(`key_${id}`, NOW + 1), true);
      assert.equal(await store.revokeApiKey(`key_${id}`, NOW + 2), true);
      assert.equal(await store.revokeApiKey('key_unknown', NOW), false);
      assert.deepEqual(await store.authenticate([hashOf(id)], NOW), [undefined]);
      assert.equal((await store.listApiKeys(id))[0]?.revokedMs, NOW + 1);
      assert.equal((await store.activity(id, 0)).activeApiKeys, 0);
    });

    it('refuses a second account or API key with the same ID, and an API key without an account', async () => {
      const id = await account('research');
      const again = { accountId: id, name: 'again', plan: 'tiny', demo: true, createdMs: NOW };
      assert.equal(await store.addAccount(again), false);
      assert.equal((await store.authenticate([hashOf(id)], NOW))[0]?.plan, 'research');
      const record = {
        apiKeyId: 'key_orphan',
        accountId: 'acct_unknown',
        hint: '',
        createdMs: NOW,
        revokedMs: null,
      };
      assert.equal(await store.addApiKey(record, randomBytes(32)), false);
    });

    it('keeps the first check value of a version of the master secret', async () => {
      const [first, second] = [randomBytes(32), randomBytes(32)];
      await store.registerSecret(7, first, NOW);
      await store.registerSecret(7, second, NOW);
      const kept = (await store.secretChecks()).get(7);
      assert.deepEqual(Buffer.from(kept?.checkValue ?? []), first);
    });

    it('records which versions of the master secret were activated', async () => {
      for (const version of [8, 9]) await store.registerSecret(version, randomBytes(32), NOW);
      await store.activateSecret(9, NOW);
      await store.activateSecret(9, NOW + 1);
      // A restart registers again and reverts nothing.
      await store.registerSecret(9, randomBytes(32), NOW);
      const checks = await store.secretChecks();
      assert.deepEqual(
        [8, 9].map((version) => checks.get(version)?.activated),
        [false, true],
      );
    });

    it('retires a version of the master secret and never relaxes the retirement', async () => {
      await store.registerSecret(11, randomBytes(32), NOW);
      const retirement = async () => (await store.secretChecks()).get(11)?.retirement;
      const retire = (retiredMs: number, compromisedMs: number | null) =>
        store.retireSecret(11, { retiredMs, compromisedMs });
      assert.equal(await retirement(), null);
      for (const [given, kept] of [
        [null, null],
        [NOW - 10, NOW - 10],
        [NOW - 5, NOW - 10],
        [null, NOW - 10],
        [NOW - 20, NOW - 20],
      ]) {
        assert.equal(await retire(NOW + 1, given), true);
        assert.deepEqual(await retirement(), { retiredMs: NOW + 1, compromisedMs: kept });
      }
      assert.equal(await retire(NOW + 2, null), true);
      // A restart registers and activates again, and reverts nothing.
      await store.registerSecret(11, randomBytes(32), NOW);
      await store.activateSecret(11, NOW);
      assert.deepEqual(await retirement(), { retiredMs: NOW + 1, compromisedMs: NOW - 20 });
      const others = [...(await store.secretChecks())].filter(([version]) => version !== 11);
      assert.ok(others.every(([, check]) => check.retirement === null));
    });

    it('reinstates a version, which can be retired again', async () => {
      await store.registerSecret(12, randomBytes(32), NOW);
      await store.retireSecret(12, { retiredMs: NOW, compromisedMs: NOW - 9 });
      assert.equal(await store.reinstateSecret(12), true);
      assert.equal((await store.secretChecks()).get(12)?.retirement, null);
      await store.retireSecret(12, { retiredMs: NOW + 7, compromisedMs: null });
      assert.deepEqual((await store.secretChecks()).get(12)?.retirement, {
        retiredMs: NOW + 7,
        compromisedMs: null,
      });
    });

    it('refuses to retire or reinstate an unregistered version', async () => {
      assert.equal(await store.retireSecret(77, { retiredMs: NOW, compromisedMs: null }), false);
      assert.equal(await store.reinstateSecret(77), false);
      assert.equal((await store.secretChecks()).has(77), false);
    });

    it('commits an empty batch without any change', async () => {
      assert.deepEqual(await store.commit([], []), []);
    });

    it('leaves no trace of a probe, before and after a key', async () => {
      const id = await account('tiny');
      const accounts = await store.listAccounts();
      for (const room of [false, true]) {
        await store.probe({ accountIds: [id, 'unknown'], room });
        assert.deepEqual(kinds(await store.commit([keyRequest(id)], [])), ['committed']);
        await store.probe({ accountIds: [id], room });
      }
      assert.deepEqual(await store.listAccounts(), accounts);
      const { keys, metered, failures } = await store.activity(id, NOW);
      assert.deepEqual({ keys, metered, failures }, { keys: 2, metered: 2, failures: 0 });
    });
  });
}
