/** The log of a key service in this process: receipts, changed rows, audit entries, and what prepares a log. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type LedgerStore, openSqliteStore, type Principal } from '../../../src/ledger/index.ts';
import { newLogKeysText, parseLogKeys } from '../../../src/log/index.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { until } from '../../support/run/until.ts';
import { keyRequest, PRESENT } from '../../support/servers/fakes.ts';
import {
  generate,
  LoggedService,
  receiptOf,
  verifyReceipt,
} from '../../support/servers/logged-service.ts';

describe('the log of a service', () => {
  const site = new LoggedService();
  let service: KeyService;
  let principal: Principal;
  before(async () => {
    ({ service, principal } = await site.start());
  });
  after(() => site.remove());

  it('proves a key at once, and later to the same account alone', async () => {
    const keyId = await generate(service, principal);
    const receipt = await receiptOf(service, keyId);
    const index = verifyReceipt(receipt, service);
    assert.equal(receipt.statement.key_id, keyId);
    await Promise.all(
      Array.from({ length: 300 }, () => service.generate(principal, keyRequest(), PRESENT)),
    );
    await until('the log holds the keys', () => service.log.status().size > 300);
    const later = await receiptOf(service, keyId, 0);
    assert.equal(verifyReceipt(later, service), index);
    assert.deepEqual(later.statement, receipt.statement);
    for (const [id, account] of [
      [keyId, 'acct_other'],
      ['phm_1', 'acct_test'],
      ['no key', 'acct_test'],
    ] as const) {
      assert.deepEqual(await service.log.receipt(id, account, 0), { kind: 'unknown_key' });
    }
  });

  it('proves a key to who has its commitment, and tells others nothing', async () => {
    const keyId = await generate(service, principal);
    const { statement } = await receiptOf(service, keyId);
    const commitment = new Uint8Array(Buffer.from(String(statement.key_commitment), 'base64'));
    const found = await service.log.receipt(keyId, commitment, 0);
    assert.ok(found.kind === 'receipt');
    verifyReceipt(found.receipt, service);
    assert.deepEqual(found.receipt.statement, statement);
    const other = await receiptOf(service, await generate(service, principal));
    const unknown = String(other.statement.key_id).replace(/.$/, (digit) =>
      digit === '0' ? '1' : '0',
    );
    for (const [id, bytes] of [
      [keyId, commitment.map((byte, i) => (i === 31 ? byte ^ 1 : byte))],
      [keyId, commitment.subarray(0, 31)],
      [keyId, new Uint8Array()],
      [keyId, new Uint8Array(Buffer.from(String(other.statement.key_commitment), 'base64'))],
      [unknown, commitment],
      ['no key', commitment],
    ] as const) {
      assert.deepEqual(await service.log.receipt(id, bytes, 0), { kind: 'unknown_key' });
    }
  });

  it('refuses a receipt for a row that was changed, and says so', async () => {
    const keyId = await generate(service, principal);
    await receiptOf(service, keyId);
    const database = new DatabaseSync(site.database);
    for (const change of ['latency_us = latency_us + 1', "sources = 'nonsense'"]) {
      database.exec(`UPDATE ledger SET ${change}`);
      const answer = await service.log.receipt(keyId, 'acct_test', 0);
      assert.deepEqual(answer, { kind: 'altered' });
    }
    database.close();
    const altered = site.notices.flatMap((one) => (one.kind === 'altered' ? one.keyId : []));
    assert.deepEqual(altered, [keyId, keyId]);
  });

  it('records administrative actions of the server', async () => {
    const { size } = service.log.status();
    service.audit('pruned', { before: '2026-01-01T00:00:00.000+00:00', rows: 5 });
    await until('the log holds the action', () => service.log.status().size === size + 1);
  });
});

describe('preparing a log', () => {
  let site: LoggedService;
  let store: LedgerStore;
  beforeEach(() => {
    site = new LoggedService();
    store = openSqliteStore({ path: site.database, quotas: monthlyQuotas(PUBLISHED_PLANS) });
  });
  afterEach(async () => {
    await store.close();
    await site.remove();
  });

  it('gives none without keys, or if it is off', async () => {
    assert.equal(await site.prepare(store, false), null);
    site.config = { ...site.config, mode: 'off' };
    assert.equal(await site.prepare(store), null);
    assert.ok(!existsSync(join(site.dataDir, 'log.key')));
  });

  it('starts one log, with one entry, and finds it again', async () => {
    const first = await site.prepare(store);
    const again = await site.prepare(store);
    assert.deepEqual(again?.binding, first?.binding);
    assert.equal(first?.stopped, null);
    assert.match(first?.binding.origin ?? '', /^phm\.invalid\/[0-9a-f]{16}$/);
    assert.equal((await store.logs()).length, 1);
    assert.deepEqual(
      (await store.audits(null, 10)).map(({ action }) => action),
      ['log_started'],
    );
  });

  it('stops with missing or foreign keys, and creates no others for the log', async () => {
    const path = join(site.dataDir, 'log.key');
    const first = await site.prepare(store);
    const keys = readFileSync(path, 'utf8');
    rmSync(path);
    const lost = await site.prepare(store);
    assert.match(lost?.stopped ?? '', /^the keys of the log phm.* are missing: restore .*log.key/);
    assert.deepEqual(lost?.binding, first?.binding, 'keys still get entries of this log');
    assert.ok(!existsSync(path));
    writeFileSync(path, newLogKeysText('phm.invalid/foreign'));
    assert.match(
      (await site.prepare(store))?.stopped ?? '',
      /belong to the log phm.invalid\/foreign, but the open log of this database is phm.invalid/,
    );
    const namesake = newLogKeysText(first?.binding.origin ?? '');
    writeFileSync(path, namesake);
    const ids = [namesake, keys].map((text) =>
      text.match(/(?<=\+)[0-9a-f]{8}(?=\+)/g)?.join(' and '),
    );
    assert.match(
      (await site.prepare(store))?.stopped ?? '',
      new RegExp(
        `log.key have the key IDs ${ids[0]}, but those of the open log phm.* are ${ids[1]}: install`,
      ),
    );
    writeFileSync(path, keys);
    assert.equal((await site.prepare(store))?.stopped, null);
  });

  it('refuses a policy without addresses, witnesses or a quorum', async () => {
    const key = parseLogKeys(newLogKeysText('witness.example')).verifierKeys.mlDsa44;
    const witnessesFile = join(site.dataDir, 'witnesses');
    site.config = { ...site.config, witnessesFile };
    for (const [text, reason] of [
      ['quorum none\n', /needs a witness and a quorum/],
      [`witness one ${key}\nquorum one\n`, /the witness one needs an address/],
      [`witness one ${key} https://w.example\nquorum none\n`, /a quorum other than none/],
      ['nonsense\n', /line 1 of the policy/],
    ] as const) {
      writeFileSync(witnessesFile, text);
      await assert.rejects(site.prepare(store), reason);
    }
    writeFileSync(witnessesFile, `witness one ${key} http://127.0.0.1:9/\nquorum one\n`);
    const setup = await site.prepare(store);
    assert.match(setup?.policy ?? '', /^witness one .*\nquorum one$/m);
    assert.deepEqual(setup?.witnessNames, ['one']);
  });
});

describe('a log whose row was changed in the database', () => {
  const site = new LoggedService();
  after(() => site.remove());

  const change = (sql: string): void => {
    const database = new DatabaseSync(site.database);
    database.exec(sql);
    database.close();
  };

  it('lets no key leave the server while it is closed and no log follows it, and continues once it is mended', async () => {
    const { service, principal } = await site.start();
    await receiptOf(service, await generate(service, principal));
    change('UPDATE logs SET closed_ms = started_ms + 1');
    await until('the server is not ready', () => !service.checkReadiness().ready);
    const { log } = service.checkReadiness();
    const { state, halt, reason } = service.log.status();
    assert.deepEqual([log, state, halt], ['altered', 'stopped', 'altered']);
    assert.match(reason ?? '', /is closed, but no log follows it: no server and no command does/);
    await assert.rejects(generate(service, principal), { code: 'ledger_unavailable' });
    change('UPDATE logs SET closed_ms = NULL');
    await until('the server is ready', () => service.checkReadiness().ready);
    await receiptOf(service, await generate(service, principal));
    await site.stop(service);
  });

  it('lets no key leave a server that starts with it, with or without the keys of the log', async () => {
    change('UPDATE logs SET closed_ms = started_ms + 1');
    const store = openSqliteStore({
      path: site.database,
      quotas: monthlyQuotas(PUBLISHED_PLANS),
    });
    rmSync(join(site.dataDir, 'log.key'));
    const setup = await site.prepare(store, false);
    assert.match(setup?.stopped ?? '', /is closed, but no log follows it/);
    await store.close();
    const { service, principal } = await site.start();
    assert.equal(service.checkReadiness().log, 'altered');
    await assert.rejects(generate(service, principal), { code: 'ledger_unavailable' });
    await site.stop(service);
  });

  it('is no log that a writer of the database started behind it', async () => {
    change(
      `INSERT INTO logs SELECT log_id + 1, 'other.example/log', verifier_keys, closed_ms, NULL, 0, root, head_mac,
         head_version FROM logs`,
    );
    const { service } = await site.start();
    assert.equal(service.checkReadiness().log, 'altered');
    assert.match(
      site.notices.flatMap((one) => (one.kind === 'stopped' ? one.reason : [])).at(-1) ?? '',
      /log other.example\/log was started, but its head has no seal of a server/,
    );
  });
});

describe('a state file that cannot be written', () => {
  const site = new LoggedService();
  after(() => site.remove());

  it('delays the log, says what to do, and keys are generated', async () => {
    const folder = join(site.dataDir, 'missing');
    site.config = { ...site.config, stateFile: join(folder, 'log-state') };
    const { service, principal } = await site.start();
    await until('the log is delayed', () => service.log.status().isDelayed);
    const reasons = site.notices.flatMap((one) => (one.kind === 'delayed' ? one.reason : []));
    assert.match(reasons[0] ?? '', /cannot be read or written: .*able to write files in .*missing/);
    assert.match(reasons[0] ?? '', /PHM_LOG_STATE_FILE/);
    const outcome = await service.generate(principal, keyRequest({ receipt: true }), PRESENT);
    assert.equal(outcome.kind, 'generated');
    mkdirSync(folder);
    await until('the log continues', () => service.log.status().size > 1);
    assert.equal(service.log.status().isDelayed, false);
  });
});
