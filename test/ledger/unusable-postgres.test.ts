/** What the operator is told to do if a PostgreSQL cannot be opened. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SetupError } from '../../src/errors.ts';
import { ForeignLedgerError } from '../../src/ledger/identity.ts';
import { UnconfirmedError } from '../../src/ledger/postgres/confirmation.ts';
import { PostgresConnection } from '../../src/ledger/postgres/connection.ts';
import { DisturbedError } from '../../src/ledger/postgres/disturbed-error.ts';
import { FakePostgres } from '../support/ledgers/fake-postgres.ts';

const SECRET = 'not-for-any-log';

async function start(test: TestContext, role?: FakePostgres['role']): Promise<FakePostgres> {
  const server = await FakePostgres.start('a', role);
  test.after(() => server.stop());
  return server;
}

/** Opens the server, and asserts that the error has this end and no password. */
async function assertRefused(
  port: number,
  remedy: RegExp,
  { query = '', prepare = async () => {} }: { query?: string; prepare?: () => Promise<void> } = {},
): Promise<SetupError> {
  const address = `postgres://phm:${SECRET}@127.0.0.1:${port}/phm${query}`;
  const opened = PostgresConnection.open(address, prepare);
  const error = await opened.then(
    () => assert.fail('it was opened'),
    (reason) => reason,
  );
  assert.ok(error instanceof SetupError, String(error));
  assert.match(error.message, new RegExp(`^cannot use the database 127.0.0.1:${port}/phm: `));
  assert.match(error.message, new RegExp(`; ${remedy.source}$`));
  assert.ok(!error.message.includes(SECRET));
  return error;
}

describe('a PostgreSQL that cannot be opened', () => {
  for (const [role, words] of [
    ['standby', /it is a standby/],
    ['read-only', /it is read-only/],
  ] as const) {
    it(`is to be made writable: ${role}`, async (t) => {
      const { port } = await start(t, role);
      const query = '?target_session_attrs=read-write';
      const error = await assertRefused(port, /promote a standby, or end the read-only mode/, {
        query,
      });
      assert.match(error.message, words);
      assert.equal(error.mayPass, true);
    });
  }

  for (const [state, remedy, mayPass] of [
    ['28P01', /check user and password/, false],
    ['28000', /check user and password/, false],
    ['42501', /its user must own the tables and functions of the ledger: see .*/, false],
    ['53300', /end other connections, or raise max_connections/, true],
    ['57P01', /it is starting or shutting down: try again when it runs/, true],
    ['57P03', /it is starting or shutting down: try again when it runs/, true],
    ['3D000', /check that the address names a PostgreSQL database that its user may .*/, false],
  ] as const) {
    it(`has a remedy if it refuses with ${state}`, async (t) => {
      const server = await start(t);
      server.refuses = state;
      assert.equal((await assertRefused(server.port, remedy)).mayPass, mayPass);
    });
  }

  it('is to be started if nothing answers', async (t) => {
    const server = await start(t);
    const { port } = server;
    server.stop();
    const { mayPass } = await assertRefused(port, /check host and port, and that the server runs/);
    assert.equal(mayPass, true);
  });

  for (const [cause, remedy, mayPass] of [
    [new UnconfirmedError('x'), /check its standbys, then try again/, true],
    [new DisturbedError(['x']), /undo it, then try again/, false],
    [new ForeignLedgerError('x'), /check where the address leads/, false],
  ] as const) {
    it(`has a remedy for ${cause.name}`, async (t) => {
      const { port } = await start(t);
      const prepare = () => Promise.reject(cause);
      assert.equal((await assertRefused(port, remedy, { prepare })).mayPass, mayPass);
    });
  }
});
