/** Which of several servers the ledger's connections lead to, before and after a promotion. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SetupError } from '../../src/errors.ts';
import { mayPass } from '../../src/ledger/may-pass.ts';
import { PostgresConnection } from '../../src/ledger/postgres/connection.ts';
import { makeCertificate } from '../support/certificate.ts';
import { FakePostgres } from '../support/fake-postgres.ts';
import { until } from '../support/replicas.ts';

const SECRET = 'not-for-any-log';
const WHO = 'SELECT name';

async function start(
  test: TestContext,
  ...args: Parameters<typeof FakePostgres.start>
): Promise<FakePostgres> {
  const server = await FakePostgres.start(...args);
  test.after(() => server.stop());
  return server;
}

async function connect(
  test: TestContext,
  ports: readonly number[],
  query = '',
  onMove?: (host: string) => void,
): Promise<PostgresConnection> {
  const list = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const address = `postgres://phm:${SECRET}@${list}/phm${query}`;
  const connection = await PostgresConnection.open(address, undefined, undefined, onMove);
  test.after(() => connection.close());
  return connection;
}

/** Returns the names of the servers behind the reads and the commits. */
async function used(connection: PostgresConnection): Promise<string> {
  const [read, commit] = await Promise.all([connection.run(WHO), connection.commit(WHO, [])]);
  return `${read.rows[0]?.name} ${commit.rows[0]?.name}`;
}

describe('a connection to several hosts', { concurrency: true }, () => {
  it('leads to the first server that writes', async (t) => {
    const a = await start(t, 'a', 'standby');
    const b = await start(t, 'b', 'read-only');
    const [c, d] = [await start(t, 'c'), await start(t, 'd')];
    assert.equal(await used(await connect(t, [a.port, b.port, c.port, d.port])), 'c c');
    assert.equal(
      await used(await connect(t, [b.port, a.port], '?target_session_attrs=primary')),
      'b b',
    );
    assert.equal(
      await used(await connect(t, [a.port, c.port], '?target_session_attrs=any')),
      'a a',
    );
  });

  it('leads to the server with the highest timeline if several write', async (t) => {
    const [a, b] = [await start(t, 'a', 'primary', 1), await start(t, 'b', 'primary', 3)];
    assert.equal(await used(await connect(t, [a.port, b.port])), 'b b');
  });

  it('fails with the reason of each host, without the password, as a start that may wait', async (t) => {
    const a = await start(t, 'a', 'standby');
    const b = await start(t, 'b', 'read-only');
    const c = await start(t, 'c');
    const ports = [a.port, b.port, c.port];
    c.stop();
    await assert.rejects(connect(t, ports), (error) => {
      assert.ok(error instanceof SetupError && mayPass(error));
      assert.match(
        error.message,
        /:\d+,127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\/phm: no host can be used/,
      );
      assert.match(
        error.message,
        /: it is a standby; .*: it is read-only; .*: connect ECONNREFUSED/,
      );
      return !error.message.includes(SECRET);
    });
  });

  it('verifies the name of each host', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'hosts-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    // For localhost and 127.0.0.1.
    makeCertificate(cert, key);
    const a = await start(t, 'a');
    a.tls = { cert: readFileSync(cert), key: readFileSync(key) };
    const open = async (hosts: string) => {
      const address = `postgres://phm:${SECRET}@${hosts}/phm?port=${a.port}&sslmode=verify-full`;
      const connection = await PostgresConnection.open(`${address}&sslrootcert=${cert}`);
      t.after(() => connection.close());
      return used(connection);
    };
    assert.equal(await open('127.0.0.2,localhost'), 'a a');
    await assert.rejects(
      open('127.0.0.2,127.0.0.3'),
      /127\.0\.0\.2:.*altnames.*127\.0\.0\.3:.*altnames/,
    );
  });

  it('waits no longer for a silent host than connect_timeout says', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b')];
    a.answers = false;
    const startMs = performance.now();
    assert.equal(await used(await connect(t, [a.port, b.port], '?connect_timeout=2')), 'b b');
    assert.ok(performance.now() - startMs < 4_000);
  });

  it('follows a promotion with reads and commits', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const moves: string[] = [];
    const connection = await connect(t, [a.port, b.port], '', (host) => moves.push(host));
    assert.equal(await used(connection), 'a a');
    a.stop();
    await assert.rejects(connection.run(WHO));
    b.role = 'primary';
    b.timeline = 2;
    assert.equal(await used(connection), 'b b');
    assert.deepEqual(moves, [`127.0.0.1:${b.port}`]);
  });

  it('leaves a server that was replaced and still answers, and does not return to it', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const connection = await connect(t, [a.port, b.port]);
    assert.equal(await used(connection), 'a a');
    b.role = 'primary';
    b.timeline = 2;
    // Work in progress on the old server fails.
    const now = () => used(connection).catch(() => '');
    await until('all lead to the successor', async () => (await now()) === 'b b');
    // The probe.
    await until('the rest is closed', () => a.connections === 1);
    b.role = 'standby';
    await until('it is noticed', () => b.connections === 1);
    await assert.rejects(connection.run(WHO), /writes timeline 1, and timeline 2 was seen/);
  });

  it('leaves a server that falls silent once another is promoted, with the work in progress', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const connection = await connect(t, [a.port, b.port]);
    assert.equal(await used(connection), 'a a');
    a.answers = false;
    const startMs = performance.now();
    const waiting = assert.rejects(connection.commit(WHO, []), /terminated/);
    b.role = 'primary';
    b.timeline = 2;
    await waiting;
    assert.equal(await used(connection), 'b b');
    // Sooner than the silent server has used up its time.
    assert.ok(performance.now() - startMs < 4_500);
  });

  it('leaves a server that became read-only, with its reads', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const connection = await connect(t, [a.port, b.port]);
    assert.equal(await used(connection), 'a a');
    a.role = 'read-only';
    await until('reads fail', () =>
      connection.run(WHO).then(
        () => false,
        () => true,
      ),
    );
    await assert.rejects(connection.run(WHO), /it is read-only; .* it is a standby/);
  });
});

describe('a connection to one host', () => {
  it('checks the server only if the address says so', async (t) => {
    const a = await start(t, 'a', 'standby');
    assert.equal(await used(await connect(t, [a.port])), 'a a');
    await assert.rejects(
      connect(t, [a.port], '?target_session_attrs=read-write'),
      /it is a standby/,
    );
  });

  it('ends all connections when its address leads to a promoted server', async (t) => {
    const a = await start(t, 'a');
    const connection = await connect(t, [a.port], '?target_session_attrs=read-write');
    await connection.run(WHO);
    a.timeline = 2;
    await connection.commit(WHO, []);
    assert.equal(a.connections, 1, 'the one for commits, which met the new timeline');
    await connection.run(WHO);
    assert.equal(a.connections, 2);
  });
});
