import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { Worker } from 'node:worker_threads';
import {
  type LedgerStatus,
  LedgerWatch,
  requireCurrentSecret,
} from '../../../src/service/ledger/watch.ts';
import type { RetiredVersion } from '../../../src/service/threads/messages.ts';

/** Milliseconds between two checks while the ledger works. */
const INTERVAL_MS = 2_000;

describe('the ledger watch', () => {
  let asked: unknown[];
  let changes: LedgerStatus[];
  let batch: number | null;
  let worker: EventEmitter;
  let watch: LedgerWatch;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    asked = [];
    changes = [];
    batch = null;
    worker = Object.assign(new EventEmitter(), {
      postMessage: (message: unknown) => asked.push(message),
    });
    watch = new LedgerWatch(
      worker as Worker,
      () => (batch === null ? [] : [batch]),
      (status) => changes.push(status),
    );
  });
  afterEach(() => {
    watch.stop();
    mock.timers.reset();
  });

  const pass = (intervals: number) => {
    for (let i = 0; i < intervals; i++) mock.timers.tick(INTERVAL_MS);
  };
  const answer = (
    failure: string | null,
    lackedVersions: number[] | null = [],
    retired: RetiredVersion[] | null = lackedVersions && [],
  ) =>
    worker.emit('message', {
      failure,
      isForeign: failure === 'foreign',
      accountLocked: false,
      lackedVersions,
      retired,
      ownApiKeys: false,
      host: null,
    });

  it('reports once that API keys were issued, but no change of the ledger', () => {
    let told = 0;
    const other = new LedgerWatch(
      worker as Worker,
      () => [],
      () => assert.fail(),
      () => {
        told += 1;
      },
    );
    answer(null);
    assert.equal(told, 0);
    for (let i = 0; i < 2; i++) {
      worker.emit('message', {
        failure: null,
        isForeign: false,
        lackedVersions: [],
        retired: [],
        ownApiKeys: true,
      });
    }
    assert.equal(told, 1);
    other.stop();
  });

  it('checks without traffic, one check at a time', () => {
    pass(2);
    assert.deepEqual(asked, ['check']);
    answer(null);
    pass(1);
    assert.deepEqual(asked, ['check', 'check']);
    assert.deepEqual(changes, []);
  });

  it('reports once that the ledger fails, and once that it recovers', () => {
    for (const failure of ['refused', 'refused again', null, null]) {
      pass(1);
      answer(failure, failure === null ? [] : null);
    }
    assert.deepEqual(
      changes.map(({ failure }) => failure),
      ['refused', null],
    );
  });

  it('treats silence as a failure until an answer arrives on time', () => {
    pass(2);
    assert.equal(watch.status().failure, null);
    pass(1);
    assert.match(watch.status().failure ?? '', /does not answer/);
    answer(null);
    assert.match(watch.status().failure ?? '', /does not answer/);
    pass(1);
    answer(null);
    assert.equal(watch.status().failure, null);
    assert.equal(changes.length, 2);
  });

  it('remembers missing versions while the ledger does not answer', () => {
    pass(1);
    answer(null, [2]);
    pass(1);
    answer('refused', null);
    assert.deepEqual(watch.status(), {
      failure: 'refused',
      isForeign: false,
      lackedVersions: [2],
      retired: [],
      host: null,
    });
    assert.deepEqual(
      changes.map(({ lackedVersions }) => lackedVersions),
      [[2], [2]],
    );
  });

  it('reports that the address leads to another ledger, until it leads to this one again', () => {
    pass(1);
    answer('gone');
    answer('foreign', null);
    answer(null);
    assert.deepEqual(
      changes.map(({ isForeign }) => isForeign),
      [false, true, false],
    );
  });

  it('reports a retirement, its changes and its end, and remembers it in between', () => {
    const retired = { version: 1, compromisedMs: null, current: true };
    const tightened = { ...retired, compromisedMs: 7 };
    for (const seen of [[], [retired], [retired], null, [tightened], []]) {
      answer(null, [], seen);
      const make = () => requireCurrentSecret(watch.status());
      if (seen?.length === 0) make();
      else assert.throws(make, { code: 'ledger_unavailable' });
    }
    assert.deepEqual(
      changes.map((status) => status.retired),
      [[retired], [tightened], []],
    );
  });

  it('reports a retirement undone between two checks if a batch read the change', () => {
    const retired = [{ version: 1, compromisedMs: null, current: false }];
    answer(null, [], retired);
    worker.emit('message', { retiredVersions: [] });
    answer(null, [], retired);
    assert.deepEqual(
      changes.map((status) => status.retired),
      [retired, [], retired],
    );
  });

  it('allows key generation while only verifying versions are retired', () => {
    answer(null, [], [{ version: 1, compromisedMs: null, current: false }]);
    requireCurrentSecret(watch.status());
  });

  it('treats a hanging batch as a failure, and checks at once after it failed', () => {
    batch = 1;
    pass(3);
    assert.match(watch.status().failure ?? '', /does not answer/);
    batch = null;
    answer(null);
    const recorded = { startMs: 0, endMs: 10, failure: null, keys: 1 };
    worker.emit('message', { id: 2, results: [], failuresRecorded: true, commit: recorded });
    mock.timers.tick(500);
    answer(null);
    assert.equal(watch.status().failure, null);
    const commit = { startMs: 0, endMs: 4_000, failure: 'locked', keys: 0 };
    worker.emit('message', { id: 1, results: [], failuresRecorded: false, commit });
    asked.length = 0;
    mock.timers.tick(500);
    assert.deepEqual(asked, ['check']);
    answer('locked');
    assert.equal(watch.status().failure, 'locked');
  });

  it('ignores a batch that had nothing to commit', () => {
    worker.emit('message', { id: 1, results: [], failuresRecorded: true, commit: null });
    pass(1);
    assert.deepEqual(asked, ['check']);
    assert.deepEqual(changes, []);
  });
});
