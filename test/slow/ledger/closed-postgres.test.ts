/** Tests of root run PostgreSQL as another user, even if that user can reach neither its programs nor TMPDIR. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { findBinaries, noPostgres, Postgres } from '../../support/ledgers/postgres.ts';

describe('PostgreSQL in a folder that only root can enter', {
  skip:
    noPostgres ||
    (process.getuid?.() !== 0 && 'the tests run PostgreSQL as their own user, unless that is root'),
}, () => {
  const home = mkdtempSync(join(tmpdir(), 'phm-closed-'));
  const bin = join(home, 'a folder', 'programs', 'bin');
  after(() => rmSync(home, { recursive: true, force: true }));
  cpSync(dirname(realpathSync(findBinaries())), dirname(bin), {
    recursive: true,
    verbatimSymlinks: true,
  });

  const answers = async () => {
    // A server of its own, which runs copied programs.
    const postgres = await Postgres.start(bin);
    try {
      return await postgres.query('postgres', "SELECT current_setting('data_directory') AS folder");
    } finally {
      await postgres.remove();
    }
  };

  it('starts and leaves nothing behind', async () => {
    chmodSync(home, 0o700);
    const [row] = await answers();
    assert.equal(existsSync(dirname(String(row?.folder))), false);
  });

  it('starts if only root can read its files', async () => {
    chmodSync(home, 0o755);
    chmodSync(join(dirname(bin), 'share'), 0o700);
    await answers();
  });

  it('starts if TMPDIR is closed too', async (t) => {
    const { TMPDIR } = process.env;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    chmodSync(home, 0o700);
    process.env.TMPDIR = join(home, 'tmp');
    mkdirSync(process.env.TMPDIR);
    const [row] = await answers();
    assert.ok(!String(row?.folder).startsWith(home));
  });
});
