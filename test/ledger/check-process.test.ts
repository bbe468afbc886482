/** What comes of the process that checks a database file, in whatever order its message and its end are noticed. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { type CheckResult, resultOf } from '../../src/ledger/sqlite/check.ts';

/** A process whose events the test emits, and what comes of it. */
function started(): { child: EventEmitter; result: Promise<CheckResult> } {
  const child = new EventEmitter();
  return { child, result: resultOf(child as unknown as ChildProcess) };
}

describe('the process of a check', () => {
  it('gives the result that it sent, also if its end is noticed first', async () => {
    const { child, result } = started();
    child.emit('exit', 0, null);
    child.emit('message', { kind: 'sound' });
    child.emit('close', 0, null);
    assert.deepEqual(await result, { kind: 'sound' });
  });

  it('failed if it ended and its channel closed without a result', async () => {
    const { child, result } = started();
    child.emit('exit', null, 'SIGKILL');
    child.emit('close', null, 'SIGKILL');
    assert.deepEqual(await result, { kind: 'failed', reason: 'the check ended with SIGKILL' });
  });

  it('failed if it could not be started', async () => {
    const { child, result } = started();
    child.emit('error', new Error('spawn EAGAIN'));
    assert.deepEqual(await result, { kind: 'failed', reason: 'spawn EAGAIN' });
  });
});
