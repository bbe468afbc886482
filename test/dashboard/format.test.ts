/** Number formats of the dashboard: axis marks keep their value, and rounding adds no exponent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duration, milliseconds, rate } from '../../dashboard/src/format.ts';

describe('a number in the dashboard', () => {
  it('has at most three significant digits', () => {
    const times = [0, 0.016, 2.5, 12.5, 99.97, 123.4, 999.7, 1234.5];
    assert.deepEqual(
      times.map(milliseconds),
      '0 ms|0.016 ms|2.5 ms|12.5 ms|100 ms|123 ms|1000 ms|1.23 s'.split('|'),
    );
    const rates = [0, 1 / 86_400, 0.05, 1.25, 99.7, 123.4, 12_345];
    assert.deepEqual(rates.map(rate), ['0', '0.0000116', '0.05', '1.25', '99.7', '123', '12,345']);
  });

  it('rounds days up, as the command line does', () => {
    const day = 86_400;
    assert.deepEqual(
      [8.9 * day, 2 * day, 2 * day - 60, 61, 0.2].map(duration),
      '9 days|2 days|47 h 59 min|1 min 1 s|1 s'.split('|'),
    );
  });
});
