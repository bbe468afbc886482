/** A log through restarts: the last second, a changed pending entry, a restored database, lost files and keys. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newLogKeysText } from '../../../src/log/index.ts';
import { until } from '../../support/run/until.ts';
import {
  generate,
  LoggedService,
  receiptOf,
  verifyReceipt,
} from '../../support/servers/logged-service.ts';

let site: LoggedService;
beforeEach(() => {
  site = new LoggedService();
});
afterEach(() => site.remove());

describe('the log of a service that is started again', () => {
  it('holds the keys of the last second after a restart, and serves the same head', async () => {
    const first = await site.start();
    const keyId = await generate(first.service, first.principal);
    await site.stop(first.service);
    const state = readFileSync(site.config.stateFile, 'utf8');
    const again = await site.start();
    await until('the log runs', () => again.service.log.status().state === 'running');
    assert.deepEqual(again.service.log.checkpoint(), { kind: 'text', text: state });
    verifyReceipt(await receiptOf(again.service, keyId, 0), again.service);
  });

  it('sets a changed pending entry aside', async () => {
    // The entry waits until the service stops.
    site.config = { ...site.config, intervalMs: 86_400_000 };
    const { service, principal } = await site.start();
    await until('the log runs', () => service.log.status().state === 'running');
    const keyId = await generate(service, principal);
    const database = new DatabaseSync(site.database);
    database.exec(`UPDATE log_pending SET entry = randomblob(32) WHERE kind = 'key'`);
    database.close();
    await site.stop(service);
    assert.ok(site.notices.some(({ kind }) => kind === 'set_aside'));
    const again = await site.start();
    await until('an entry is set aside', () => again.service.log.status().setAside === 1);
    assert.deepEqual(await again.service.log.receipt(keyId, 'acct_test', 0), {
      kind: 'no_receipt',
    });
  });

  it('stops on a restored database while keys are generated', async () => {
    const first = await site.start();
    await receiptOf(first.service, await generate(first.service, first.principal));
    await site.stop(first.service);
    const database = site.database;
    copyFileSync(database, `${database}.copy`);
    const second = await site.start();
    await receiptOf(second.service, await generate(second.service, second.principal));
    await site.stop(second.service);
    renameSync(`${database}.copy`, database);
    const { service, principal } = await site.start();
    const keyId = await generate(service, principal);
    await until('the log stops', () => service.log.status().state === 'stopped');
    assert.match(service.log.status().reason ?? '', /entries in the database, but \d+ were publ/);
    assert.deepEqual(await service.log.receipt(keyId, 'acct_test', 1_000), { kind: 'stopped' });
    assert.deepEqual(service.log.checkpoint(), { kind: 'stopped' });
    assert.deepEqual(await service.log.tile(0, 0, 1), { kind: 'stopped' });
    assert.equal(service.log.policy().kind, 'text');
  });

  it('stops without its state file, once the log is older than ten minutes', async () => {
    const first = await site.start();
    await receiptOf(first.service, await generate(first.service, first.principal));
    await site.stop(first.service);
    rmSync(site.config.stateFile);
    const database = new DatabaseSync(site.database);
    database.exec('UPDATE logs SET started_ms = started_ms - 600000');
    database.close();
    const { service } = await site.start();
    await until('the log stops', () => service.log.status().state === 'stopped');
    assert.match(service.log.status().reason ?? '', /is missing, but the log/);
    assert.ok(!existsSync(site.config.stateFile));
  });

  it('stops with missing or foreign keys, while entries wait for the right ones', async () => {
    const path = join(site.dataDir, 'log.key');
    const first = await site.start();
    await receiptOf(first.service, await generate(first.service, first.principal));
    await site.stop(first.service);
    const keys = readFileSync(path, 'utf8');
    rmSync(path);
    const lost = await site.start();
    assert.match(
      lost.service.log.status().reason ?? '',
      /the keys of the log .* are missing: rest/,
    );
    const keyId = await generate(lost.service, lost.principal);
    await site.stop(lost.service);
    assert.ok(!existsSync(path), 'it creates no other keys for an existing log');
    writeFileSync(path, newLogKeysText('phm.invalid/foreign'));
    const foreign = await site.start();
    await until('the log stops', () => foreign.service.log.status().state === 'stopped');
    assert.match(
      foreign.service.log.status().reason ?? '',
      /belong to the log phm.invalid\/foreign, but the open log of this database is /,
    );
    await site.stop(foreign.service);
    writeFileSync(path, keys);
    const { service } = await site.start();
    verifyReceipt(await receiptOf(service, keyId), service);
  });
});
