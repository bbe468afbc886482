import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { AppError, SetupError } from '../../src/errors.ts';
import { whenDatabaseAnswers } from '../../src/serve/start-wait.ts';

const AWAY = new SetupError('the database is away', { mayPass: true });
const WRONG = new SetupError('the password is wrong');

/** Runs a startup whose attempts fail with these errors in turn and then succeed. Returns the outcome. */
async function start(errors: readonly Error[], limitMs: number) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  let attempts = 0;
  let waits = 0;
  const attempt = async () => {
    const error = errors[attempts++];
    if (error) throw error;
    return 'started';
  };
  const onWaiting = async () => {
    waits += 1;
  };
  const options = { limitMs, logger, onWaiting, pauseMs: 1 };
  const result = await whenDatabaseAnswers(attempt, options).catch((error) => error);
  const log = lines.map(({ msg, reason }) => [msg, reason]);
  return { result, attempts, waits, log };
}

describe('the startup of a server', () => {
  it('waits for an unavailable database and logs that once', async () => {
    const { result, attempts, waits, log } = await start([AWAY, AWAY], 60_000);
    assert.deepEqual({ result, attempts, waits }, { result: 'started', attempts: 3, waits: 1 });
    assert.deepEqual(log, [
      ['startup is waiting for the database', 'the database is away'],
      ['the database answers: startup continues', undefined],
    ]);
  });

  it('logs the cause of a ledger failure', async () => {
    const failure = new AppError('ledger_unavailable', {
      cause: new Error('Connection terminated'),
    });
    const { result, log } = await start([failure], 60_000);
    assert.equal(result, 'started');
    assert.equal(log[0]?.[1], 'Connection terminated');
  });

  it('fails with the last reason when its time limit expires', async () => {
    const { result, waits, log } = await start(Array(9_999).fill(AWAY), 20);
    assert.equal(result, AWAY);
    assert.equal(waits, 1);
    assert.deepEqual(log.at(-1), [
      'startup waited too long for the database',
      'the database is away',
    ]);
  });

  it('fails at once without a time limit, or on a permanent error, even after a wait', async () => {
    const alone = { attempts: 1, waits: 0, log: [] };
    assert.deepEqual(await start([AWAY], 0), { result: AWAY, ...alone });
    assert.deepEqual(await start([WRONG], 60_000), { result: WRONG, ...alone });
    const later = await start([AWAY, WRONG], 60_000);
    assert.deepEqual([later.result, later.attempts, later.waits], [WRONG, 2, 1]);
  });
});
