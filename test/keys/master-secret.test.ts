import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  checkMasterSecret,
  createMasterSecret,
  loadMasterSecret,
  rotateMasterSecret,
} from '../../src/keys/index.ts';
import { takeSecrets } from '../../src/keys/master-secret.ts';
import { openSqliteStore } from '../../src/ledger/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-secret-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const secretOf = (version: number, byte: number) => ({ version, secret: Buffer.alloc(32, byte) });
const open = (file: string) => openSqliteStore({ path: join(directory, file), quotas: {} });

describe('the master secret and its database', () => {
  it('belong together: another secret under a known version is refused', async () => {
    const store = open('one.db');
    await checkMasterSecret(store, [secretOf(1, 1)], 0);
    await checkMasterSecret(store, [secretOf(1, 1)], 0);
    await assert.rejects(checkMasterSecret(store, [secretOf(1, 2)], 0), {
      name: 'SetupError',
      message: /version 1 of the master secret is not the one/,
    });
    await store.close();
  });

  it('take a new version on, and refuse to lose an old one', async () => {
    const store = open('two.db');
    await checkMasterSecret(store, [secretOf(1, 1)], 0);
    await checkMasterSecret(store, [secretOf(1, 1), secretOf(2, 2)], 0);
    await assert.rejects(checkMasterSecret(store, [secretOf(1, 1)], 0), /knows version 2/);
    await store.close();
  });

  it('register nothing of a foreign secret', async () => {
    const store = open('three.db');
    await checkMasterSecret(store, [secretOf(1, 1)], 0);
    await assert.rejects(checkMasterSecret(store, [secretOf(1, 9), secretOf(2, 9)], 0));
    assert.deepEqual([...(await store.secretChecks()).keys()], [1]);
    await store.close();
  });
});

describe('the master secret’s file', () => {
  it('is made once, for its owner alone, and leaves nothing beside it', () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    const [first] = loadMasterSecret({ kind: 'managed', path });
    const [second] = loadMasterSecret({ kind: 'managed', path });
    assert.deepEqual(first, second);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.throws(() => createMasterSecret(path), /exists: a new secret would orphan/);
    assert.deepEqual(readdirSync(folder), ['master.key']);
  });

  it('is made beside what an earlier crash has left', () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    writeFileSync(`${path}.${process.pid}.new`, 'left over');
    assert.equal(loadMasterSecret({ kind: 'managed', path })[0]?.version, 1);
  });

  it('keeps its versions when one is added', () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    createMasterSecret(path);
    const before = readFileSync(path, 'utf8');
    assert.equal(rotateMasterSecret({ kind: 'file', path }), 2);
    assert.ok(readFileSync(path, 'utf8').startsWith(before));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['master.key']);
  });

  it('is named, and not quoted, when it is damaged or missing', () => {
    const path = join(directory, 'damaged.key');
    writeFileSync(path, '1:abcdef0123');
    assert.throws(
      () => loadMasterSecret({ kind: 'file', path }),
      (error: Error) => {
        assert.match(error.message, /damaged\.key/);
        assert.ok(!error.message.includes('abcdef'));
        return error.name === 'SetupError';
      },
    );
    const missing = join(directory, 'missing.key');
    assert.throws(() => loadMasterSecret({ kind: 'file', path: missing }), /missing\.key/);
  });

  it('is wiped in a worker once the subkeys are derived', () => {
    const handed = [secretOf(1, 7)];
    takeSecrets(handed).destroy();
    assert.ok(handed[0]?.secret.every((byte) => byte === 0));
  });
});
