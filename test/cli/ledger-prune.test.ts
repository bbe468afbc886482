/** `phm ledger prune` with a clock that contradicts the ledger, on a ledger without a server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { clockAt, DAY_MS, rowAt } from '../ledger/clock-contract.ts';
import { keyRequest, NOW, QUOTAS } from '../ledger/contract.ts';
import { runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const dataDir = makeDataDir();
const BACK = NOW + 8 * DAY_MS;

const prune = (...args: string[]) =>
  runCommand(['ledger', 'prune', '--older-than', '30', ...args], { PHM_DATA_DIR: dataDir });

/** Returns the messages of a command after the line that names the ledger. */
const words = (stderr: string) => stderr.slice(stderr.indexOf('\n') + 1);

before(async () => {
  mock.timers.enable({ apis: ['Date'], now: BACK });
  const account = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'research'];
  await runCommand(account, { PHM_DATA_DIR: dataDir });
  const store = openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: QUOTAS });
  const accountId = 'acct_e';
  await store.addAccount({ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs: NOW });
  const rows = [90, 80, 40, 0].map((days) => rowAt(NOW - days * DAY_MS));
  await store.commit(
    rows.map((row) => keyRequest(accountId, row)),
    [],
  );
  await store.maintain(clockAt(NOW));
  await store.close();
});
after(() => {
  mock.timers.reset();
  removeDataDir(dataDir);
});

describe('phm ledger prune after eight days without a server', () => {
  it('removes nothing and names the command that accepts the clock', async () => {
    for (const args of [[], ['--dry-run']]) {
      const { code, stderr } = await prune(...args);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /8 days ahead of the newest row of the ledger, so no row is removed\. If/,
      );
      assert.match(stderr, /run: PHM_DATA_DIR=\S+ bin\/phm ledger prune --accept-clock\n$/);
    }
  });

  it('counts all rows with --dry-run, but removes at most 31 days per run and reports the rest', async () => {
    const dry = await prune('--dry-run', '--accept-clock');
    const until = new Date(NOW - 59 * DAY_MS).toISOString();
    assert.equal(
      words(dry.stderr),
      'Would remove 3 rows older than 30 days and 0 sums by minute.\nOne run removes at most the oldest 31 days, so ' +
        `this takes several runs. The first removes rows from before ${until}.\n`,
    );
    const first = await prune('--accept-clock');
    assert.equal(
      words(first.stderr),
      'Removed 2 rows older than 30 days and 0 sums by minute.\n' +
        `This run removed rows from before ${until}, because one run removes at most the oldest 31 days. Rows older ` +
        'than 30 days remain: run it again, or leave them to the servers, which prune once a day.\n',
    );
    const second = await prune();
    assert.equal(words(second.stderr), 'Removed 1 row older than 30 days and 0 sums by minute.\n');
  });

  it('accepts the clock and removes nothing if no retention is set', async () => {
    mock.timers.setTime(BACK + 9 * DAY_MS);
    const accept = (...args: string[]) =>
      runCommand(['ledger', 'prune', '--accept-clock', ...args], { PHM_DATA_DIR: dataDir });
    assert.match(
      (await accept('--dry-run')).stderr,
      /\nWould accept the clock\. No rows are removed/,
    );
    assert.equal((await prune('--dry-run')).code, 1);
    const { code, stderr } = await accept();
    assert.equal(code, 0);
    assert.match(
      stderr,
      /\nAccepted the clock\. No rows are removed, because neither --older-than nor /,
    );
    assert.equal((await prune('--dry-run')).code, 0);
  });

  it('accepts --accept-clock for SQLite only', async () => {
    const env = { PHM_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' };
    const args = ['ledger', 'prune', '--older-than', '30', '--accept-clock'];
    const { code, stderr } = await runCommand(args, env);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /--accept-clock is for SQLite only: with PostgreSQL the database's clock decides/,
    );
  });
});
