import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError, SetupError } from '../../src/errors.ts';
import { mayPass } from '../../src/ledger/index.ts';
import { UnconfirmedError } from '../../src/ledger/postgres/confirmation.ts';
import { NotSentError } from '../../src/ledger/postgres/connection.ts';

const failure = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

describe('a database failure at startup', () => {
  const passing: [string, unknown][] = [
    ['refused', failure('connect ECONNREFUSED', { code: 'ECONNREFUSED' })],
    ['no name yet', failure('getaddrinfo ENOTFOUND db', { code: 'ENOTFOUND' })],
    ['unreachable', failure('connect EHOSTUNREACH', { code: 'EHOSTUNREACH' })],
    ['no socket file', failure('connect ENOENT', { code: 'ENOENT' })],
    ['no answer', new NotSentError('x', { cause: failure('timeout expired') })],
    ['cut', failure('Connection terminated unexpectedly')],
    ['starting', failure('the database system is starting up', { code: '57P03' })],
    ['ended', failure('terminating connection', { code: '57P01' })],
    ['no connection free', failure('sorry, too many clients already', { code: '53300' })],
    ['read-only', failure('cannot execute INSERT', { code: '25006' })],
    ['SQLite, locked', failure('database is locked', { code: 'ERR_SQLITE_ERROR', errcode: 261 })],
    ['not confirmed by a standby', new UnconfirmedError('canceling')],
    ['said so', new SetupError('x', { mayPass: true })],
  ];
  const lasting: [string, unknown][] = [
    ['password', failure('password authentication failed', { code: '28P01' })],
    ['no such database', failure('database "x" does not exist', { code: '3D000' })],
    ['privilege', failure('permission denied', { code: '42501' })],
    ['certificate', failure('self-signed certificate', { code: 'SELF_SIGNED_CERT_IN_CHAIN' })],
    ['SQLite, not one', failure('not a database', { code: 'ERR_SQLITE_ERROR', errcode: 26 })],
    ['set-up', new SetupError('x')],
    ['defect', new TypeError('x is not a function')],
    ['no error', 'text'],
  ];
  it('may pass if the server, the network or a lock causes it', () => {
    for (const [name, error] of passing) assert.equal(mayPass(error), true, name);
  });

  it('does not pass if the setup causes it', () => {
    for (const [name, error] of lasting) assert.equal(mayPass(error), false, name);
  });

  it('is classified by its cause if the ledger reports it', () => {
    const wrap = (cause: unknown) => new AppError('ledger_unavailable', { cause });
    for (const [name, error] of passing) assert.equal(mayPass(wrap(error)), true, name);
    for (const [name, error] of lasting) assert.equal(mayPass(wrap(error)), false, name);
    assert.equal(mayPass(new AppError('overloaded', { cause: passing[0]?.[1] })), false);
  });
});
