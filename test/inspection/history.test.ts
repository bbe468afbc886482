/** What the check knows beside a sound log: checkpoints that were seen, earlier logs, rows that were pruned, entries that came back. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '#tlog';
import type { AuditAction } from '../../src/ledger/index.ts';
import {
  extendTree,
  leafHash,
  newLogKeysText,
  nodeHash,
  parseLogKeys,
  signCheckpoint,
} from '../../src/log/index.ts';
import { newAudit, sealed } from '../../src/service/offline.ts';
import { startLog } from '../../src/setup/index.ts';
import { NOW } from '../ledger/contract.ts';
import { ORIGIN } from '../support/ledgers/log-writer.ts';
import { assertFound, LoggedStore } from './logged-store.ts';
import { UNKNOWN } from './tamperings.ts';

let logged: LoggedStore;
beforeEach(async () => {
  logged = await LoggedStore.sqlite();
  await logged.begin();
});
afterEach(() => logged.remove());

/** Writes an audit record as a command does. */
async function record(action: AuditAction, details: JsonObject, atMs = NOW): Promise<void> {
  const maker = { log: await logged.openLog(), macs: logged.macs, version: 1 };
  await logged.store.addAudit(newAudit(maker, { atMs, action, details }));
}

describe('a log that grows', () => {
  it('has no finding while it is checked', async () => {
    await logged.addKeys(3, NOW);
    await logged.publish();
    const logs = await logged.store.logs();
    await logged.addKeys(3, NOW);
    await logged.publish();
    assert.deepEqual(await logged.findings({ logs }), []);
  });

  it('is compared to its end, also beyond a page of rows and entries', async () => {
    await logged.addKeys(1_050, NOW - 1);
    const [last] = await logged.addKeys(1, NOW);
    await logged.publish();
    const { rows, findings } = await logged.check();
    assert.deepEqual([rows.logged, findings.list], [1_051, []]);
    await logged.execute("UPDATE ledger SET source = 'qrng' WHERE created_ms = ?", NOW);
    assert.deepEqual(await logged.findings(), [
      `rows that differ from their entry in the log: ${last?.keyId}`,
    ]);
    await logged.execute('DELETE FROM ledger WHERE created_ms = ?', NOW);
    assert.deepEqual(await logged.findings(), [`entries without their row: ${last?.keyId}`]);
  });
});

describe('a known checkpoint', () => {
  const FORKED = 'a known checkpoint does not fit the database';

  /** Returns a note of the log's keys, or of others. */
  const signed = (size: number, root: Uint8Array, keys = logged.keys) =>
    signCheckpoint(keys, { size, root }, 1);

  const check = (note: string) => logged.findings({ known: [{ name: 'seen', note }] });

  it('has no finding if the log has its tree, now or earlier', async () => {
    const earlier = await logged.publish();
    await logged.addKeys(2, NOW);
    assert.deepEqual(await check(await logged.publish()), []);
    assert.deepEqual(await check(earlier), []);
  });

  it('is found if the log has another tree, fewer entries, or another origin', async () => {
    await logged.addKeys(2, NOW);
    await logged.publish();
    const { root } = await logged.openLog();
    const others = parseLogKeys(newLogKeysText('other.example/log'));
    const strangers = parseLogKeys(newLogKeysText(ORIGIN));
    for (const [note, expected] of [
      [
        signed(2, UNKNOWN),
        'seen: 2 entries with root BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=',
      ],
      [signed(4, root), 'seen: 4 entries with root …'],
      [signed(3, root, others), 'seen: of the log other.example/log'],
      [signed(3, root, strangers), 'seen: …'],
      ['?', 'seen: no checkpoint'],
    ] as const) {
      assertFound(await check(note), [`${FORKED}: ${expected}`]);
    }
    assert.match((await check(signed(4, root))).join(), /, but the database has 3$/);
    assert.match((await check(signed(3, root, strangers))).join(), /no known key of .* has signed/);
  });

  it('is found if its file has none', async () => {
    await logged.publish();
    const known = [{ name: 'state', problem: 'it is damaged' }];
    assert.deepEqual(await logged.findings({ known }), [`${FORKED}: state: it is damaged`]);
  });
});

describe('a log behind another one', () => {
  const NOT_LINKED = 'logs that do not begin with the last checkpoint of the log before them';
  const NEXT = 'keys.example/log2';
  const nextKeys = parseLogKeys(newLogKeysText(NEXT));

  /** Closes the log at its newest head, and starts the next. */
  async function rotate(): Promise<void> {
    const { logId, size, checkpoint } = await logged.openLog();
    const [checkpointText = ''] = checkpoint?.split('\n\n') ?? [];
    const follows = { logId, size, checkpointText: `${checkpointText}\n` };
    const start = { keys: nextKeys, macs: logged.macs, version: 1, nowMs: NOW };
    await startLog(logged.store, { ...start, follows });
  }

  it('begins with the hash of its last checkpoint', async () => {
    await logged.addKeys(2, NOW);
    await logged.publish();
    await rotate();
    assert.deepEqual(await logged.findings(), []);
    await logged.publishWith(nextKeys, NOW);
    assert.deepEqual(await logged.findings(), []);
  });

  it('needs no record of that, if a crash prevented it', async () => {
    await logged.publish();
    await rotate();
    await logged.execute('DELETE FROM audit WHERE audit_id IN (SELECT entry_id FROM log_pending)');
    await logged.execute('DELETE FROM log_pending');
    await logged.addKeys(1, NOW);
    await logged.publishWith(nextKeys, NOW);
    assert.deepEqual(await logged.findings(), []);
  });

  it('is found if it begins with something else', async () => {
    await logged.publish();
    await rotate();
    await logged.publishWith(nextKeys, NOW);
    const first = 'WHERE log_id = 2 AND entry_index = 0';
    await logged.execute(`UPDATE log_entries SET entry = ? ${first}`, UNKNOWN);
    const found = await logged.findings();
    assert.equal(found.at(-1), `${NOT_LINKED}: ${NEXT}`);
  });

  it('is found if the closed log was rewritten behind an older checkpoint', async () => {
    const older = await logged.publish();
    await logged.addKeys(1, NOW);
    await logged.publish();
    await rotate();
    await logged.publishWith(nextKeys, NOW);
    const first = await logged.store.readEntries(1, 0, 1);
    const where = 'WHERE log_id = 1';
    await logged.execute(`UPDATE log_checkpoints SET note = ?, size = 1 ${where}`, older);
    await logged.execute(`UPDATE log_entries SET entry = ? ${where} AND entry_index = 1`, UNKNOWN);
    const root = nodeHash(leafHash(first), leafHash(UNKNOWN));
    await logged.execute(`UPDATE logs SET root = ? ${where}`, root);
    const found = await logged.findings();
    assert.equal(found.at(-1), `${NOT_LINKED}: ${NEXT}`);
  });

  it('leaves no entry that waits for the closed one for more than a minute', async () => {
    await logged.publish();
    await logged.addKeys(1, NOW);
    const [{ entry, mac, entry_id } = {}] = await logged.execute('SELECT * FROM log_pending');
    await rotate();
    // As a server leaves it that still uses the closed log.
    await logged.execute(
      'UPDATE log_pending SET log_id = 1, entry = ?, mac = ? WHERE entry_id = ?',
      ...([entry, mac, entry_id] as Uint8Array[]),
    );
    await logged.publishWith(nextKeys, NOW);
    assert.deepEqual(await logged.findings({ nowMs: NOW + 60_000 }), []);
    assertFound(await logged.findings({ nowMs: NOW + 60_001 }), [
      `entries that wait for a closed log for more than a minute: ${ORIGIN}: 1, the oldest from …`,
    ]);
  });
});

describe('rows that were pruned', () => {
  const OLD = NOW - 90 * 86_400_000;
  const before = '2026-11-01T00:00:00.000Z';
  const deleteOld = () => logged.execute('DELETE FROM ledger WHERE created_ms = ?', OLD);
  const pruned = async () => (await logged.check()).rows.pruned;

  it('are counted while the record waits, and once it is logged; a younger one is found', async () => {
    await logged.addKeys(3, OLD);
    const [young] = await logged.addKeys(1, NOW);
    await logged.publish();
    await deleteOld();
    await record('pruned', { before, rows: 3 });
    assert.deepEqual([await logged.findings(), await pruned()], [[], 3]);
    await logged.publish();
    assert.deepEqual([await logged.findings(), await pruned()], [[], 3]);
    await logged.execute('DELETE FROM ledger');
    assert.deepEqual(await logged.findings(), [`entries without their row: ${young?.keyId}`]);
  });

  for (const [name, forge, expected] of [
    [
      'no entry',
      () => logged.execute('DELETE FROM log_pending'),
      'audit records without an entry in the log: pruned …',
    ],
    [
      'a waiting entry that no server made',
      () => logged.execute('UPDATE log_pending SET mac = ?', UNKNOWN),
      'waiting entries that the log will refuse: pruned …',
    ],
    [
      'an entry behind the end of the tree',
      async () => {
        await logged.execute(`INSERT INTO log_entries (log_id, entry_index, entry, entry_id, kind)
          SELECT log_id, 1024, entry, entry_id, kind FROM log_pending`);
        await logged.execute('DELETE FROM log_pending');
      },
      'audit records that differ from their entry in the log: pruned …',
    ],
  ] as const) {
    it(`are no pruned ones if the record has ${name}`, async () => {
      const [key] = await logged.addKeys(1, OLD);
      await logged.publish();
      await deleteOld();
      await record('pruned', { before, rows: 1 });
      await forge();
      assertFound(await logged.findings(), [expected, `entries without their row: ${key?.keyId}`]);
    });
  }

  it('are not explained by a record that waits if the master secret is missing', async () => {
    await logged.addKeys(1, OLD);
    await logged.publish();
    await deleteOld();
    await record('pruned', { before, rows: 1 });
    assertFound(await logged.findings({ macs: null }), ['entries without their row: …']);
  });
});

describe('entries that came back from a copy', () => {
  /** Appends entries whose rows are gone. */
  async function recover(count: number): Promise<void> {
    const { logId } = await logged.openLog();
    const maker = { log: { logId, origin: ORIGIN }, macs: logged.macs, version: 1 };
    const entries = Array.from({ length: count }, (_, i) => Buffer.alloc(32, i + 1));
    await logged.store.recoverEntries(logId, entries, (edge, added) =>
      sealed(maker, extendTree(edge, added)),
    );
  }

  it('are counted where a record says so, and found elsewhere', async () => {
    await logged.publish();
    await record('log_recovered', { origin: ORIGIN, first: 1, count: 2 });
    await recover(3);
    await logged.publish();
    const { findings, rows } = await logged.check();
    assertFound(
      findings.list.map(({ problem, examples }) => `${problem}: ${examples}`),
      ['entries without a statement: entry 3'],
    );
    assert.equal(rows.recovered, 2);
  });
});
