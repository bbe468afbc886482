/** `phm secret retire` and the input that it refuses, on a ledger without a server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LedgerStore, openSqliteStore } from '../../src/ledger/index.ts';
import { commandJson, runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const CREATE = ['account', 'create', '--init', '--name', 'x', '--plan', 'research'];
const SINCE = '--compromised-since';
const DAY_MS = 86_400_000;

describe('phm secret retire', () => {
  const dataDir = makeDataDir();
  const env = { PHM_DATA_DIR: dataDir };
  let store: LedgerStore;
  before(async () => {
    assert.equal((await runCommand(CREATE, env)).code, 0);
    assert.equal((await runCommand(['secret', 'rotate'], env)).code, 0);
    store = openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: {} });
    await store.registerSecret(2, randomBytes(32), 0);
    await store.activateSecret(2, 0);
  });
  after(async () => {
    await store.close();
    removeDataDir(dataDir);
  });

  const retirement = async () => (await store.secretChecks()).get(1)?.retirement ?? null;

  it('rejects an invalid version or time, and writes nothing', async () => {
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString();
    const wrong: [string[], number, RegExp][] = [
      [[], 2, /missing required argument 'version'/],
      [['65536'], 2, /^phm: VERSION is 65536: use a whole number from 1 to 65535$/m],
      [['1', SINCE, '2026-01-01', SINCE, '2026-02-01'], 2, /--compromised-since is given twice/],
      [['1', SINCE, '2026-02-30'], 2, /a day such as/],
      [['1', SINCE, '2026-11-20T14:00'], 2, /a time with its offset/],
      [['1', SINCE, tomorrow], 2, /in the future/],
      [['7'], 1, /does not know version 7 of the master secret; it knows 1, 2$/m],
      [['2'], 1, /version 2 is current in this configuration/],
    ];
    const results = await Promise.all(
      wrong.map(([args]) => runCommand(['secret', 'retire', ...args], env)),
    );
    for (const [i, { code, stderr }] of results.entries()) {
      const [args, expected, words] = wrong[i] as [string[], number, RegExp];
      assert.equal(code, expected, args.join(' '));
      assert.match(stderr, words);
    }
    assert.equal(await retirement(), null);
  });

  it('keeps the first time of the retirement and the earliest time of the compromise', async () => {
    const retire = (...args: string[]) =>
      commandJson<{ retired_at: string; compromised_since: string | null }>(
        ['secret', 'retire', '1', ...args],
        env,
      );
    const first = await retire();
    assert.equal(first.compromised_since, null);
    const second = await retire(SINCE, '2026-01-31T12:30+01:00');
    assert.deepEqual(second, { ...first, compromised_since: '2026-01-31T11:30:00.000+00:00' });
    const again = await runCommand(['secret', 'retire', '1', SINCE, '2026-01-31T11:30Z'], env);
    assert.match(again.stderr, /still uses version 1 may release keys .* replace them\.$/m);
    assert.deepEqual(await retire(), second);
    const later = await runCommand(['secret', 'retire', '1', SINCE, '2026-02-01'], env);
    assert.equal(later.code, 1);
    assert.match(later.stderr, /secret reinstate 1 && .* secret retire 1 --compromised-since 2026/);
    assert.equal((await retirement())?.compromisedMs, Date.UTC(2026, 0, 31, 11, 30));

    const { stdout, stderr } = await runCommand(['secret', 'list'], env);
    // The version 2 that the test has registered differs from the one in the file.
    assert.match(
      stderr,
      /^warning: version 2 of the master secret is not the one this database was made with: /m,
    );
    assert.match(stdout, /^1 +verify-only +[0-9a-f]{16} +20.* 2026-01-31T11:30:00\.000\+00:00$/m);
    assert.match(stdout, /^2 +current +[0-9a-f]{16} +- +-$/m);
  });
});
