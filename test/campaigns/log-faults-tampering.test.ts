/** An entry that waits and is changed: servers set it aside, and `phm log check` names it, on both stores. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LogSite } from '../support/ledgers/log-site.ts';
import { LogWatch, readText } from '../support/ledgers/log-watch.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { until } from '../support/run/until.ts';

const KEYS = 10;

/** The kinds of literals in which the stores differ. */
interface Dialect {
  /** Writes bytes. */
  bytes(hex: string): string;
  /** An expression that changes one bit of a column of bytes. */
  flipped(column: string): string;
}

const DIALECTS: Readonly<Record<'sqlite' | 'postgres', Dialect>> = {
  sqlite: {
    bytes: (hex) => `x'${hex}'`,
    flipped: (column) => `CAST(x'ff00' || substr(${column}, 3) AS BLOB)`,
  },
  postgres: {
    bytes: (hex) => `'\\x${hex}'::bytea`,
    flipped: (column) => `'\\xff00'::bytea || substr(${column}, 3)`,
  },
};

function tamperings(kind: 'sqlite' | 'postgres'): void {
  let site: LogSite;
  const watch = new LogWatch();
  before(async () => {
    site = kind === 'sqlite' ? LogSite.sqlite() : await LogSite.postgres();
    const server = await site.start();
    await watch.pin(server);
    while (watch.kept.length < KEYS) await watch.generate(server, site.apiKey, false);
    await watch.audit(server, site.apiKey);
    await server.stop();
    await site.backUp();
  });
  after(() => site.remove());

  it('finds nothing in a sound ledger', async () => {
    await site.run('log', 'check');
  });

  describe('an entry that waits', () => {
    it('is set aside and named when it was changed', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      await site.execute(`UPDATE log_pending SET entry = ${DIALECTS[kind].flipped('entry')}`);
      await assertSetAside(site);
      await assertNamed(site, keyId);
    });

    it('is set aside when no server queued it', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      const id = idOf(keyId);
      const { bytes } = DIALECTS[kind];
      const forged = bytes(`${id.slice(0, -4)}0000`);
      await site.execute(
        `INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
         SELECT ${forged}, log_id, kind, entry, mac, secret_version FROM log_pending`,
      );
      await assertSetAside(site);
      const { code, stdout, stderr } = await site.phm(['log', 'check']);
      await site.restore();
      assert.equal(code, 1);
      assert.match(stdout + stderr, /set aside/);
      assert.doesNotMatch(stdout + stderr, new RegExp(keyId), 'the sound entry is in the log');
    });
  });
}

/** Returns the ID of a key as the ledger has it, in hexadecimal. */
function idOf(keyId: string): string {
  return BigInt(keyId.slice('phm_'.length)).toString(16).padStart(32, '0');
}

/** Records one key whose entry waits, because the server is killed long before its next turn. Returns its ID. */
async function killedWithOneWaiting(site: LogSite, watch: LogWatch): Promise<string> {
  // An earlier test restored the database, and nothing is missing.
  await site.run('log', 'recover', '--accept');
  // A restored PostgreSQL waits for an operator.
  await site.run('log', 'recover', '--accept');
  const server = await site.start(0, { PHM_LOG_INTERVAL_MS: '86400000' });
  // The first turn follows the start.
  await readText(server, '/log/checkpoint');
  await watch.generate(server, site.apiKey, false);
  await server.stop('SIGKILL');
  const [{ waiting } = {}] = await site.execute('SELECT count(*) AS waiting FROM log_pending');
  assert.equal(Number(waiting), 1);
  return watch.kept.pop()?.keyId ?? '';
}

/** Starts a server, which must report one entry set aside. */
async function assertSetAside(site: LogSite): Promise<void> {
  const server = await site.start(0, { PHM_METRICS_PORT: '0' });
  await server.logged('entries were set aside');
  await until('the metric counts it', async () =>
    /^phm_log_set_aside_total 1$/m.test(await server.scrape()),
  );
  await server.stop();
}

/** Checks that `phm log check` names the key, and puts the backup back. */
async function assertNamed(site: LogSite, keyId: string): Promise<void> {
  const { code, stdout, stderr } = await site.phm(['log', 'check']);
  await site.restore();
  assert.equal(code, 1, stdout + stderr);
  assert.match(stdout + stderr, new RegExp(keyId));
}

// The stores are apart from each other, and much of the time is waiting.
describe('phm log check', { concurrency: true }, () => {
  describe('on SQLite', { concurrency: 1 }, () => tamperings('sqlite'));
  describe('on PostgreSQL', { concurrency: 1, skip: noPostgres }, () => tamperings('postgres'));
});
