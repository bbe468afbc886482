/** Each change of the log's tables is found and named by `phm log check`, on both stores. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LogSite } from '../support/log-site.ts';
import { LogWatch } from '../support/log-watch.ts';
import { noPostgres } from '../support/postgres.ts';

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
  /** Statements that change the database. */
  readonly change: (where: Place, dialect: Dialect) => string[];
  /** What the finding must say. */
  readonly named: (where: Place) => RegExp;
}

/** The key that is tampered with. */
interface Place {
  readonly keyId: string;
  /** As the ledger has it, in hexadecimal. */
  readonly id: string;
}

const row = ({ id }: Place, { bytes }: Dialect) => `key_id = ${bytes(id)}`;
const named = ({ keyId }: Place) => new RegExp(keyId);

const TAMPERINGS: readonly Tampering[] = [
  {
    name: 'a changed row',
    change: (where, dialect) => [
      `UPDATE ledger SET security_level = 128 WHERE ${row(where, dialect)}`,
    ],
    named,
  },
  {
    name: 'a changed salt',
    change: (where, dialect) => [
      `UPDATE ledger SET salt = ${dialect.flipped('salt')} WHERE ${row(where, dialect)}`,
    ],
    named,
  },
  {
    name: 'a deleted row',
    change: (where, dialect) => [`DELETE FROM ledger WHERE ${row(where, dialect)}`],
    named,
  },
  {
    name: 'a changed entry',
    change: (where, dialect) => [
      `UPDATE log_entries SET entry = ${dialect.flipped('entry')} WHERE entry_id = ${dialect.bytes(where.id)}`,
    ],
    named: () => /entr|root/i,
  },
  {
    name: 'a changed tile',
    change: (_, dialect) => [
      `UPDATE log_tiles SET hashes = ${dialect.flipped('hashes')} WHERE level = 0 AND tile_index = 0`,
    ],
    named: () => /tile/i,
  },
  {
    name: 'a changed root',
    change: (_, dialect) => [`UPDATE logs SET root = ${dialect.flipped('root')}`],
    named: () => /root/i,
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
      const { keyId } = watch.kept[100] ?? { keyId: '' };
      const id = BigInt(keyId.slice('phm_'.length)).toString(16).padStart(32, '0');
      const where = { keyId, id };
      for (const sql of change(where, DIALECTS[kind])) await site.execute(sql);
      const { code, stdout, stderr } = await site.phm(['log', 'check']);
      await site.restore();
      assert.equal(code, 1, stdout + stderr);
      assert.match(stdout + stderr, expected(where));
      assert.doesNotMatch(stderr, /\n {4}at /, 'no stack trace');
    });
  }
}

describe('phm log check on SQLite', () => tamperings('sqlite'));
describe('phm log check on PostgreSQL', { skip: noPostgres }, () => tamperings('postgres'));
