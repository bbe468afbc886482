/** The log of an agent: why a call failed, once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kindOf, Log, reasonOf } from '../../src/running/log.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

describe('a failure in the log', () => {
  it('has its reason once, and the cause if that says more', () => {
    const cause = new Error('no such host');
    assert.equal(reasonOf(new Error('no such host', { cause })), 'no such host');
    assert.equal(reasonOf(new Error('out of service', { cause })), 'out of service: no such host');
    assert.equal(reasonOf('text'), 'unknown');
  });

  it('is written once a minute, whatever the IDs of its requests', async () => {
    const clock = new SimulatedClock();
    const lines: string[] = [];
    const log = new Log((line) => lines.push(line), clock);
    for (let i = 0; i < 10; i += 1) {
      const reason = `overloaded: Try again. (request ${i}f)`;
      log.sometimes('warn', 'a call failed', kindOf(reason), { reason });
    }
    assert.equal(lines.length, 1);
    await clock.advance(60_000);
    log.sometimes('warn', 'a call failed', kindOf('overloaded: Try again. (request a)'));
    assert.equal(JSON.parse(lines[1] ?? '').left_out, 9);
  });
});
