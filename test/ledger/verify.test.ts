/** `phm ledger verify` on SQLite, and what it can read of a damaged file. `verify-contract.ts` holds what it finds. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { verifyLedger } from '../../src/ledger/admin.ts';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { runCommand } from '../support/servers/run-command.ts';
import { DAY_MS } from './clock-contract.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';
import { fillStore } from './filled-store.ts';
import { verifyContract } from './verify-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-verify-'));
after(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'phm.db');
const location = { kind: 'sqlite', path } as const;
type Row = Record<string, number>;

const phm = (...args: string[]) => runCommand(args, { PHM_DATA_DIR: folder });

const verify = () =>
  verifyLedger(location, {
    nowMs: NOW,
    signal: new AbortController().signal,
    onProgress: () => {},
  });

describe('verification of a ledger in SQLite', () => {
  it('finds no problem in a sound ledger, beside a server, before and after retention', async () => {
    const store = openSqliteStore({ path, quotas: QUOTAS });
    await fillStore(store);
    const text = await phm('ledger', 'verify');
    assert.equal(text.code, 0, text.stderr);
    assert.match(
      text.stderr,
      /Checked 2 accounts, 4 API keys, 300 ledger rows.*does not use the master secret/,
    );
    assert.match(text.stderr, /No problems found\.\n$/);
    await store.prune({ keepMs: 30 * 86_400_000, clock: { nowMs: () => NOW }, dryRun: false });
    const pruned = await verify();
    assert.deepEqual(pruned.findings, []);
    assert.ok(pruned.keysWithoutRow > 100 && pruned.rows.ledger > 100);
    const { stderr } = await phm('ledger', 'verify');
    const missing =
      / keys in the sums have no row, perhaps because retention removed the oldest rows\. The oldest /;
    assert.match(stderr, missing);
    assert.doesNotMatch(stderr, /log check/);
    await store.close();
  });

  it('finds no loss after a prune that kept a row with an old key ID, and names the clock', async () => {
    const store = openSqliteStore({ path, quotas: QUOTAS });
    const createdMs = NOW - 10 * DAY_MS;
    const row = makeRow({ keyId: makeKeyId(NOW - 900 * DAY_MS), createdMs });
    await store.commit([keyRequest('acct_a', row, createdMs)], []);
    const order = { keepMs: 25 * DAY_MS, clock: { nowMs: () => NOW }, dryRun: false };
    assert.ok((await store.prune(order)).rows > 0);
    await store.close();
    const { findings } = await verify();
    assert.deepEqual(
      findings.map(({ problem, count }) => [problem, count]),
      [['ledger: created_ms differs from the time in the key ID by more than 15 minutes', 1]],
    );
    assert.match(findings[0]?.remedy ?? '', /^A server whose clock was wrong/);
  });

  it('accepts the schema of a newer release if this program can work with it', async () => {
    const before = (await verify()).findings;
    const database = new DatabaseSync(path);
    const { user_version: own } = database.prepare('PRAGMA user_version').get() as Row;
    database.exec(`PRAGMA user_version = 99; DELETE FROM schema_version;
      INSERT INTO schema_version (version, oldest_program) VALUES (99, ${own})`);
    assert.deepEqual((await verify()).findings, before);
    const exported = await phm('export', join(folder, 'out'));
    assert.match(exported.stderr, /an export by this program could leave out/);
    database.exec(`UPDATE schema_version SET oldest_program = 98`);
    await assert.rejects(verify(), /needs programs of version 98; start the newer release/);
    database.close();
  });

  it('finds each change and names it', async () => {
    for (const side of ['', '-wal', '-shm']) rmSync(path + side, { force: true });
    const store = openSqliteStore({ path, quotas: QUOTAS });
    await fillStore(store);
    await store.close();
    const database = new DatabaseSync(path);
    await verifyContract(location, (sql) => database.exec(sql));
    database.close();
    const { code, stdout, stderr } = await phm('ledger', 'verify', '--json');
    assert.equal(code, 1);
    assert.match(stderr, /phm: the ledger is inconsistent: \d+ findings\n$/);
    const { findings, rows } = JSON.parse(stdout);
    assert.ok(findings.length > 10 && rows.ledger === 299);
    const [{ examples }] = findings.filter(({ problem }: { problem: string }) =>
      problem.startsWith('ledger: fingerprint'),
    );
    assert.match(examples[0], /^phm_\d{30,}$/);
  });

  it('reports what it can read of a damaged file', async () => {
    const file = openSync(path, 'r+');
    const pages = Buffer.alloc(3 * 4096, 0x5a);
    writeSync(file, pages, 0, pages.length, 4096 * Math.floor((statSync(path).size * 3) / 16384));
    closeSync(file);
    const { findings, isComplete, keysWithoutRow } = await verify();
    assert.deepEqual([isComplete, keysWithoutRow], [false, 0]);
    const { examples } = findings.find(({ problem }) => /could not be read/.test(problem)) ?? {};
    assert.match(examples?.[0] ?? '', /^[a-z_]+: database disk image is malformed$/);
    assert.equal(new Set(examples).size, examples?.length);
    const { stderr } = await phm('ledger', 'verify');
    assert.match(stderr, /Part of the ledger could not be read\. Checked \d+ accounts/);
    assert.match(findings[0]?.problem ?? '', /^the file is damaged/);
    assert.match(findings[0]?.remedy ?? '', /restore a backup/);
  });
});
