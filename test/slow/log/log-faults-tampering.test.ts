/** Each change of the log's tables is found and named by `phm log check`, on both stores. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LogSite } from '../../support/log-site.ts';
import { LogWatch, readText } from '../../support/log-watch.ts';
import { noPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

/** More than one full tile. */
const KEYS = 300;

/** Concurrent clients. */
const CLIENTS = 8;

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

interface Tampering {
  readonly name: string;
  /** The statement that changes the database. */
  readonly change: (where: Place, dialect: Dialect) => string;
  /** What the finding must say. */
  readonly named: (where: Place) => RegExp;
}

/** The key that is tampered with. */
interface Place {
  readonly keyId: string;
  /** As the ledger has it, in hexadecimal. */
  readonly id: string;
  /** The ledger's columns. */
  readonly columns: readonly string[];
}

/** The ID of an inserted row, made of that of its model. */
function insertedId({ id }: Place): string {
  return `${id.slice(0, -2)}${id.endsWith('00') ? '01' : '00'}`;
}

function idText(id: string): string {
  return `phm_${BigInt(`0x${id}`)}`;
}

const row = ({ id }: Place, { bytes }: Dialect) => `key_id = ${bytes(id)}`;
const named = ({ keyId }: Place) => new RegExp(keyId);

/** Copies a row under another key ID and with another commitment. */
function insertRow(where: Place, dialect: Dialect): string {
  const values = where.columns.map((column) => {
    if (column === 'key_id') return dialect.bytes(insertedId(where));
    return column === 'commitment' ? dialect.flipped(column) : column;
  });
  return `INSERT INTO ledger (${where.columns}) SELECT ${values} FROM ledger WHERE ${row(where, dialect)}`;
}

/** One column of each kind; the row digest covers all of them. */
const CHANGED_COLUMNS: readonly (readonly [string, string])[] = [
  ['security_level', '128'],
  ['account_id', "'acct_other'"],
  ['created_ms', 'created_ms + 1'],
  ['secret_version', '2'],
  ['sources', "'os:512'"],
  ['gate_p', '1.0'],
];

const TAMPERINGS: readonly Tampering[] = [
  ...CHANGED_COLUMNS.map(([column, value]) => ({
    name: `a row with another ${column}`,
    change: (where: Place, dialect: Dialect) =>
      `UPDATE ledger SET ${column} = ${value} WHERE ${row(where, dialect)}`,
    named,
  })),
  ...['commitment', 'key_commitment', 'salt'].map((column) => ({
    name: `a row with another ${column}`,
    change: (where: Place, dialect: Dialect) =>
      `UPDATE ledger SET ${column} = ${dialect.flipped(column)} WHERE ${row(where, dialect)}`,
    named,
  })),
  {
    name: 'a deleted row',
    change: (where, dialect) => `DELETE FROM ledger WHERE ${row(where, dialect)}`,
    named,
  },
  {
    name: 'an inserted row',
    change: insertRow,
    named: (where) => new RegExp(idText(insertedId(where))),
  },
  {
    name: 'a changed entry',
    change: ({ id }, { flipped, bytes }) =>
      `UPDATE log_entries SET entry = ${flipped('entry')} WHERE entry_id = ${bytes(id)}`,
    named,
  },
  {
    name: 'a deleted entry',
    change: ({ id }, { bytes }) => `DELETE FROM log_entries WHERE entry_id = ${bytes(id)}`,
    named,
  },
  {
    name: 'an entry under the ID of another key',
    change: (where, { bytes }) =>
      `UPDATE log_entries SET entry_id = ${bytes(insertedId(where))} WHERE entry_id = ${bytes(where.id)}`,
    named,
  },
  {
    name: 'a changed tile',
    change: (_, { flipped }) =>
      `UPDATE log_tiles SET hashes = ${flipped('hashes')} WHERE level = 0 AND tile_index = 0`,
    named: () => /tile/i,
  },
  {
    name: 'a deleted tile',
    change: () => 'DELETE FROM log_tiles WHERE level = 0 AND tile_index = 0',
    named: () => /tile/i,
  },
  {
    name: 'a changed root',
    change: (_, { flipped }) => `UPDATE logs SET root = ${flipped('root')}`,
    named: () => /root/i,
  },
  {
    name: 'a changed seal',
    change: (_, { flipped }) => `UPDATE logs SET head_mac = ${flipped('head_mac')}`,
    named: () => /no server sealed/,
  },
  {
    name: 'a changed checkpoint',
    change: () => `UPDATE log_checkpoints SET note = replace(note, '— ', '— x')`,
    named: () => /signature/i,
  },
  {
    name: 'a changed audit record',
    change: () =>
      `UPDATE audit SET details = replace(details, 'null', '1') WHERE action = 'log_started'`,
    named: () => /audit record/i,
  },
  {
    name: 'a deleted audit record',
    change: () => `DELETE FROM audit WHERE action = 'log_started'`,
    named: () => /audit record/i,
  },
];

function tamperings(kind: 'sqlite' | 'postgres'): void {
  let site: LogSite;
  const watch = new LogWatch();
  before(async () => {
    site = kind === 'sqlite' ? LogSite.sqlite() : await LogSite.postgres();
    const server = await site.start();
    await watch.pin(server);
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (watch.kept.length < KEYS) await watch.generate(server, site.apiKey, false);
      }),
    );
    await watch.audit(server, site.apiKey);
    await server.stop();
    await site.backUp();
  });
  after(() => site.remove());

  it('finds nothing in a sound ledger', async () => {
    await site.run('log', 'check');
  });

  for (const { name, change, named: expected } of TAMPERINGS) {
    it(`finds ${name}`, async () => {
      const where = await placeOf(site, watch.kept[100]?.keyId ?? '');
      await site.execute(change(where, DIALECTS[kind]));
      const { code, stdout, stderr } = await site.phm(['log', 'check']);
      await site.restore();
      assert.equal(code, 1, stdout + stderr);
      assert.match(stdout + stderr, expected(where));
      assert.doesNotMatch(stderr, /\n {4}at /, 'no stack trace');
    });
  }

  describe('an entry that waits', () => {
    it('is named when it was deleted', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      await site.execute('DELETE FROM log_pending');
      await assertNamed(site, keyId);
    });

    it('is set aside and named when it was changed', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      await site.execute(`UPDATE log_pending SET entry = ${DIALECTS[kind].flipped('entry')}`);
      await assertSetAside(site);
      await assertNamed(site, keyId);
    });

    it('is set aside when it was moved to another key', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      const { id } = await placeOf(site, watch.kept[100]?.keyId ?? '');
      const { bytes } = DIALECTS[kind];
      await site.execute(`DELETE FROM log_entries WHERE entry_id = ${bytes(id)}`);
      await site.execute(`UPDATE log_pending SET entry_id = ${bytes(id)}`);
      await assertNamed(site, keyId);
    });

    it('is set aside when no server queued it', async () => {
      const keyId = await killedWithOneWaiting(site, watch);
      const { id } = await placeOf(site, keyId);
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

async function placeOf(site: LogSite, keyId: string): Promise<Place> {
  const [ledgerRow = {}] = await site.execute('SELECT * FROM ledger LIMIT 1');
  const id = BigInt(keyId.slice('phm_'.length)).toString(16).padStart(32, '0');
  return { keyId, id, columns: Object.keys(ledgerRow) };
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
