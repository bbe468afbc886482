/** What the main thread says about the log, from the notices of its worker. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { LogNotice } from '../../../src/service/log/notices.ts';
import { ServiceLog } from '../../../src/service/log/service-log.ts';

describe('the status of a log', () => {
  it('is not delayed while the log is stopped', () => {
    const worker = new EventEmitter();
    const log = new ServiceLog(worker as Worker, {
      origin: 'keys.example/log',
      policy: '',
      witnesses: [],
      observer: undefined,
      onNotice: () => {},
    });
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
