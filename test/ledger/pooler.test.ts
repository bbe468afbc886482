import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SetupError } from '../../src/errors.ts';
import { lasts } from '../../src/ledger/may-pass.ts';
import { PostgresConnection } from '../../src/ledger/postgres/connection.ts';
import { FakePostgres } from '../support/ledgers/fake-postgres.ts';

describe('a pooler before the database', () => {
  /** Opens a connection to the server and closes it. */
  async function open(server: FakePostgres): Promise<void> {
    const url = `postgres://phm:secret@127.0.0.1:${server.port}/phm`;
    const connection = await PostgresConnection.open(url);
    await connection.close();
  }

  for (const mode of ['transaction', 'statement'] as const) {
    it(`is refused with its pool mode, ${mode}, and what to do`, async (t) => {
      const server = await FakePostgres.start('a');
      t.after(() => server.stop());
      server.pooling = mode;
      await assert.rejects(open(server), (error: SetupError) => {
        assert.ok(error instanceof SetupError);
        assert.match(error.message, new RegExp(`pool_mode = ${mode}:`));
        assert.match(error.message, /Set pool_mode = session for this database/);
        assert.deepEqual([error.mayPass, lasts(error)], [false, true]);
        return true;
      });
    });
  }

  it('is used if it keeps sessions', async (t) => {
    const server = await FakePostgres.start('a');
    t.after(() => server.stop());
    server.pooling = 'session';
    await open(server);
    assert.equal(server.logins.length, 2);
  });

  it('costs nothing where there is none', async (t) => {
    const server = await FakePostgres.start('a');
    t.after(() => server.stop());
    await open(server);
    assert.equal(server.logins.length, 1);
  });

  it('is refused by a running server when it no longer keeps sessions', async (t) => {
    const server = await FakePostgres.start('a');
    t.after(() => server.stop());
    server.pooling = 'session';
    const url = `postgres://phm:secret@127.0.0.1:${server.port}/phm`;
    const connection = await PostgresConnection.open(url);
    t.after(() => connection.close());
    assert.equal((await connection.ledger()).schema, 'public');
    server.pooling = 'transaction';
    await assert.rejects(connection.ledger(), /pool_mode = transaction/);
  });
});
