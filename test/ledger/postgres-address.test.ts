/** The address of PostgreSQL, compared with libpq's own reading of it by `psql`. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import {
  AddressError,
  describeAddress,
  parsePostgresAddress,
} from '../../src/config/postgres-address.ts';
import { FakePostgres } from '../support/ledgers/fake-postgres.ts';

const SECRET = 'not-for-any-log';

/** Addresses whose hosts refuse connections. */
const HOSTS = [
  'postgres://u@127.0.0.1/d',
  'postgresql://u@127.0.0.1:1/d',
  'postgres://u@127.0.0.1:1,127.0.0.2:2/d',
  'postgres://u@127.0.0.1,127.0.0.2:2,127.0.0.3/d',
  'postgres://u@127.0.0.1,127.0.0.2/d?port=3',
  'postgres://u@127.0.0.1:1,127.0.0.2:2/d?port=3,4',
  'postgres://u@/d?host=127.0.0.1,127.0.0.2&port=1,2',
  'postgres://u@127.0.0.9/d?host=127.0.0.1',
  'postgres://u@[::1]:1/d',
  'postgres://u@[::1],127.0.0.1:2/d',
  'postgres://u@127.0.0.1%2C127.0.0.2:1/d',
  'postgres://u@%31%32%37.0.0.1:1/d',
];

/** Each is one host, whose port the test fills in. */
const LOGINS = [
  ['phm', SECRET, 'phm'],
  ['a%40b', 'p%40ss%2Fw%3Ard%25', 'd%2Fe%3Ff'],
  ['a+b', 'p+q:r?s#t', 'd+e/f#g'],
  ['%C3%A9', '%E2%82%AC', '%C3%BC'],
] as const;

/** Addresses that neither accepts. */
const WRONG = [
  'postgres://u@127.0.0.1:1,127.0.0.2:2/d?port=1,2,3',
  'postgres://u@[::1/d',
  'postgres://u@[]:1/d',
  'postgres://u@[::1]x/d',
  'postgres://u@127.0.0.1:70000/d',
  'postgres://u@127.0.0.1:x/d',
  'postgres://u@127.0.0.1/d?sslmode',
  'postgres://u@127.0.0.1/d?sslmode=disable=x',
  'postgres://u@127.0.0.1/d?sslmod=disable',
  'postgres://u@127.0.0.1/d%zz',
  'postgres://u@127.0.0.1/d%00',
  'postgres://u@127.0.0.1/d?target_session_attrs=bogus',
  'postgres://u@127.0.0.1/d?connect_timeout=x',
];

const noPsql =
  spawnSync('psql', ['--version']).status === 0 ? false : 'psql, which has libpq, is not here';

function psql(address: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C', PGCONNECT_TIMEOUT: '5' };
  return new Promise((resolve) => {
    execFile('psql', ['-X', address, '-c', 'SELECT 1'], { env }, (_, __, stderr) =>
      resolve(stderr),
    );
  });
}

describe('the parser of PostgreSQL addresses beside libpq', {
  skip: noPsql,
  concurrency: true,
}, () => {
  for (const address of HOSTS) {
    it(`finds the same hosts in ${address}`, async () => {
      const tried = (await psql(address)).matchAll(/at "([^"]*)"(?: \([^)]*\))?, port (\d+)/g);
      const found = [...tried].map(([, host, port]) => ({ host, port: Number(port) }));
      assert.deepEqual(parsePostgresAddress(address).hosts, found);
    });
  }

  for (const [user, password, database] of LOGINS) {
    it(`logs in as libpq does to ${database} as ${user}`, async () => {
      const server = await FakePostgres.start('a');
      try {
        const address = `postgres://${user}:${password}@127.0.0.1:${server.port}/${database}`;
        await psql(address);
        const { user: ours, password: secret, database: name } = parsePostgresAddress(address);
        assert.deepEqual(server.logins, [{ user: ours, password: secret, database: name }]);
      } finally {
        server.stop();
      }
    });
  }

  for (const address of WRONG) {
    it(`refuses ${address} as libpq does`, async () => {
      assert.throws(() => parsePostgresAddress(address), AddressError);
      assert.match(
        await psql(address),
        /invalid|could not match|end of string|may not|unexpected|forbidden|missing|extra/,
      );
    });
  }
});

describe('an address of PostgreSQL', () => {
  const parse = (rest: string) => parsePostgresAddress(`postgres://phm:${SECRET}@${rest}`);

  it('asks for a server that writes if it has several hosts', () => {
    assert.equal(parse('a,b/phm').target, 'read-write');
    assert.equal(parse('a/phm').target, 'any');
    assert.equal(parse('a/phm?target_session_attrs=primary').target, 'primary');
    assert.equal(parse('a,b/phm?target_session_attrs=any').target, 'any');
  });

  it('limits each attempt to connect', () => {
    assert.equal(parse('a/phm').connectTimeoutMs, 5_000);
    assert.equal(parse('a/phm?connect_timeout=3').connectTimeoutMs, 3_000);
    // As in libpq.
    assert.equal(parse('a/phm?connect_timeout=1').connectTimeoutMs, 2_000);
  });

  it('is described without user and password', () => {
    assert.equal(describeAddress(parse('db1,[::1]:6432/phm')), 'db1:5432,[::1]:6432/phm');
  });

  it('is refused with a reason that shows no secret', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['a/phm?target_session_attrs=standby', /needs a server that writes: use read-write, primary/],
      ['a/phm?target_session_attrs=prefer-standby', /needs a server that writes/],
      ['a/phm?target_session_attrs=read-only', /needs a server that writes/],
      ['a/phm?target_session_attrs=x', /unknown target_session_attrs/],
      ['a,b/phm?load_balance_hosts=random', /must lead to the one server that writes/],
      ['a/phm?connect_timeout=0', /connect_timeout that is not a number of seconds from 1 to 30/],
      ['a,b,c/phm?port=1,2', /2 ports for 3 hosts/],
      ['a,,b/phm', /an empty host/],
      ['a@b/phm', /write an @ in a user or password as %40/],
      ['a/phm?hostaddr=127.0.0.1', /unknown parameter.*: hostaddr\./],
      ['a', /is not the address of a PostgreSQL database/],
    ];
    for (const [rest, message] of cases) {
      assert.throws(
        () => parse(rest),
        (error) => {
          assert.ok(error instanceof AddressError, rest);
          assert.match(error.message, message);
          return !error.message.includes(SECRET);
        },
      );
    }
    assert.equal(parse('a,b/phm?load_balance_hosts=disable').hosts.length, 2);
  });
});
