/** A command of a user without rights does not take what another user planted. Only root can start it as these users. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { MAIN } from '../../support/servers/server.ts';

const MALLORY = 54_321;
const skip = process.getuid?.() === 0 ? false : 'only root can make files of other users';

it('refuses a data directory of another user, and a secret that everyone can read', {
  skip,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-own-'));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  const secret = join(data, 'master.key');
  mkdirSync(data);
  writeFileSync(secret, `1:${'ab'.repeat(32)}\n`);
  for (const path of [data, secret]) chownSync(path, MALLORY, MALLORY);
  chmodSync(data, 0o777);
  const args = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
  const as = (uid: number) =>
    spawnSync(process.execPath, [MAIN, ...args], {
      uid,
      gid: uid,
      cwd: folder,
      env: { PHM_DATA_DIR: data, NODE_COMPILE_CACHE: join(folder, 'cache') },
      encoding: 'utf8',
    });
  try {
    const victim = as(MALLORY + 1);
    assert.equal(victim.status, 1, victim.stderr);
    assert.match(victim.stderr, /belongs to another user \(uid 54321\)/);
    assert.ok(!existsSync(join(data, 'phm.db')));
    const owner = as(MALLORY);
    assert.equal(owner.status, 1, owner.stderr);
    assert.match(owner.stderr, /every user of this machine can read the master secret/);
    chmodSync(secret, 0o600);
    const own = as(MALLORY);
    assert.equal(own.status, 0, own.stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
