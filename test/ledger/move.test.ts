/** An export never writes what an import refuses, and a file of a later release says that it is one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, it } from 'node:test';
import { exportLedger, importLedger, openMovableStore } from '../../src/ledger/admin.ts';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { MAX_LINE_BYTES } from '../../src/ledger/move/format.ts';
import { keyRequest, NOW, QUOTAS } from './contract.ts';
import { record } from './sealing-contract.ts';

const NEVER = new AbortController().signal;
const directory = mkdtempSync(join(tmpdir(), 'phm-move-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let databases = 0;
const newPath = () => join(directory, `${++databases}.db`);
const open = (path: string) => openSqliteStore({ path, quotas: QUOTAS });

async function exportFrom(path: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => void chunks.push(bytes);
  await exportLedger(await openMovableStore({ kind: 'sqlite', path }), NOW, put, NEVER);
  return Buffer.concat(chunks);
}

async function importTo(path: string, ...chunks: Buffer[]): Promise<void> {
  await open(path).close();
  const source = (async function* () {
    yield* chunks;
  })();
  const store = await openMovableStore({ kind: 'sqlite', path });
  await importLedger(store, source, Object.keys(QUOTAS), NEVER);
}

describe('an export', () => {
  const account = { accountId: 'acct_a', name: 'a', plan: 'enterprise', demo: false };
  let path: string;
  let change: (sql: string) => void;
  beforeEach(async () => {
    path = newPath();
    const store = open(path);
    await store.addAccount({ ...account, createdMs: NOW });
    await store.commit([keyRequest('acct_a')], []);
    await store.close();
    change = (sql) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    };
  });

  const rows: readonly (readonly [string, string, RegExp])[] = [
    [
      'a name that is too long',
      `UPDATE accounts SET name = '${'x'.repeat(201)}'`,
      /^row 1 of the table accounts cannot be exported.*name must be 1 to 200 printable/,
    ],
    [
      'a name with a line end',
      `UPDATE accounts SET name = 'a' || char(10)`,
      /^row 1 of the table accounts .*name must be/,
    ],
    [
      'a key of an account that is gone',
      `UPDATE ledger SET account_id = 'acct_b'`,
      /^row 1 of the table ledger .*account_id must be one of the accounts/,
    ],
    [
      'a receipt that is half set',
      'UPDATE ledger SET salt = zeroblob(32)',
      /^row 1 of the table ledger .*only some of key_commitment, salt/,
    ],
  ];
  for (const [name, sql, message] of rows) {
    it(`does not write ${name}`, async () => {
      change(sql);
      await assert.rejects(exportFrom(path), { name: 'SetupError', message });
    });
  }

  it('is read by an import, whatever the characters of names in the key', async () => {
    const store = open(path);
    // By their bytes the first comes first, in UTF-16 the second.
    for (const name of ['\u{ff21}', '\u{1f600}']) {
      const recipient = { accountId: 'acct_a', name, suite: 's', publicKey: Buffer.alloc(32) };
      await store.addRecipient({ ...recipient, createdMs: NOW });
    }
    await store.close();
    const copy = newPath();
    await importTo(copy, await exportFrom(path));
    const copied = open(copy);
    assert.deepEqual(
      (await copied.listRecipients()).map(({ name }) => name),
      ['\u{ff21}', '\u{1f600}'],
    );
    await copied.close();
  });

  it('is read by an import with the longest body that a record may have', async () => {
    const store = open(path);
    // Each character takes three bytes as UTF-8, the most that JSON makes of one.
    const body = '\u{20ac}'.repeat(4 * 2 ** 20);
    const request = { ...keyRequest('acct_a'), idempotency: record('k', body) };
    await store.commit([request], []);
    await store.close();
    const copy = newPath();
    await importTo(copy, await exportFrom(path));
  });
});

describe('an import', () => {
  let lines: string[];
  before(async () => {
    const path = newPath();
    await open(path).close();
    lines = (await exportFrom(path)).toString().split('\n');
  });

  it('says that a file is of a later release, before it says that a line is too long', async () => {
    const header = JSON.stringify({ ...JSON.parse(lines[0] ?? ''), version: 99 });
    const long = 'x'.repeat(MAX_LINE_BYTES);
    for (const end of ['', '\n']) {
      const file = Buffer.from(`${header}\n${long}${end}`);
      await assert.rejects(importTo(newPath(), file), {
        name: 'SetupError',
        message: /^line 1: this program reads versions 1 to 6 of the format/,
      });
    }
  });

  it('refuses a line that is too long, with its number', async () => {
    const file = Buffer.from(`${lines[0]}\n${'x'.repeat(MAX_LINE_BYTES)}\n`);
    const message = /^line 2 is longer than 16777216 bytes/;
    await assert.rejects(importTo(newPath(), file), { message });
  });
});
