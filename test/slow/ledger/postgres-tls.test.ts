/** Two PostgreSQL servers with TLS behind one address: each certificate is checked for the name of its own host. 10 s. */
import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { PostgresConnection } from '../../../src/ledger/postgres/connection.ts';
import {
  findInstalled,
  noPostgres,
  PASSWORD,
  Postgres,
  serverUser,
} from '../../support/ledgers/postgres.ts';
import { until } from '../../support/run/until.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';

const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup']);
const SKIP = noPostgres || (!PROGRAMS && 'pg_basebackup of PostgreSQL 15 or newer is not here');
const SESSION =
  'SELECT ssl, inet_server_port() AS port FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

describe('several hosts with TLS', { skip: SKIP }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-tls-'));
  const file = (name: string) => join(folder, name);
  let first: Postgres;
  let second: Postgres;

  /** Returns the server's settings for a certificate with one name. */
  function withCertificate(name: 'localhost' | '127.0.0.1'): string[] {
    const [cert, key] = [file(`${name}.pem`), file(`${name}.key`)];
    makeCertificate(cert, key, undefined, name);
    if (serverUser) {
      for (const path of [folder, cert, key]) chownSync(path, serverUser.uid, serverUser.gid);
    }
    return ['ssl=on', `ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
  }

  before(async () => {
    first = await Postgres.start(PROGRAMS ?? '', withCertificate('localhost'));
    second = await first.startStandby('node_b', withCertificate('127.0.0.1'));
    const certificates = ['localhost.pem', '127.0.0.1.pem'].map((name) => readFileSync(file(name)));
    writeFileSync(file('root.pem'), Buffer.concat(certificates));
  });
  after(async () => {
    await second?.remove();
    await first?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(
    t: TestContext,
    [one, other]: readonly [string, string],
    tls = `sslmode=verify-full&sslrootcert=${file('root.pem')}`,
  ): Promise<PostgresConnection> {
    const hosts = `${one}:${first.port},${other}:${second.port}`;
    const url = `postgres://phm:${PASSWORD}@${hosts}/postgres?${tls}`;
    const connection = await PostgresConnection.open(url);
    t.after(() => connection.close());
    return connection;
  }

  const session = async (connection: PostgresConnection) => (await connection.run(SESSION)).rows[0];

  it('use none whose certificate has another name, also if another host has that name', async (t) => {
    await assert.rejects(
      open(t, ['127.0.0.1', 'localhost']),
      /127\.0\.0\.1:\d+: .*altnames.*; localhost:\d+: .*altnames/,
    );
  });

  it('use none whose certificate is not trusted', async (t) => {
    const tls = `sslmode=verify-full&sslrootcert=${file('127.0.0.1.pem')}`;
    await assert.rejects(
      open(t, ['localhost', '127.0.0.1'], tls),
      /localhost:\d+: self-signed certificate.*; 127\.0\.0\.1:\d+: it is a standby/,
    );
  });

  it('lead to the primary, and to its successor by the name of that host', async (t) => {
    const connection = await open(t, ['localhost', '127.0.0.1']);
    assert.deepEqual(await session(connection), { ssl: true, port: first.port });
    await second.query('postgres', 'SELECT pg_promote()');
    await until('the successor is used', async () => {
      const row = await session(connection).catch(() => null);
      return row?.ssl === true && row.port === second.port;
    });
    assert.equal(connection.host, `127.0.0.1:${second.port}`);
  });
});
