/** A page of metrics shows the last value of a slow reading, and no value of one that hangs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Reading } from '../../src/telemetry/reading.ts';
import { SimulatedTime } from '../support/run/simulated-time.ts';

const WAIT_MS = 250;

describe('a reading in the background', () => {
  it('is repeated after its interval, not before', async (t) => {
    const time = new SimulatedTime(t);
    let reads = 0;
    const reading = new Reading(async () => ++reads, 60_000);
    assert.deepEqual([await reading.value(), await reading.value()], [1, 1]);
    time.pass(59_999);
    assert.equal(await reading.value(), 1);
    time.pass(1);
    assert.equal(await reading.value(), 2);
  });

  it('has no value while it is unknown', async () => {
    assert.equal(await new Reading(async () => null, 1_000).value(), null);
    assert.equal(await new Reading(() => Promise.reject(new Error()), 1_000).value(), null);
  });

  it('that hangs delays one page a little, is not repeated, and loses its value', async (t) => {
    const time = new SimulatedTime(t);
    let reads = 0;
    const reading = new Reading(
      () => (++reads === 1 ? Promise.resolve(5) : new Promise<number>(() => {})),
      100,
    );
    assert.equal(await reading.value(), 5);
    time.pass(100);
    const startMs = time.nowMs;
    assert.equal(await time.settle(reading.value()), null);
    assert.equal(time.nowMs - startMs, WAIT_MS);
    // Time stands still, so that no wait ends.
    for (let i = 0; i < 20; i++) {
      assert.equal(await Promise.race([reading.value(), turn('waits')]), null);
    }
    assert.equal(reads, 2);
  });
});
