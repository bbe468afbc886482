import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { takeSecret } from '../../src/service/secret/versions.ts';
import {
  checkMasterSecret,
  createMasterSecret,
  loadMasterSecret,
  rotateMasterSecret,
} from '../../src/setup/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-secret-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** Returns a secret with versions 1, 2, … filled with these bytes. The last is current unless another is named. */
const secretOf = (bytes: number[], currentVersion = bytes.length) => ({
  versions: bytes.map((byte, i) => ({ version: i + 1, secret: Buffer.alloc(32, byte) })),
  currentVersion,
});
const open = (file: string) => openSqliteStore({ path: join(directory, file), quotas: {} });

describe('the master secret beside its database', () => {
  it('is refused if it differs under a known version', async () => {
    const store = open('one.db');
    await checkMasterSecret(store, secretOf([1]), 0);
    await checkMasterSecret(store, secretOf([1]), 0);
    await assert.rejects(checkMasterSecret(store, secretOf([2]), 0), {
      name: 'SetupError',
      message: /version 1 of the master secret is not the one/,
    });
    await store.close();
  });

  it('may gain a new version, but not lose a version that generated keys', async () => {
    const store = open('two.db');
    await checkMasterSecret(store, secretOf([1]), 0);
    await checkMasterSecret(store, secretOf([1, 2], 1), 0);
    // Version 2 is registered and only verifies, so a server that still lacks it can be restarted.
    await checkMasterSecret(store, secretOf([1]), 0);
    await assert.rejects(
      checkMasterSecret(store, secretOf([1, 3], 1), 0),
      /version 2 .* not the one/,
    );
    await checkMasterSecret(store, secretOf([1, 2]), 0);
    await assert.rejects(
      checkMasterSecret(store, secretOf([1]), 0),
      /generated under version 2 .* which the given secret lacks/,
    );
    await checkMasterSecret(store, secretOf([1, 2], 1), 0);
    await store.close();
  });

  it('treats a version registered by an older program as used', async () => {
    const store = open('old.db');
    const old = new DatabaseSync(join(directory, 'old.db'));
    old.exec(
      'INSERT INTO secret_checks (version, check_value, registered_ms) VALUES (2, zeroblob(32), 1)',
    );
    old.close();
    await assert.rejects(checkMasterSecret(store, secretOf([1]), 0), /generated under version 2/);
    await store.close();
  });

  it('registers no version if one is foreign', async () => {
    const store = open('three.db');
    await checkMasterSecret(store, secretOf([1]), 0);
    await assert.rejects(checkMasterSecret(store, secretOf([9, 9]), 0));
    assert.deepEqual([...(await store.secretChecks()).keys()], [1]);
    await store.close();
  });
});

describe('the master secret file', () => {
  it('is created once, for its owner alone, and leaves no other file', async () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    const first = await loadMasterSecret({ kind: 'managed', path });
    const second = await loadMasterSecret({ kind: 'managed', path });
    assert.deepEqual(first, second);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.throws(() => createMasterSecret(path), /exists: a new secret would invalidate/);
    assert.deepEqual(readdirSync(folder), ['master.key']);
  });

  it('is created beside a leftover file of an earlier crash', async () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    writeFileSync(`${path}.${process.pid}.new`, 'left over');
    assert.equal((await loadMasterSecret({ kind: 'managed', path })).currentVersion, 1);
  });

  it('keeps its versions when a new one is added', async () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const path = join(folder, 'master.key');
    createMasterSecret(path);
    const before = readFileSync(path, 'utf8');
    assert.equal(await rotateMasterSecret({ kind: 'file', path }), 2);
    assert.ok(readFileSync(path, 'utf8').startsWith(before));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['master.key']);
  });

  it('stays at the target of a symbolic link when a version is added', async () => {
    const folder = mkdtempSync(join(directory, 'f-'));
    const [path, link] = [join(folder, 'master.key'), join(folder, 'link')];
    createMasterSecret(path);
    symlinkSync('master.key', link);
    assert.equal(await rotateMasterSecret({ kind: 'file', path: link }), 2);
    assert.equal(readlinkSync(link), 'master.key');
    assert.equal((await loadMasterSecret({ kind: 'file', path })).currentVersion, 2);
  });

  it('is named but not quoted in an error if it is damaged or missing', async () => {
    const path = join(directory, 'damaged.key');
    writeFileSync(path, '1:abcdef0123');
    await assert.rejects(loadMasterSecret({ kind: 'file', path }), (error: Error) => {
      assert.match(error.message, /damaged\.key/);
      assert.ok(!error.message.includes('abcdef'));
      return error.name === 'SetupError';
    });
    const missing = join(directory, 'missing.key');
    await assert.rejects(loadMasterSecret({ kind: 'file', path: missing }), /missing\.key/);
  });

  it('uses only the current version that the configuration names', async () => {
    const path = join(directory, 'three.key');
    writeFileSync(
      path,
      [1, 2, 4].map((version) => `${version}:${`5${version}`.repeat(32)}\n`).join(''),
    );
    const current = (currentVersion?: number) =>
      loadMasterSecret({ kind: 'file', path, ...(currentVersion && { currentVersion }) });
    assert.equal((await current()).currentVersion, 4);
    assert.equal((await current(2)).currentVersion, 2);
    await assert.rejects(current(3), {
      name: 'SetupError',
      message: /^PHM_MASTER_KEY_VERSION is 3, but the master secret has only version 1, 2, 4:/,
    });
  });

  it('is wiped in a worker after the subkeys are derived', () => {
    const handed = secretOf([7, 8]);
    takeSecret(handed).destroy();
    for (const { secret } of handed.versions) assert.ok(secret.every((byte) => byte === 0));
  });
});
