/** Writes to a ledger with a log what a server would write, without one: rows, turns, receipts, the published files. */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  formatEntries,
  formatProof,
  keyCommitmentMessage,
  type Receipt,
  tilePath,
  tileWidth,
} from '#tlog';
import { storeSource, storeTiles } from '../../../src/inspection/index.ts';
import { formatKeyId, keyEntry, keyStatement } from '../../../src/keys/index.ts';
import type {
  Edge,
  LedgerRow,
  LedgerStore,
  LogRecord,
  RecordedReceipt,
  RevokedState,
  RowReceipt,
  TurnOutcome,
} from '../../../src/ledger/index.ts';
import {
  extendTree,
  inclusionProof,
  type LogKeys,
  policyText,
  signCheckpoint,
} from '../../../src/log/index.ts';
import type { LogMacKeys } from '../../../src/proof/index.ts';
import { newAudit, pendingEntryOf, sealed } from '../../../src/service/offline.ts';
import { keyRequest, makeKeyId, makeRow } from '../../ledger/contract.ts';

export const ORIGIN = 'keys.example/log';

const ACCOUNT = 'acct_log';
const SOFTWARE = 'phm-key-service/test';

/** A key with all that its holder keeps. */
export interface HeldKey {
  readonly keyId: string;
  /** As the ledger stores it. */
  readonly id: Uint8Array;
  readonly key: Buffer;
  readonly opening: Buffer;
}

export class LogWriter {
  readonly store: LedgerStore;
  readonly macs: LogMacKeys;

  constructor(store: LedgerStore, macs: LogMacKeys) {
    this.store = store;
    this.macs = macs;
  }

  /** Adds the account of the keys. */
  async addAccount(): Promise<void> {
    const account = { accountId: ACCOUNT, name: 'L', plan: 'enterprise', demo: false };
    await this.store.addAccount({ ...account, createdMs: 1 });
  }

  async openLog(): Promise<LogRecord> {
    const log = (await this.store.logs()).find(({ closedMs }) => closedMs === null);
    if (!log) throw new Error('there is no open log');
    return log;
  }

  /** Records keys, each with a pending entry. */
  async addKeys(
    count: number,
    atMs = Date.now(),
    changes: Partial<LedgerRow> = {},
  ): Promise<HeldKey[]> {
    const log = await this.openLog();
    const softwareId = await this.store.registerSoftware(SOFTWARE);
    const held = Array.from({ length: count }, () => newKey(changes.keyId ?? makeKeyId(atMs)));
    const requests = held.map((key) => {
      const row = makeRow({ ...changes, keyId: key.id, createdMs: atMs });
      const columns: RecordedReceipt = {
        keyCommitment: commitmentOf(key),
        salt: randomBytes(32),
        strengthBits: 256,
        sources: 'os:256',
        software: SOFTWARE,
      };
      const request = keyRequest(ACCOUNT, row, atMs);
      const { accountId, apiKeyId } = request;
      const entry = keyEntry({ ...row, accountId, apiKeyId, receipt: columns }, log.origin);
      const maker = { log, macs: this.macs, version: 1 };
      const { software: _, ...stored } = columns;
      const pending = pendingEntryOf(maker, 'key', key.id, entry);
      const receipt: RowReceipt = { ...stored, softwareId, pending };
      return keyRequest(ACCOUNT, { ...row, receipt }, atMs);
    });
    await this.store.commit(requests, []);
    return held;
  }

  /** Revokes a key, as a server does. */
  async revoke({ id, keyId }: HeldKey, state: RevokedState, atMs = Date.now()): Promise<void> {
    const log = await this.openLog();
    const reason = state === 'compromised' ? ('key_compromise' as const) : ('superseded' as const);
    const of = { account_id: ACCOUNT, api_key_id: `key_${ACCOUNT}`, key_id: keyId };
    const audit = newAudit(
      { log, macs: this.macs, version: 1 },
      { atMs, action: 'key_revoked', details: { ...of, reason, state } },
    );
    const order = { accountId: ACCOUNT, keyId: id, state, reason, atMs };
    await this.store.revokeKeys([{ order, audit }]);
  }

  /** Takes one turn as the sequencer does, and publishes its head. Returns the checkpoint. */
  async publishWith(keys: LogKeys, atMs: number): Promise<string> {
    const { logId, head } = await this.takeTurn();
    const note = signCheckpoint(keys, head, Math.floor(atMs / 1000));
    await this.store.saveCheckpoint(logId, head.size, note, 'checkpoint');
    return note;
  }

  /** Takes one turn, and publishes nothing. */
  async takeTurn(): Promise<{ readonly logId: number; readonly head: TurnOutcome }> {
    const log = await this.openLog();
    const { logId } = log;
    const turn = {
      logId,
      limit: 10_000,
      judge: (entry: Parameters<Parameters<LedgerStore['takeTurn']>[0]['judge']>[0]) =>
        this.macs.verifies(entry.secretVersion, entry.entryId, entry.entry, entry.mac),
      extend: (edge: Edge, entries: readonly Uint8Array[]) =>
        sealed({ log, macs: this.macs, version: 1 }, extendTree(edge, entries)),
    };
    return { logId, head: await this.store.takeTurn(turn) };
  }

  /** Appends an entry as someone who writes to the database: with a tree to match, and the seal that was there. */
  async appendUnsealed(atMs = Date.now()): Promise<void> {
    await this.addKeys(1, atMs);
    const { logId } = await this.openLog();
    const extend = (edge: Edge, entries: readonly Uint8Array[]) => {
      return { ...extendTree(edge, entries), seal: edge.seal };
    };
    await this.store.takeTurn({ logId, limit: 10_000, judge: () => true, extend });
  }

  /** Returns the receipt of a logged key. */
  async receiptOf({ id }: HeldKey): Promise<Receipt> {
    const [record, logged, log] = [
      await this.store.findRecord(id),
      await this.store.findLogged(id),
      await this.openLog(),
    ];
    if (!record || !logged || logged === 'pending') throw new Error('the key has no entry');
    const hashes = await inclusionProof(storeTiles(this.store, log), logged.index, log.size);
    const checkpoint = log.checkpoint ?? '';
    const proof = formatProof({ extra: null, index: logged.index, hashes, checkpoint });
    return { statement: keyStatement(record, log.origin), proof };
  }

  /** Writes the published log to a folder as c2sp.org/tlog-tiles names its files. */
  async exportTo(folder: string): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    const log = await this.openLog();
    const source = storeSource(this.store, log);
    const put = (path: string, content: string | Uint8Array): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    put('checkpoint', log.checkpoint ?? '');
    const [ed25519 = '', mlDsa44 = ''] = log.verifierKeys.split('\n');
    put('policy', policyText({ origin: log.origin, verifierKeys: { ed25519, mlDsa44 } }));
    for (let level = 0; 256 ** level <= log.size; level++) {
      for (let index = 0; tileWidth(level, index, log.size) > 0; index++) {
        const width = tileWidth(level, index, log.size);
        put(tilePath(level, index, width), (await source.tile(level, index, width)) ?? '');
        if (level > 0) continue;
        const entries = (await source.entries(index, width)) ?? [];
        put(tilePath('entries', index, width), formatEntries(entries));
      }
    }
  }
}

function newKey(id: Uint8Array): HeldKey {
  return { keyId: formatKeyId(id), id, key: randomBytes(32), opening: randomBytes(32) };
}

function commitmentOf({ keyId, key, opening }: HeldKey): Buffer {
  return createHmac('sha256', opening)
    .update(keyCommitmentMessage(256, keyId, key))
    .digest();
}
