import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError, SetupError } from '../../src/errors.ts';
import { mayPass } from '../../src/ledger/index.ts';
import { UnconfirmedError } from '../../src/ledger/postgres/confirmation.ts';
import { NotSentError } from '../../src/ledger/postgres/connection.ts';
import { DisturbedError, DroppedError } from '../../src/ledger/postgres/disturbed-error.ts';
import { unavailable } from '../../src/ledger/unavailable.ts';
import { toError, toFailure } from '../../src/service/threads/failures.ts';

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
    ['no replica identity', failure('cannot update table', { code: '55000' })],
    ['database dropped', failure('database does not exist', { code: '57P04' })],
    ['rows hidden', new NotSentError('x', { cause: new DisturbedError(['timeout']) })],
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

describe('what a client is told of a database failure', () => {
  const sqlstate = (code: string) => failure('x', { code });
  const sqlite = (errcode: number) => failure('x', { code: 'ERR_SQLITE_ERROR', errcode });
  const lasting: readonly unknown[] = [
    ...['0A000', '22P02', '23514', '28P01', '3D000', '3F000', '42501', '42P01', '42703'],
    ...['42883', '54000', '55000', '55P02', '57P04', '58030', 'F0000', 'XX001', 'XX002', 'PHMDR'],
  ].map((code) => sqlstate(code as string));
  const momentary: readonly unknown[] = [
    ...['08006', '23503', '23505', '25006', '25P02', '40001', '40P01', '53100', '53200', '53300'],
    ...['55006', '55P03', '57014', '57P01', '57P03', 'P0001', 'P0002', 'XX000', 'ECONNREFUSED'],
  ].map((code) => sqlstate(code as string));

  it('is not to try again in a moment, if only an operator can end the failure', () => {
    const disturbed = new NotSentError('x', { cause: new DisturbedError(['x']) });
    for (const error of [
      ...lasting,
      ...[8, 11, 26, 1032].map(sqlite),
      disturbed,
      new DroppedError(),
    ]) {
      const { details } = unavailable(error);
      assert.equal(details.retryAfterSeconds, 60, JSON.stringify(error));
      assert.match(details.remedy ?? '', /Tell the operator/);
    }
  });

  it('is to try again in a moment otherwise, also if the change may have been made', () => {
    const others = [new UnconfirmedError('x'), new Error('timeout'), 'text', undefined];
    for (const error of [...momentary, ...[5, 6, 10, 13].map(sqlite), ...others]) {
      const { details } = unavailable(error);
      assert.deepEqual([details.retryAfterSeconds, details.remedy], [5, undefined]);
    }
  });

  it('survives the way between threads', () => {
    const { details } = toError(toFailure(unavailable(sqlstate('42501'))));
    assert.equal(details.retryAfterSeconds, 60);
    assert.match(details.remedy ?? '', /Tell the operator/);
  });
});
