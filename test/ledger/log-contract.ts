/** The log's part of the contract of every ledger store. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type {
  AuditRecord,
  Extend,
  LedgerRow,
  LedgerStore,
  LogRecord,
  PendingEntry,
  RowReceipt,
  Turn,
  TurnOutcome,
} from '../../src/ledger/index.ts';
import { EMPTY_ROOT, entryOf, extendTree, leafHash, rootAt } from '../../src/log/index.ts';
import { keyRequest, makeKeyId, makeRow, NOW } from './contract.ts';

export const ACCOUNT = 'acct_log';

/** Returns a tree with a seal that names its head; stores do not judge seals. */
export function withSeal<T extends { readonly size: number; readonly root: Uint8Array }>(tree: T) {
  const mac = createHash('sha256').update(`${tree.size}`).update(tree.root).digest();
  return { ...tree, seal: { mac, version: 1 + (tree.size % 7) } };
}

/** Extends a tree as the sequencer does. */
const extendSealed: Extend = (edge, entries) => withSeal(extendTree(edge, entries));

/** Starts a log whose first entry is `first`, if it is given. */
export function logStart(origin: string, first: Uint8Array | null = null) {
  const empty = { size: 0, root: EMPTY_ROOT, tiles: [] };
  return {
    origin,
    verifierKeys: `${origin}+1\n${origin}+2`,
    startedMs: NOW,
    first,
    tree: withSeal(extendTree(empty, first ? [first] : [])),
  };
}

/** Returns a pending entry of a log; its ID names it, and its MAC is not checked here. */
function pendingEntry(
  logId: number,
  entryId: Uint8Array,
  kind: PendingEntry['kind'] = 'key',
): PendingEntry {
  const entry = entryOf(Buffer.from(entryId).toString('hex'));
  return { entryId, logId, kind, entry, mac: Buffer.alloc(32, 7), secretVersion: 1 };
}

export function loggedRow(
  logId: number | null,
  softwareId: number,
  changes: Partial<LedgerRow> = {},
): LedgerRow & { readonly receipt: RowReceipt } {
  const row = makeRow(changes);
  const receipt = {
    keyCommitment: randomBytes(32),
    salt: randomBytes(32),
    strengthBits: 256,
    sources: 'os:256,jitter:12.5',
    softwareId,
    pending: logId === null ? null : pendingEntry(logId, row.keyId),
  };
  return { ...row, receipt };
}

export function auditRecord(logId: number | null, changes: Partial<AuditRecord> = {}): AuditRecord {
  const auditId = makeKeyId();
  return {
    auditId,
    atMs: NOW,
    action: 'plan_set',
    details: '{"plan":"tiny"}',
    salt: randomBytes(32),
    pending: logId === null ? null : pendingEntry(logId, auditId, 'audit'),
    ...changes,
  };
}

export const turnOf = (logId: number, changes: Partial<Turn> = {}): Turn => ({
  logId,
  limit: 1_000,
  judge: () => true,
  extend: extendSealed,
  ...changes,
});

/** Takes turns until nothing waits, and returns the last outcome. */
export async function takeAll(
  store: LedgerStore,
  logId: number,
  limit = 1_000,
): Promise<TurnOutcome> {
  for (;;) {
    const outcome = await store.takeTurn(turnOf(logId, { limit }));
    if (!outcome.more) return outcome;
  }
}

/** Returns the root that the stored tiles and entries of the first `size` entries have. */
export function storedRoot(store: LedgerStore, logId: number, size: number): Promise<Buffer> {
  const tile = async (level: number, index: number, width: number): Promise<Uint8Array> => {
    const stored = await store.readTile(logId, level, index);
    if (stored !== null) return stored.subarray(0, 32 * width);
    assert.equal(level, 0, 'tiles above level 0 are stored');
    const entries = await store.readEntries(logId, 256 * index, 256 * index + width);
    const leaves = Array.from({ length: width }, (_, i) =>
      leafHash(entries.subarray(32 * i, 32 * i + 32)),
    );
    return Buffer.concat(leaves);
  };
  return rootAt({ tile }, size);
}

/** Returns the root of these entries by the definition (RFC 6962 §2.1). */
function rootOf(entries: readonly Uint8Array[]): Buffer {
  const hash = (...parts: Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest();
  if (entries.length === 0) return hash();
  if (entries.length === 1) return hash(Buffer.of(0), entries[0] ?? Buffer.of());
  const split = 2 ** Math.ceil(Math.log2(entries.length) - 1);
  return hash(Buffer.of(1), rootOf(entries.slice(0, split)), rootOf(entries.slice(split)));
}

/** Checks that a log is a tree of its entries without gaps, and returns the entries. */
export async function assertSound(store: LedgerStore, logId: number): Promise<Buffer[]> {
  const log = await findLog(store, logId);
  const entries = await store.pageEntries(logId, 0, 100_000);
  assert.deepEqual(
    entries.map(({ index }) => index),
    entries.map((_, i) => i),
  );
  assert.equal(log.size, entries.length);
  assert.deepEqual(sealBytes(log), sealBytes(withSeal(log)));
  const bytes = entries.map(({ entry }) => Buffer.from(entry));
  assert.deepEqual(Buffer.from(await store.readEntries(logId, 0, log.size)), Buffer.concat(bytes));
  assert.deepEqual(Buffer.from(log.root), rootOf(bytes));
  assert.deepEqual(await storedRoot(store, logId, log.size), rootOf(bytes));
  return bytes;
}

function sealBytes({ seal: { mac, version } }: Pick<LogRecord, 'seal'>) {
  return { mac: Buffer.from(mac), version };
}

async function findLog(store: LedgerStore, logId: number): Promise<LogRecord> {
  const log = (await store.logs()).find((one) => one.logId === logId);
  assert.ok(log);
  return log;
}

interface LogContractOptions {
  /** Opens the store, each time with connections of its own. */
  readonly open: () => Promise<LedgerStore>;
  /** Sets the database's own clock, if it has one. */
  readonly setClock: (atMs: number) => Promise<void>;
  readonly skip?: string | false;
}

/** Declares the tests. */
export function logContract(name: string, options: LogContractOptions): void {
  describe(`log contract: ${name}`, { skip: options.skip ?? false }, () => {
    let store: LedgerStore;
    let other: LedgerStore;
    let software: number;
    let logId: number;
    let origin: string;
    let logs = 0;

    before(async () => {
      store = await options.open();
      other = await options.open();
      await options.setClock(NOW);
      const created = { accountId: ACCOUNT, name: 'l', demo: false, createdMs: NOW };
      await store.addAccount({ ...created, plan: 'enterprise' });
      await store.addAccount({ ...created, accountId: 'acct_tiny', plan: 'tiny' });
      software = await store.registerSoftware('phm-key-service/0.0.0+0123456789abcdef');
    });
    beforeEach(async () => {
      origin = `log-${++logs}.example`;
      ({ logId } = await store.startLog(logStart(origin)));
    });
    after(async () => {
      await store.close();
      await other.close();
    });

    const newRow = (changes: Partial<LedgerRow> = {}) => loggedRow(logId, software, changes);
    const commitRows = (rows: readonly LedgerRow[], into = store) =>
      into.commit(
        rows.map((row) => keyRequest(ACCOUNT, row)),
        [],
      );
    /** Commits `count` keys and returns their IDs. */
    async function addKeys(count: number, into = store): Promise<Uint8Array[]> {
      const rows = Array.from({ length: count }, () => newRow());
      await commitRows(rows, into);
      return rows.map(({ keyId }) => keyId);
    }
    const pendingCount = async () => (await store.logCounts(logId)).pending;

    it('keeps the entry of a key with its row, and none of a refused key', async () => {
      const rows = Array.from({ length: 5 }, () => newRow());
      const requests = rows.map((row) => keyRequest('acct_tiny', row));
      const outcomes = await store.commit(requests, []);
      assert.equal(outcomes.filter(({ kind }) => kind === 'committed').length, 3);
      const repeated = { ...newRow(), commitment: rows[0]?.commitment ?? newRow().commitment };
      assert.deepEqual(await commitRows([repeated]), [{ kind: 'repeated_key' }]);
      const states = [...rows, repeated].map(({ keyId }) => other.findLogged(keyId));
      assert.deepEqual(await Promise.all(states), [
        ...['pending', 'pending', 'pending'],
        ...[null, null, null],
      ]);
      assert.equal(await pendingCount(), 3);
      await takeAll(store, logId);
      assert.deepEqual(await other.findLogged(rows[1]?.keyId ?? Buffer.of()), {
        logId,
        index: await indexOf(rows[1]),
      });
      assert.equal(await pendingCount(), 0);
    });

    async function indexOf(row: LedgerRow | undefined): Promise<number> {
      const entries = await store.pageEntries(logId, 0, 1_000);
      const id = Buffer.from(row?.keyId ?? []);
      return entries.findIndex(({ entryId }) => entryId && id.equals(entryId));
    }

    it('writes no entry for a key without one, and no receipt for a key without a log', async () => {
      const silent = loggedRow(null, software);
      const plain = makeRow();
      await commitRows([silent, plain]);
      assert.equal(await store.findLogged(silent.keyId), null);
      assert.equal((await store.findRecord(plain.keyId))?.receipt, null);
      assert.ok((await store.findRecord(silent.keyId))?.receipt);
      assert.equal(await pendingCount(), 0);
    });

    it('returns every column of a row', async () => {
      const pValues = randomBytes(768);
      const evidence = { definition: 2, gateP: 0.25, testsPassed: 14, totalTests: 15, pValues };
      const rows = [newRow({ evidence, entropyJobId: 'job' }), newRow()];
      await commitRows(rows);
      for (const row of rows) {
        // Commitments under other versions of the master secret are compared, and not stored.
        const { otherCommitments, ...stored } = row;
        const { pending, softwareId, ...receipt } = stored.receipt;
        const found = await store.findRecord(row.keyId);
        assert.deepEqual(comparable(found), {
          ...comparable(stored),
          accountId: ACCOUNT,
          apiKeyId: `key_${ACCOUNT}`,
          receipt: comparable({ ...receipt, software: 'phm-key-service/0.0.0+0123456789abcdef' }),
        });
      }
      assert.equal(await store.findRecord(makeKeyId()), null);
    });

    it('gives each software one number', async () => {
      const names = ['a', 'b', 'a', 'c', 'b', 'd'];
      const stores = names.map((_, i) => (i % 2 ? store : other));
      const numbers = await Promise.all(
        names.map((one, i) => stores[i]?.registerSoftware(`${origin} ${one}`)),
      );
      assert.equal(new Set(numbers).size, 4);
      assert.equal(numbers[0], numbers[2]);
      assert.equal(numbers[1], numbers[4]);
    });

    it('appends pending entries by entry ID, and the stored tiles have the root of the tree', async () => {
      await addKeys(3);
      const early = newRow({ keyId: makeKeyId(NOW - 5_000) });
      await commitRows([early]);
      const first = await store.takeTurn(turnOf(logId));
      assert.deepEqual([first.appended, first.setAside, first.more, first.size], [4, 0, false, 4]);
      assert.deepEqual(await store.findLogged(early.keyId), { logId, index: 0 });
      for (const count of [251, 1, 1, 300, 255, 2]) {
        await addKeys(count);
        const { size, root } = await takeAll(store, logId, 128);
        assert.deepEqual(await storedRoot(store, logId, size), Buffer.from(root));
      }
      await assertSound(store, logId);
    });

    it('appends an entry that becomes visible after younger ones', async () => {
      await addKeys(2);
      await takeAll(store, logId);
      const late = newRow({ keyId: makeKeyId(NOW - 60_000) });
      await commitRows([late], other);
      const { appended } = await store.takeTurn(turnOf(logId));
      assert.equal(appended, 1);
      assert.deepEqual(await store.findLogged(late.keyId), { logId, index: 2 });
    });

    it('gives no index twice and loses no entry, with turns and commits of two stores', async () => {
      const ids: Uint8Array[] = [];
      const work = [store, other].flatMap((one) => [
        (async () => {
          for (let i = 0; i < 20; i++) {
            const rows = Array.from({ length: 1 + (i % 7) }, () =>
              newRow({ keyId: makeKeyId(NOW - ((i * 7_919) % 1_000)) }),
            );
            await commitRows(rows, one);
            ids.push(...rows.map(({ keyId }) => keyId));
          }
        })(),
        (async () => {
          for (let i = 0; i < 40; i++) await one.takeTurn(turnOf(logId, { limit: 1 + (i % 9) }));
        })(),
      ]);
      await Promise.all(work);
      await Promise.all([takeAll(store, logId), takeAll(other, logId)]);
      const entries = await assertSound(store, logId);
      const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
      const expected = ids.map((id) => hex(pendingEntry(logId, id).entry));
      assert.deepEqual(entries.map(hex).sort(), expected.sort());
    });

    it('sets aside what the judge refuses, with the entry that it got', async () => {
      const ids = await addKeys(3);
      const refused = Buffer.from(ids[1] ?? []);
      const judged: PendingEntry[] = [];
      const judge = (entry: PendingEntry) => {
        judged.push(entry);
        return !refused.equals(entry.entryId);
      };
      const outcome = await store.takeTurn(turnOf(logId, { judge }));
      assert.deepEqual([outcome.appended, outcome.setAside], [2, 1]);
      assert.deepEqual(
        judged.map((one) => comparable(one)).sort(byId),
        ids.map((id) => comparable(pendingEntry(logId, id))).sort(byId),
      );
      assert.deepEqual(await store.logCounts(logId), {
        pending: 0,
        oldestPendingMs: null,
        setAside: 1,
      });
      assert.equal(await store.findLogged(refused), null);
      assert.equal((await store.takeTurn(turnOf(logId))).size, 2);
    });

    it('sets aside an entry whose ID already has an entry', async () => {
      const [id = Buffer.of()] = await addKeys(1);
      await takeAll(store, logId);
      await store.addAudit(auditRecord(logId, { auditId: id }));
      const outcome = await store.takeTurn(turnOf(logId));
      assert.deepEqual([outcome.appended, outcome.setAside, outcome.size], [0, 1, 1]);
      assert.deepEqual(await store.findLogged(id), { logId, index: 0 });
    });

    it('changes nothing when extend or judge throws, and rejects with that error', async () => {
      await addKeys(2);
      const reason = new Error('the tree differs');
      const fail = () => {
        throw reason;
      };
      const isReason = (error: unknown) => error === reason;
      await assert.rejects(store.takeTurn(turnOf(logId, { extend: fail })), isReason);
      await assert.rejects(store.takeTurn(turnOf(logId, { judge: fail })), isReason);
      const short: Extend = (edge, entries) => extendSealed(edge, entries.slice(1));
      await assert.rejects(store.takeTurn(turnOf(logId, { extend: short })), /a tree of 1 entries/);
      assert.deepEqual([await pendingCount(), (await findLog(store, logId)).size], [2, 0]);
      assert.equal((await store.takeTurn(turnOf(logId))).appended, 2);
    });

    it('says that it has no such log, and leaves its entries waiting', async () => {
      const missing = logId + 99;
      const saysSo = (error: Error) =>
        (error.cause as Error).message === `the ledger has no log ${missing}`;
      await store.addAudit(auditRecord(missing));
      await assert.rejects(store.takeTurn(turnOf(missing)), saysSo);
      const recovered = store.recoverEntries(missing, [randomBytes(32)], extendSealed);
      await assert.rejects(recovered, saysSo);
      assert.equal((await store.logCounts(missing)).pending, 1);
    });

    it('rejects a turn on tampered tiles by the edge alone', async () => {
      await addKeys(3);
      await takeAll(store, logId);
      await addKeys(1);
      const extend: Extend = (edge, entries) => {
        const tiles = edge.tiles.map((hashes) => Buffer.from(hashes));
        tiles[0]?.fill(1);
        return extendSealed({ ...edge, tiles }, entries);
      };
      await assert.rejects(store.takeTurn(turnOf(logId, { extend })), /do not hash to the stored/);
    });

    it('passes the stored seal to the next turn, which may refuse it', async () => {
      await addKeys(1);
      await takeAll(store, logId);
      await addKeys(1);
      const seen: unknown[] = [];
      const extend: Extend = (edge) => {
        seen.push(sealBytes(edge));
        throw new Error('a wrong seal');
      };
      await assert.rejects(other.takeTurn(turnOf(logId, { extend })), /a wrong seal/);
      await assert.rejects(other.recoverEntries(logId, [randomBytes(32)], extend), /a wrong seal/);
      const log = await findLog(store, logId);
      assert.deepEqual(seen, [sealBytes(withSeal(log)), sealBytes(log)]);
      assert.deepEqual([log.size, await pendingCount()], [1, 1]);
    });

    it('begins a turn again that another store overtakes', async () => {
      await addKeys(2);
      let overtake: Promise<TurnOutcome> | null = null;
      const extend: Extend = (edge, entries) => {
        overtake ??= other.takeTurn(turnOf(logId));
        return extendSealed(edge, entries);
      };
      const outcome = await store.takeTurn(turnOf(logId, { extend }));
      assert.ok(overtake);
      const appended = [outcome.appended, ((await overtake) as TurnOutcome).appended];
      assert.deepEqual(appended.sort(), [0, 2]);
      assert.equal((await assertSound(store, logId)).length, 2);
    });

    it('takes no entry twice that an older one joins between reading and writing', async () => {
      await addKeys(2);
      const late = newRow({ keyId: makeKeyId(NOW - 60_000) });
      let joined: Promise<unknown> | null = null;
      const extend: Extend = (edge, entries) => {
        joined ??= commitRows([late], other);
        return extendSealed(edge, entries);
      };
      await store.takeTurn(turnOf(logId, { extend }));
      await joined;
      await takeAll(store, logId);
      assert.equal((await assertSound(store, logId)).length, 3);
      assert.notEqual(await store.findLogged(late.keyId), 'pending');
    });

    it('keeps the entries of pruned rows', async () => {
      const old = newRow({ keyId: makeKeyId(NOW - 40 * 86_400_000) });
      await commitRows([{ ...old, createdMs: NOW - 40 * 86_400_000 }, newRow()]);
      await store.addAudit(auditRecord(logId, { auditId: makeKeyId(NOW - 40 * 86_400_000) }));
      const { root } = await takeAll(store, logId);
      const order = { keepMs: 30 * 86_400_000, clock: { nowMs: () => NOW }, dryRun: false };
      assert.ok((await store.prune(order)).rows >= 1);
      assert.equal(await store.findRecord(old.keyId), null);
      assert.ok(await store.findLogged(old.keyId));
      assert.deepEqual(Buffer.from((await findLog(store, logId)).root), Buffer.from(root));
      assert.equal((await assertSound(store, logId)).length, 3);
    });

    it('closes the open log when another starts, and appends nothing to it afterwards', async () => {
      await addKeys(2);
      const first = randomBytes(32);
      const next = await store.startLog(logStart(`${origin}/2`, first));
      assert.equal(next.size, 1);
      assert.deepEqual(await assertSound(store, next.logId), [first]);
      assert.deepEqual((await store.pageEntries(next.logId, 0, 9)).map(comparable), [
        { index: 0, entry: first.toString('hex'), entryId: null, kind: 'start' },
      ]);
      assert.equal((await findLog(store, logId)).closedMs, NOW);
      assert.equal((await store.takeTurn(turnOf(logId))).appended, 0);
      assert.equal(await pendingCount(), 2);
      // Servers that start at the same time get the same log.
      const again = await other.startLog({ ...logStart(`${origin}/2`), startedMs: NOW + 1 });
      assert.deepEqual(comparable(again), comparable(next));
    });

    it('refuses an origin of another log, and a wrong end of the log that closes', async () => {
      const next = `${origin}/2`;
      const refusal = { name: 'SetupError' };
      await assert.rejects(
        store.startLog({ ...logStart(origin), verifierKeys: 'others' }),
        refusal,
      );
      await addKeys(1);
      await takeAll(store, logId);
      for (const closes of [
        { logId, size: 0 },
        { logId: logId - 1, size: 1 },
      ]) {
        await assert.rejects(store.startLog({ ...logStart(next), closes }), refusal);
      }
      assert.equal((await findLog(store, logId)).closedMs, null);
      await store.startLog({ ...logStart(next), closes: { logId, size: 1 } });
      await assert.rejects(store.startLog(logStart(origin)), refusal);
    });

    it('lets one of two logs start that start at the same time', async () => {
      const started = await Promise.all(
        [store, other].map((one) => one.startLog(logStart(`${origin}/same`))),
      );
      assert.equal(started[0]?.logId, started[1]?.logId);
      const open = (await store.logs()).filter(({ closedMs }) => closedMs === null);
      assert.deepEqual(
        open.map((one) => one.origin),
        [`${origin}/same`],
      );
    });

    it('moves stranded entries to the open log, once', async () => {
      const ids = await addKeys(2);
      const next = await store.startLog(logStart(`${origin}/2`));
      const stranded = await store.strandedEntries(next.logId, 10);
      const own = stranded.filter((one) => one.logId === logId);
      assert.deepEqual(
        own.map((one) => comparable(one)).sort(byId),
        ids.map((id) => comparable(pendingEntry(logId, id))).sort(byId),
      );
      const stamped = own.map((one) => ({
        ...one,
        logId: next.logId,
        entry: randomBytes(32),
        mac: randomBytes(32),
        secretVersion: 2,
      }));
      await store.restamp(stamped);
      await other.restamp(stamped.map((one) => ({ ...one, entry: randomBytes(32) })));
      await store.restamp(stamped.map((one) => ({ ...one, logId })));
      const seen: PendingEntry[] = [];
      const judge = (entry: PendingEntry) => seen.push(entry) > 0;
      assert.equal((await store.takeTurn(turnOf(next.logId, { judge }))).appended, 2);
      assert.deepEqual(
        seen.map((one) => comparable(one)).sort(byId),
        stamped.map((one) => comparable(one)).sort(byId),
      );
      await store.restamp([]);
    });

    it('keeps the checkpoint of the largest tree of each kind', async () => {
      const saved = async () => {
        const { checkpoint, witnessed } = await findLog(other, logId);
        return [checkpoint, witnessed];
      };
      assert.deepEqual(await saved(), [null, null]);
      await store.saveCheckpoint(logId, 5, 'five', 'checkpoint');
      await other.saveCheckpoint(logId, 4, 'four', 'checkpoint');
      await store.saveCheckpoint(logId, 3, 'three', 'witnessed');
      assert.deepEqual(await saved(), ['five', 'three']);
      await other.saveCheckpoint(logId, 5, 'five again', 'checkpoint');
      await other.saveCheckpoint(logId, 6, 'six', 'witnessed');
      assert.deepEqual(await saved(), ['five again', 'six']);
    });

    it('recovers entries of a copy and keeps the IDs of those that still wait', async () => {
      await addKeys(2);
      await takeAll(store, logId);
      const ids = await addKeys(3);
      const lost = [randomBytes(32), pendingEntry(logId, ids[1] ?? Buffer.of()).entry];
      await store.recoverEntries(logId, [...lost, randomBytes(32)], extendSealed);
      const entries = (await store.pageEntries(logId, 2, 9)).map(({ entryId, kind }) => ({
        id: entryId && Buffer.from(entryId),
        kind,
      }));
      assert.deepEqual(entries, [
        { id: null, kind: 'recovered' },
        { id: Buffer.from(ids[1] ?? []), kind: 'key' },
        { id: null, kind: 'recovered' },
      ]);
      assert.equal(await pendingCount(), 2);
      await takeAll(store, logId);
      assert.equal((await assertSound(store, logId)).length, 7);
      const misfit: Extend = () => {
        throw new Error('another size');
      };
      await assert.rejects(store.recoverEntries(logId, lost, misfit), /another size/);
      assert.equal((await findLog(store, logId)).size, 7);
    });

    it('pages rows with the state of their entries', async () => {
      const rows = Array.from({ length: 3 }, () => newRow({ keyId: makeKeyId(NOW + 1_000) }));
      await commitRows(rows.slice(0, 2));
      await takeAll(store, logId);
      await commitRows([
        ...rows.slice(2),
        loggedRow(null, software, { keyId: makeKeyId(NOW + 1_000) }),
      ]);
      const pages = [];
      let last: Uint8Array | null = null;
      for (;;) {
        const page = await store.pageRecords(last, 3);
        pages.push(...page);
        last = page.at(-1)?.record.keyId ?? last;
        if (page.length < 3) break;
      }
      const ids = pages.map(({ record }) => Buffer.from(record.keyId).toString('hex'));
      assert.deepEqual(ids, ids.toSorted());
      const young = pages.filter(({ record }) => record.createdMs === NOW + 1_000);
      const states: unknown[] = young.map(({ logged }) => logged);
      assert.equal(states.length, 4);
      assert.equal(states.filter((state) => state === 'pending').length, 1);
      assert.equal(states.filter((state) => state === null).length, 1);
      assert.deepEqual(
        comparable(
          pages.find(({ record }) =>
            Buffer.from(record.keyId).equals(rows[0]?.keyId ?? Buffer.of()),
          )?.record,
        ),
        comparable(await store.findRecord(rows[0]?.keyId ?? Buffer.of())),
      );
    });

    it('reports the oldest pending entry by the time in its ID', async () => {
      await commitRows([newRow(), newRow({ keyId: makeKeyId(NOW - 9_000) }), newRow()]);
      assert.deepEqual(await other.logCounts(logId), {
        pending: 3,
        oldestPendingMs: NOW - 9_000,
        setAside: 0,
      });
    });

    it('writes an audit record only when the change happened', async () => {
      const id = `acct_${origin}`;
      const written: AuditRecord[] = [];
      const account = { accountId: id, name: 'n', plan: 'tiny', demo: false, createdMs: NOW };
      const key = { apiKeyId: id, accountId: id, hint: '', createdMs: NOW, revokedMs: null };
      const version = 1_000 + logs;
      const check = randomBytes(32);
      const retire = (compromisedMs: number | null) => (audit: AuditRecord) =>
        store.retireSecret(version, { retiredMs: NOW, compromisedMs }, audit);
      await store.registerSecret(version, randomBytes(32), NOW);
      /** Runs a change twice: the first one happens if `happens`, the second one does not. */
      const twice = async (change: (audit: AuditRecord) => Promise<unknown>, happens = true) => {
        const [first, second] = [auditRecord(logId), auditRecord(logId)];
        await change(first);
        await change(second);
        if (happens) written.push(first);
      };
      await twice((audit) => store.setPlan(id, 'research', audit), false);
      await twice((audit) => store.addApiKey(key, check, audit), false);
      await twice((audit) => store.addAccount(account, audit));
      await twice((audit) => store.setPlan(id, 'research', audit));
      await twice((audit) => store.addApiKey(key, check, audit));
      await twice((audit) => store.revokeApiKey(id, NOW, audit));
      await twice((audit) => store.revokeApiKey('unknown', NOW, audit), false);
      await twice((audit) => store.activateSecret(version, NOW, audit));
      await twice(retire(null));
      await twice(retire(NOW - 5));
      await twice(retire(NOW - 4), false);
      await twice(retire(NOW - 6));
      await twice(retire(null), false);
      await twice((audit) => store.reinstateSecret(version, audit));
      const last = auditRecord(logId, { action: 'pruned', details: '{"rows":1}' });
      await store.addAudit(last);
      written.push(last);
      const silent = auditRecord(null);
      await store.addAudit(silent);
      assert.equal(await pendingCount(), written.length);
      await takeAll(store, logId);
      const kinds = (await store.pageEntries(logId, 0, 100)).map(({ kind }) => kind);
      assert.deepEqual(kinds, Array(written.length).fill('audit'));
      const found = (await allAudits()).filter((one) => isOneOf(one, [...written, silent]));
      assert.deepEqual(
        found.map(comparable),
        [...written, silent].map((one) => comparable({ ...one, pending: null })).sort(byAuditId),
      );
    });

    it('returns the newest record of an action, by its ID', async () => {
      assert.equal(await store.lastAudit('log_recovered'), null);
      const newest = auditRecord(null, { action: 'log_recovered', details: '{"count":2}' });
      await store.addAudit(newest);
      const older = { action: 'log_recovered', auditId: makeKeyId(NOW - 9_000) } as const;
      await store.addAudit(auditRecord(null, older));
      await store.addAudit(auditRecord(null, { action: 'log_started' }));
      const found = await store.lastAudit('log_recovered');
      assert.deepEqual(comparable(found), comparable({ ...newest, pending: null }));
    });

    async function allAudits(): Promise<AuditRecord[]> {
      const found: AuditRecord[] = [];
      for (;;) {
        const page = await store.audits(found.at(-1)?.auditId ?? null, 4);
        found.push(...page);
        if (page.length < 4) return found;
      }
    }
  });
}

type Comparable = Record<string, unknown>;

/** Returns a copy with bytes as hexadecimal text, because stores return different classes of bytes. */
export function comparable(value: unknown): Comparable {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex') as never;
  if (typeof value !== 'object' || value === null) return value as never;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, comparable(member)]),
  );
}

const byId = (one: Comparable, two: Comparable) =>
  String(one.entryId) < String(two.entryId) ? -1 : 1;
const byAuditId = (one: Comparable, two: Comparable) =>
  String(one.auditId) < String(two.auditId) ? -1 : 1;

const isOneOf = ({ auditId }: AuditRecord, records: readonly AuditRecord[]) =>
  records.some((one) => Buffer.from(auditId).equals(one.auditId));
