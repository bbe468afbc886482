/** The gate at which the threads of a server take SQLite's write lock in turns. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { WriteGate } from '../../src/ledger/sqlite/write-gate.ts';

const GATE = new URL('../../src/ledger/sqlite/write-gate.ts', import.meta.url).href;

/** A thread that passes the gate many times, and counts in steps that another thread could break. */
const THREAD = `
  const { workerData: { memory, counter, passes } } = require('node:worker_threads');
  import('${GATE}').then(({ WriteGate }) => {
    // Longer than any thread waits, also if the machine stops meanwhile.
    const gate = new WriteGate(memory, 600_000);
    const count = new Int32Array(counter);
    for (let i = 0; i < passes; i++) {
      gate.pass(() => {
        const before = count[0];
        for (let until = performance.now() + 0.02; performance.now() < until; );
        count[0] = before + 1;
      });
    }
  });`;

describe('the write gate', () => {
  it('lets one thread in at a time, and every thread in the end', async () => {
    const [memory, counter, passes] = [WriteGate.allocate(), new SharedArrayBuffer(4), 500];
    const threads = Array.from(
      { length: 3 },
      () => new Worker(THREAD, { eval: true, workerData: { memory, counter, passes } }),
    );
    await Promise.all(threads.map((thread) => once(thread, 'exit')));
    assert.equal(new Int32Array(counter)[0], 3 * passes);
    assert.equal(new Int32Array(memory)[0], 0, 'the gate is open');
  });

  it('opens again after an error, which it passes on', () => {
    const memory = WriteGate.allocate();
    const gate = new WriteGate(memory);
    assert.throws(
      () =>
        gate.pass(() => {
          throw new Error('staged');
        }),
      /staged/,
    );
    assert.equal(
      gate.pass(() => 7),
      7,
    );
    assert.equal(new Int32Array(memory)[0], 0);
  });

  it('leaves the decision to SQLite if it stays taken, and does not open it for others', () => {
    const memory = WriteGate.allocate();
    const gate = new WriteGate(memory, 20);
    const isTaken = () => new Int32Array(memory)[0];
    gate.pass(() => {
      assert.equal(
        gate.pass(() => 7),
        7,
      );
      assert.equal(isTaken(), 1);
    });
    assert.equal(isTaken(), 0);
  });
});
