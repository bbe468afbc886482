/** On both stores, a statement that is rebuilt from the row is the one whose entry waits for the log. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseReceipt } from '#tlog';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { generateKey } from '../../../src/keys/generate.ts';
import { formatKeyId, parseKeyId } from '../../../src/keys/key-id.ts';
import { keyCommitment } from '../../../src/keys/key-receipt.ts';
import { keyEntry, keyStatement } from '../../../src/keys/statement.ts';
import {
  type LedgerStore,
  openSqliteStore,
  type PendingEntry,
  type RecordedRow,
} from '../../../src/ledger/index.ts';
import { openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { EMPTY_ROOT, extendTree } from '../../../src/log/index.ts';
import { deriveLogMacKeys, LogMacKeys } from '../../../src/proof/index.ts';
import { KeyRows } from '../../../src/service/threads/key-rows.ts';
import { KeyWorker } from '../../../src/service/threads/key-worker.ts';
import type { KeyTask, LogBinding } from '../../../src/service/threads/messages.ts';
import { packRows } from '../../../src/service/threads/packed-rows.ts';
import { withSeal } from '../../ledger/log-contract.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import {
  fakeGenerator,
  fakePlainGenerator,
  keyring,
  order,
  RecordingDrbg,
} from '../../support/servers/fakes.ts';

const ORIGIN = 'phm.invalid/0123456789abcdef';
const SOFTWARE = 'phm-key-service/0.1.0+0123456789abcdef';
const macs = new LogMacKeys(deriveLogMacKeys([{ version: 1, secret: Buffer.alloc(32, 9) }]));
const requester = { accountId: 'acct_1', apiKeyId: 'key_1', atMs: Date.now() };

let postgres: Databases | undefined;
const folder = mkdtempSync(join(tmpdir(), 'phm-receipts-'));
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
});
after(async () => {
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a log and an account, and returns what a key worker needs. */
async function prepare(store: LedgerStore): Promise<LogBinding> {
  const { accountId, apiKeyId, atMs } = requester;
  const account = { accountId, name: 'n', plan: 'research', demo: false, createdMs: atMs };
  const apiKey = { apiKeyId, accountId, hint: '', createdMs: atMs, revokedMs: null };
  await store.addAccount(account);
  await store.addApiKey(apiKey, Buffer.alloc(32, 1));
  const { logId } = await store.startLog({
    origin: ORIGIN,
    verifierKeys: 'a\nb',
    startedMs: atMs,
    first: null,
    tree: withSeal(extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, [])),
  });
  const softwareId = await store.registerSoftware(SOFTWARE);
  return { logId, origin: ORIGIN, software: SOFTWARE, softwareId };
}

/** Takes all pending entries from the store. */
async function takePending(store: LedgerStore, logId: number): Promise<PendingEntry[]> {
  const taken: PendingEntry[] = [];
  const judge = (entry: PendingEntry): boolean => {
    taken.push(entry);
    return macs.verifies(entry.secretVersion, entry.entryId, entry.entry, entry.mac);
  };
  const { appended, setAside } = await store.takeTurn({
    logId,
    limit: 100,
    judge,
    extend: (edge, entries) => withSeal(extendTree(edge, entries)),
  });
  assert.deepEqual([appended, setAside], [taken.length, 0]);
  return taken;
}

function theSameOn(name: string, open: () => Promise<LedgerStore>, skip: string | false): void {
  it(`is the recorded one with ${name}`, { skip }, async () => {
    const store = await open();
    const log = await prepare(store);
    const generator = fakeGenerator(new RecordingDrbg(), 256, 12.5);
    const worker = new KeyWorker(fakePlainGenerator(generator), keyring, store, log);
    const validated = order({ withEvidence: true, receipt: true, source: 'ibm-quantum' });
    const counts = { streams: 0, streamsPassed: 0 };
    const { key, opening, report, ...generated } = generateKey(
      generator,
      keyring,
      validated,
      counts,
      true,
    );
    const row = new KeyRows(log, keyring).rowOf(requester, validated, generated);
    const plainOrder = order({ securityLevel: 384, receipt: true, source: 'ibm-quantum' });
    const tasks: KeyTask[] = [
      { kind: 'generate', requester, order: plainOrder, idempotency: null },
      { kind: 'record', requester, rows: [packRows([row])], counts, idempotency: null },
    ];
    const { results } = await worker.run({ id: 1, tasks, failures: [] });
    const [plain, recorded] = results;
    assert.ok(plain?.kind === 'generated' && recorded?.kind === 'recorded');
    const [released] = plain.keys;
    assert.ok(released?.opening && opening);

    const pending = await takePending(store, log.logId);
    const records: RecordedRow[] = [];
    for (const keyId of [released.keyId, formatKeyId(generated.keyId)]) {
      const record = await store.findRecord(parseKeyId(keyId) ?? Buffer.alloc(0));
      assert.ok(record);
      records.push(record);
      const entry = pending.find(({ entryId }) => formatKeyId(entryId) === keyId);
      assert.ok(entry, 'the entry has the ID of the key');
      assert.deepEqual(Buffer.from(entry.entry), keyEntry(record, ORIGIN));
    }
    const [first, second] = records.map((record) => keyStatement(record, ORIGIN));
    assert.ok(first && second);
    for (const statement of [first, second]) parseReceipt({ statement, proof: '' });
    assert.equal(first.key_id, released.keyId);
    assert.deepEqual(first.sources, [
      { name: 'os', credit_bits: 256 },
      { name: 'ibm-quantum', credit_bits: 25 },
    ]);
    assert.deepEqual([first.security_level, first.security_strength_bits], [384, 256]);
    assert.equal(first.time, new Date(requester.atMs).toISOString().replace('Z', '+00:00'));
    assert.equal(first.evidence, null);
    assert.equal(second.evidence?.tests_passed, generated.evidence?.testsPassed);
    for (const [statement, opened, bytes] of [
      [first, released.opening, released.key],
      [second, opening, key],
    ] as const) {
      const commitment = keyCommitment(opened, statement.key_id, bytes).toString('base64');
      assert.equal(statement.key_commitment, commitment);
    }
    await store.close();
  });
}

describe('a rebuilt statement', () => {
  theSameOn(
    'SQLite',
    async () =>
      openSqliteStore({ path: join(folder, 'phm.db'), quotas: monthlyQuotas(PUBLISHED_PLANS) }),
    false,
  );
  theSameOn(
    'PostgreSQL',
    async () => {
      const url = await postgres?.createLedger('receipts');
      return openPostgresStore({ url: url ?? '', quotas: monthlyQuotas(PUBLISHED_PLANS) });
    },
    noPostgres,
  );
});
