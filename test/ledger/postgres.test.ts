import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import {
  exportLedger,
  importLedger,
  type LedgerStore,
  openMovableStore,
  openSqliteStore,
  type StoreLocation,
} from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres.ts';
import { PASSWORD, Postgres } from '../support/postgres.ts';
import { keyRequest, ledgerContract, MONTH, makeRow, NOW, QUOTAS } from './contract.ts';
import { assertSameStore, fillStore } from './filled-store.ts';

const postgres = await Postgres.start();
after(() => postgres.remove());

ledgerContract(
  'PostgreSQL',
  async () => open(await postgres.createLedger('contract')),
  async () => {},
);

const open = (url: string): Promise<LedgerStore> => openPostgresStore({ url, quotas: QUOTAS });

async function addAccount(store: LedgerStore, plan: string): Promise<string> {
  const accountId = `acct_${plan}`;
  await store.addAccount({ accountId, name: plan, plan, demo: false, createdMs: NOW });
  return accountId;
}

/** Rows, counter and sums of a database that has one account: they must agree. */
async function readBooks(database: string): Promise<{ rows: number; used: number; keys: number }> {
  const [books] = await postgres.query(
    database,
    `SELECT (SELECT count(*) FROM ledger)::integer AS rows,
       (SELECT coalesce(sum(used), 0) FROM usage)::integer AS used,
       (SELECT coalesce(sum(keys), 0) FROM rollup_hour)::integer AS keys`,
  );
  return books as { rows: number; used: number; keys: number };
}

const isUnavailable = (error: unknown) =>
  error instanceof AppError &&
  error.code === 'ledger_unavailable' &&
  error.details.retryAfterSeconds === 5;

/** Cuts every connection of the store but not this one's, and returns how many there were. */
async function terminateAll(database: string): Promise<number> {
  const cut = await postgres.query(
    database,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  return cut.length;
}

describe('PostgreSQL store shared by several servers', () => {
  it('gives exactly the quota when two stores race for its last places', async () => {
    const url = await postgres.createLedger('race');
    const stores = await Promise.all([open(url), open(url)]);
    const id = await addAccount(stores[0], 'research');
    const batches = Array.from({ length: 300 }, (_, i) =>
      stores[i % 2]?.commit([keyRequest(id), keyRequest(id), keyRequest(id), keyRequest(id)], []),
    );
    const outcomes = (await Promise.all(batches)).flatMap((batch) => batch ?? []);
    const used = outcomes.flatMap((one) => (one.kind === 'committed' ? [one.usage.used] : []));
    assert.deepEqual(
      used.sort((a, b) => a - b),
      Array.from({ length: 1_000 }, (_, i) => i + 1),
      'each place once',
    );
    assert.equal(outcomes.filter(({ kind }) => kind === 'quota_exceeded').length, 200);
    assert.deepEqual(await readBooks('race'), { rows: 1_000, used: 1_000, keys: 1_000 });
    await Promise.all(stores.map((store) => store.close()));
    assert.deepEqual(await postgres.query('race', 'SELECT 1 FROM writers'), []);
  });

  it('does not deadlock on accounts that batches name in different orders', async () => {
    const url = await postgres.createLedger('orders');
    const stores = await Promise.all([open(url), open(url)]);
    const ids = await Promise.all(
      ['enterprise', 'research'].map((plan) => addAccount(stores[0], plan)),
    );
    const batch = (accounts: readonly string[]) => accounts.map((id) => keyRequest(id));
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        stores[i % 2]?.commit(batch(i % 2 ? ids : ids.toReversed()), []),
      ),
    );
    assert.ok(outcomes.flat().every((outcome) => outcome?.kind === 'committed'));
    const [{ deadlocks }] = (await postgres.query(
      'orders',
      'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()',
    )) as [{ deadlocks: number }];
    assert.equal(deadlocks, 0);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('releases one of two equal keys that two stores commit at the same moment', async () => {
    const url = await postgres.createLedger('twins');
    const stores = await Promise.all([open(url), open(url)]);
    const ids = await Promise.all(
      ['enterprise', 'research'].map((plan) => addAccount(stores[0], plan)),
    );
    for (let round = 0; round < 20; round++) {
      const { commitment, fingerprint } = makeRow();
      const twins = await Promise.all(
        stores.map((store, i) =>
          store.commit([keyRequest(ids[i] ?? '', makeRow({ commitment, fingerprint }))], []),
        ),
      );
      const kinds = twins.flat().map(({ kind }) => kind);
      assert.deepEqual(kinds.sort(), ['committed', 'repeated_key']);
    }
    assert.deepEqual(await readBooks('twins'), { rows: 20, used: 20, keys: 20 });
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe('PostgreSQL store that loses its server', () => {
  it('has a row for each answer and a counter equal to the rows when connections are cut under load', async () => {
    const url = await postgres.createLedger('cut');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const answered: Uint8Array[] = [];
    let refused = 0;
    let running = true;
    const client = async () => {
      while (running) {
        const rows = [makeRow(), makeRow()];
        try {
          await store.commit(
            rows.map((row) => keyRequest(id, row)),
            [],
          );
          answered.push(...rows.map(({ keyId }) => keyId));
        } catch (error) {
          assert.ok(isUnavailable(error), String(error));
          refused += 2;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    let cuts = 0;
    while (cuts < 20) cuts += await terminateAll('cut');
    running = false;
    await Promise.all(clients);
    assert.ok((await store.lookup(answered)).every((found) => found));
    const books = await readBooks('cut');
    assert.equal(books.rows, books.used);
    assert.equal(books.rows, books.keys);
    // No statement was left in doubt: each batch is answered and there, or refused and not.
    assert.equal(books.rows, answered.length, `${refused} refused`);
    await store.close();
  });

  it('answers ledger_unavailable while the server is down and goes on when it is back', async () => {
    const url = await postgres.createLedger('restarted');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const kept = makeRow();
    await store.commit([keyRequest(id, kept)], []);
    await postgres.stop('QUIT');
    const lost = makeRow();
    await assert.rejects(store.commit([keyRequest(id, lost)], []), isUnavailable);
    await assert.rejects(store.metrics(id, 0), isUnavailable);
    await postgres.restart();
    assert.deepEqual(await store.lookup([kept.keyId, lost.keyId]), [true, false]);
    const [outcome] = await store.commit([keyRequest(id, lost)], []);
    assert.deepEqual(outcome, { kind: 'committed', usage: { month: MONTH, used: 2, quota: null } });
    await store.close();
  });

  it('answers ledger_unavailable on a server that can only be read', async () => {
    const url = await postgres.createLedger('read_only');
    const writable = await open(url);
    const id = await addAccount(writable, 'enterprise');
    await postgres.query(
      'postgres',
      'ALTER DATABASE read_only SET default_transaction_read_only = on',
    );
    const store = await open(url);
    await assert.rejects(store.commit([keyRequest(id)], []), isUnavailable);
    assert.deepEqual((await writable.commit([keyRequest(id)], [])).length, 1);
    await Promise.all([store.close(), writable.close()]);
  });
});

/** A way to the server that can be cut once: as a batch goes out, or as its answer comes back. */
class WayToServer {
  cut: 'answer' | 'request' | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((near) => this.#join(near));
  }

  static async start(): Promise<WayToServer> {
    const way = new WayToServer();
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    return way;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cutAll();
    this.#server.close();
  }

  #join(near: Socket): void {
    const far = connect(postgres.port, '127.0.0.1');
    const end = () => {
      near.destroy();
      far.destroy();
    };
    let isCommit = false;
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', end);
    }
    near.on('data', (chunk: Buffer) => {
      isCommit = chunk.includes('SELECT commit_batch(');
      if (isCommit && this.cut === 'request') {
        this.cut = null;
        end();
      } else far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (isCommit && this.cut === 'answer') {
        this.cut = null;
        end();
      } else near.write(chunk);
    });
  }
}

describe('PostgreSQL store whose answer to a batch is lost', () => {
  let store: LedgerStore;
  let way: WayToServer;
  let id: string;

  before(async () => {
    await postgres.createLedger('doubt');
    way = await WayToServer.start();
    store = await open(postgres.url('doubt', way.port));
    id = await addAccount(store, 'tiny');
  });
  after(async () => {
    await store.close();
    way.close();
  });

  it('answers as the batch was decided when it had been committed', async () => {
    const rows = [makeRow(), makeRow()];
    way.cut = 'answer';
    const outcomes = await store.commit([keyRequest(id, rows[0]), keyRequest(id, rows[1])], []);
    assert.equal(way.cut, null, 'the answer was cut off');
    assert.deepEqual(outcomes, [
      { kind: 'committed', usage: { month: MONTH, used: 1, quota: 3 } },
      { kind: 'committed', usage: { month: MONTH, used: 2, quota: 3 } },
    ]);
    assert.deepEqual(await store.lookup(rows.map(({ keyId }) => keyId)), [true, true]);
  });

  it('answers ledger_unavailable when it had not arrived, and counts nothing', async () => {
    const row = makeRow();
    way.cut = 'request';
    await assert.rejects(store.commit([keyRequest(id, row)], []), isUnavailable);
    assert.equal(way.cut, null, 'the request was cut off');
    assert.deepEqual(await store.lookup([row.keyId]), [false]);
    assert.deepEqual(await readBooks('doubt'), { rows: 2, used: 2, keys: 2 });
  });

  it('takes one place for a validation whose answer was lost, and tells its refusal again', async () => {
    const validation = { ...keyRequest(id), key: null };
    way.cut = 'answer';
    const outcomes = await store.commit([validation, validation], []);
    assert.equal(way.cut, null, 'the answer was cut off');
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['committed', 'quota_exceeded'],
    );
    assert.equal((await readBooks('doubt')).used, 3);
  });

  it('gives up a batch that is still at work, which then leaves nothing', async () => {
    const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    const row = makeRow();
    const enterprise = await addAccount(store, 'enterprise');
    const holder = await postgres.connect('doubt');
    await holder.query('BEGIN; SELECT FROM accounts FOR UPDATE');
    const refused = assert.rejects(store.commit([keyRequest(enterprise, row)], []), isUnavailable);
    while ((await postgres.query('doubt', waits)).length === 0);
    way.cutAll();
    await refused;
    assert.equal((await postgres.query('doubt', waits)).length, 1, 'it is still at work');
    await holder.end();
    while ((await postgres.query('doubt', waits)).length > 0);
    const [next] = await store.commit([keyRequest(enterprise)], []);
    assert.equal(next?.kind === 'committed' && next.usage.used, 1);
    assert.deepEqual(await store.lookup([row.keyId]), [false]);
  });

  it('never commits a batch that it has given up, even if it arrives later', async () => {
    const [{ writer_id: writer, turn }] = (await postgres.query(
      'doubt',
      'UPDATE writers SET turn = turn + 1 RETURNING writer_id, turn::integer',
    )) as [{ writer_id: string; turn: number }];
    await assert.rejects(
      postgres.query('doubt', `SELECT commit_batch('${writer}', ${turn}, '{}', '[]', '[]', '{}')`),
      /given this batch up/,
    );
  });
});

describe('PostgreSQL schema', () => {
  it('cannot be had without a connection: the message names the database and no password', async () => {
    for (const url of [postgres.url('missing'), `postgres://phm:${PASSWORD}@127.0.0.1:1/phm`]) {
      await assert.rejects(open(url), (error: Error) => {
        assert.equal(error.name, 'SetupError');
        assert.match(error.message, /127\.0\.0\.1:\d+\/(missing|phm)/);
        assert.ok(!error.message.includes(PASSWORD));
        return true;
      });
    }
  });

  it('is opened with a warning on a server that runs without fsync', async () => {
    const url = await postgres.createLedger('unsynced');
    const warnings: string[] = [];
    const openAndClose = async () =>
      (
        await openPostgresStore({ url, quotas: QUOTAS, warn: (text) => warnings.push(text) })
      ).close();
    await openAndClose();
    assert.deepEqual(warnings, []);
    await postgres.query('postgres', 'ALTER SYSTEM SET fsync = off');
    await postgres.stop('INT');
    await postgres.restart();
    await openAndClose();
    assert.match(warnings.join(), /fsync off/);
  });

  it('keeps commits synchronous, whatever the address or the database says', async () => {
    const url = await postgres.createLedger('settings');
    await postgres.query('postgres', 'ALTER DATABASE settings SET synchronous_commit = off');
    const { PostgresConnection } = await import('../../src/ledger/postgres-connection.ts');
    const connection = await PostgresConnection.open(`${url}?options=-csynchronous_commit%3Doff`);
    assert.deepEqual(await connection.all('SHOW synchronous_commit'), [
      { synchronous_commit: 'on' },
    ]);
    await connection.close();
  });
});

describe('move to and from PostgreSQL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'phm-move-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const never = new AbortController().signal;
  const plans = Object.keys(QUOTAS);

  async function exportChunks(location: StoreLocation): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => void chunks.push(bytes);
    await exportLedger(await openMovableStore(location), NOW, put, never);
    return chunks;
  }

  async function importChunks(location: StoreLocation, chunks: Uint8Array[]): Promise<void> {
    const store = await openMovableStore(location);
    await importLedger(store, Readable.from(chunks), plans, never);
  }

  it('brings everything from SQLite to PostgreSQL and back, in the same file', async () => {
    const [from, back] = ['from.db', 'back.db'].map((file) => join(directory, file)) as [
      string,
      string,
    ];
    const source = openSqliteStore({ path: from, quotas: QUOTAS });
    const filled = await fillStore(source, 2_500);
    const exported = await exportChunks({ kind: 'sqlite', path: from });
    const url = await postgres.createLedger('moved');
    const target = await open(url);
    await importChunks({ kind: 'postgres', url }, exported);
    const again = await exportChunks({ kind: 'postgres', url });
    assert.equal(String(Buffer.concat(again)), String(Buffer.concat(exported)));
    const returned = openSqliteStore({ path: back, quotas: QUOTAS });
    await importChunks({ kind: 'sqlite', path: back }, again);
    await assertSameStore(source, target, filled);
    await assertSameStore(source, returned, filled);
    await assert.rejects(
      importChunks({ kind: 'postgres', url }, exported),
      /needs an empty ledger/,
    );
    for (const store of [source, target, returned]) await store.close();
  });

  it('exports one state while a server writes', async () => {
    const url = await postgres.createLedger('busy');
    const store = await open(url);
    await fillStore(store, 50);
    const location = { kind: 'postgres', url } as const;
    const before = String(Buffer.concat(await exportChunks(location)));
    const chunks: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => {
      chunks.push(bytes);
      const [outcome] = await store.commit([keyRequest('acct_a')], []);
      assert.equal(outcome?.kind, 'committed');
    };
    await exportLedger(await openMovableStore(location), NOW, put, never);
    assert.equal(String(Buffer.concat(chunks)), before);
    await store.close();
  });

  it('keeps nothing of a file that is cut off, not even its partitions', async () => {
    const url = await postgres.createLedger('torn');
    const store = await open(url);
    const path = join(directory, 'whole.db');
    const source = openSqliteStore({ path, quotas: QUOTAS });
    await fillStore(source);
    const partitions = () =>
      postgres.query('torn', 'SELECT inhrelid::regclass::text FROM pg_inherits ORDER BY 1');
    const before = await partitions();
    const chunks = await exportChunks({ kind: 'sqlite', path });
    const cut = chunks.slice(0, -1);
    await assert.rejects(importChunks({ kind: 'postgres', url }, cut), /cut off/);
    assert.deepEqual(await store.listAccounts(), []);
    assert.deepEqual(await partitions(), before);
    await importChunks({ kind: 'postgres', url }, chunks);
    await store.close();
    await source.close();
  });
});
