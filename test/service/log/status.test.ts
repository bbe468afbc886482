/** What the main thread says about the log, from the notices of its worker. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { LogNotice } from '../../../src/service/log/notices.ts';
import { ServiceLog, type ServiceLogOptions } from '../../../src/service/log/service-log.ts';

const OPTIONS: ServiceLogOptions = {
  origin: 'keys.example/log',
  policy: '',
  witnesses: [],
  halt: null,
  observer: undefined,
  onNotice: () => {},
};

describe('a request to the log worker', () => {
  it('fails after half a minute without an answer, and keeps its place until it comes', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const posted: { readonly id: number }[] = [];
    const worker = Object.assign(new EventEmitter(), {
      postMessage: (message: { readonly id: number }) => posted.push(message),
    });
    const log = new ServiceLog(worker as unknown as Worker, OPTIONS);
    const late = assert.rejects(log.tile(0, 0, 1), { code: 'ledger_unavailable' });
    test.mock.timers.tick(30_000);
    await late;
    assert.equal(log.load.waiting, 1);
    worker.emit('message', { id: posted[0]?.id, result: { kind: 'answer' } });
    assert.equal(log.load.waiting, 0);
  });
});

describe('the status of a log', () => {
  it('is not delayed while the log is stopped', () => {
    const worker = new EventEmitter();
    const log = new ServiceLog(worker as Worker, OPTIONS);
    const note = (notice: LogNotice): LogNotice['kind'] => {
      worker.emit('message', notice);
      return notice.kind;
    };
    const seen = [
      { kind: 'delayed', reason: 'the ledger cannot be used' },
      { kind: 'stopped', reason: 'entries are missing' },
      { kind: 'resumed' },
      { kind: 'delayed', reason: null },
    ].map((notice) => [note(notice as LogNotice), log.status().isDelayed]);
    assert.deepEqual(seen, [
      ['delayed', true],
      ['stopped', false],
      ['resumed', true],
      ['delayed', false],
    ]);
  });
});
