/** A page of metrics shows the last value of a slow reading, and no value of one that hangs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../src/clock.ts';
import { Reading } from '../../src/telemetry/reading.ts';

describe('a reading in the background', () => {
  it('is repeated after its interval, not before', async () => {
    let reads = 0;
    const rare = new Reading(async () => ++reads, 60_000);
    assert.deepEqual([await rare.value(), await rare.value()], [1, 1]);
    const often = new Reading(async () => ++reads, 40);
    assert.equal(await often.value(), 2);
    await delay(50);
    assert.equal(await often.value(), 3);
  });

  it('has no value while it is unknown', async () => {
    assert.equal(await new Reading(async () => null, 1_000).value(), null);
    assert.equal(await new Reading(() => Promise.reject(new Error()), 1_000).value(), null);
  });

  it('that hangs delays one page a little, is not repeated, and loses its value', async () => {
    let reads = 0;
    const reading = new Reading(
      () => (++reads === 1 ? Promise.resolve(5) : new Promise<number>(() => {})),
      50,
    );
    assert.equal(await reading.value(), 5);
    await delay(60);
    const startMs = monotonicMs();
    assert.equal(await reading.value(), null);
    for (let i = 0; i < 20; i++) assert.equal(await reading.value(), null);
    assert.ok(monotonicMs() - startMs < 20 * 250, 'later pages waited too');
    assert.equal(reads, 2);
  });
});
