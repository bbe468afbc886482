/** Which of several servers the ledger's connections lead to, before and after a promotion. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { mayPass } from '../../../src/ledger/may-pass.ts';
import { PostgresConnection } from '../../../src/ledger/postgres/connection.ts';
import type { HostOptions } from '../../../src/ledger/postgres/hosts.ts';
import { SeenTimeline } from '../../../src/ledger/postgres/seen-timeline.ts';
import { FakePostgres } from '../../support/ledgers/fake-postgres.ts';
import { until } from '../../support/run/until.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';

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
  options: HostOptions = {},
): Promise<PostgresConnection> {
  const list = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const address = `postgres://phm:${SECRET}@${list}/phm${query}`;
  const connection = await PostgresConnection.open(address, undefined, undefined, options);
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
    const c = await start(t, 'c');
    // One server may have several names.
    assert.equal(await used(await connect(t, [a.port, b.port, c.port, c.port])), 'c c');
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

  it('refuses two servers that write side by side, until one stops', async (t) => {
    const [a, b, c] = [await start(t, 'a'), await start(t, 'b'), await start(t, 'c')];
    c.cluster = '8';
    const refusal = /it writes, and so does 127.* it writes, and so does 127/;
    await assert.rejects(connect(t, [a.port, b.port]), refusal);
    await assert.rejects(connect(t, [a.port, c.port]), refusal);
    a.timeline = b.timeline = 2;
    const old = await start(t, 'old');
    await assert.rejects(
      connect(t, [old.port, a.port, b.port]),
      /: it was replaced by a promotion; /,
    );
    const next = await start(t, 'next', 'primary', 3);
    assert.equal(await used(await connect(t, [old.port, a.port, b.port, next.port])), 'next next');
    b.role = 'standby';
    assert.equal(await used(await connect(t, [a.port, b.port])), 'a a');
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
    const [short, long] = [2, 4].map((seconds) =>
      connect(t, [a.port, b.port], `?connect_timeout=${seconds}`),
    ) as [Promise<PostgresConnection>, Promise<PostgresConnection>];
    assert.equal(await Promise.race([short, long]), await short);
    assert.deepEqual(await Promise.all([used(await short), used(await long)]), ['b b', 'b b']);
  });

  it('follows a promotion with reads and commits', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const moves: string[] = [];
    const connection = await connect(t, [a.port, b.port], '', {
      onMove: (host) => moves.push(host),
    });
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
    // By the watch, not because the silent server has used up its time.
    const waiting = assert.rejects(connection.commit(WHO, []), /terminated/);
    b.role = 'primary';
    b.timeline = 2;
    await waiting;
    assert.equal(await used(connection), 'b b');
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

describe('the newest timeline that a server has seen', { concurrency: true }, () => {
  function fileFor(t: TestContext): string {
    const folder = mkdtempSync(join(tmpdir(), 'timeline-'));
    t.after(() => rmSync(folder, { recursive: true }));
    return join(folder, 'state.timeline');
  }

  it('is kept in a file, so that a later start refuses the old primary', async (t) => {
    const timelineFile = fileFor(t);
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'primary', 3)];
    const server = { timelineFile, keepsTimeline: true };
    assert.equal(await used(await connect(t, [a.port, b.port], '', server)), 'b b');
    assert.equal(readFileSync(timelineFile, 'latin1'), '7 3\n');
    b.role = 'standby';
    const refusal = /timeline 1, and timeline 3 was seen.*remove .*state\.timeline and restart/;
    await assert.rejects(connect(t, [a.port, b.port], '', server), refusal);
    await assert.rejects(connect(t, [a.port], '?target_session_attrs=primary', server), refusal);
    // A later timeline, and an operator's decision.
    a.timeline = 4;
    assert.equal(await used(await connect(t, [a.port, b.port], '', { timelineFile })), 'a a');
    assert.equal(readFileSync(timelineFile, 'latin1'), '7 3\n', 'a command only reads it');
    a.timeline = 1;
    rmSync(timelineFile);
    assert.equal(await used(await connect(t, [a.port, b.port], '', server)), 'a a');
    assert.equal(readFileSync(timelineFile, 'latin1'), '7 1\n');
  });

  it('stays in a file that another server has written', (t) => {
    const timelineFile = fileFor(t);
    const [old, next] = [1, 2].map(() => new SeenTimeline({ timelineFile, keepsTimeline: true }));
    next?.note({ cluster: '7', timeline: 3 });
    old?.note({ cluster: '7', timeline: 2 });
    assert.equal(readFileSync(timelineFile, 'latin1'), '7 3\n');
  });

  it('belongs to one cluster: a start on a restored database counts anew', async (t) => {
    const timelineFile = fileFor(t);
    writeFileSync(timelineFile, '6 3\n');
    const a = await start(t, 'a');
    const server = { timelineFile, keepsTimeline: true };
    const connection = await connect(t, [a.port], '?target_session_attrs=primary', server);
    assert.equal(await used(connection), 'a a');
    assert.equal(readFileSync(timelineFile, 'latin1'), '7 1\n');
    a.cluster = '8';
    await assert.rejects(
      connect(t, [a.port, a.port], '', { ...server, timelines: shared('7', 1) }),
      /another cluster than before: restart this server/,
    );
  });

  it('stops a start if its file holds something else, and warns if it cannot be written', async (t) => {
    const timelineFile = fileFor(t);
    writeFileSync(timelineFile, 'three');
    const a = await start(t, 'a');
    const reach = (options: HostOptions) => connect(t, [a.port, a.port], '', options);
    await assert.rejects(reach({ timelineFile }), /state\.timeline does not hold .*: remove it/);
    const warnings: string[] = [];
    const absent = { timelineFile: join(timelineFile, 'absent', 'file'), keepsTimeline: true };
    assert.equal(
      await used(await reach({ ...absent, warn: (text) => warnings.push(text) })),
      'a a',
    );
    assert.match(warnings.join(), /cannot be kept, so a start .* may use an old primary/);
  });

  it('is shared by the threads of a server, of which one watches the hosts', async (t) => {
    const [a, b] = [await start(t, 'a'), await start(t, 'b', 'standby')];
    const timelines = SeenTimeline.allocate();
    const one = await connect(t, [a.port, b.port], '', { timelines });
    const other = await connect(t, [a.port, b.port], '', { timelines });
    assert.deepEqual([await used(one), await used(other)], ['a a', 'a a']);
    await until('only one watches', () => b.connections === 1);
    b.role = 'primary';
    const now = (connection: PostgresConnection) =>
      used(connection).catch((error) => error.message);
    const isRefused = async (connection: PostgresConnection) =>
      /it writes, and so does/.test(await now(connection));
    await until(
      'both leave rivals',
      async () => (await isRefused(one)) && (await isRefused(other)),
    );
    b.timeline = 2;
    await until('both follow', async () => {
      return (await now(one)) === 'b b' && (await now(other)) === 'b b';
    });
  });
});

function shared(cluster: string, timeline: number): SharedArrayBuffer {
  const timelines = SeenTimeline.allocate();
  new SeenTimeline({ timelines }).note({ cluster, timeline });
  return timelines;
}
