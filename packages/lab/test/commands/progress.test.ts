import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusLine } from '../../../platform/src/commands/status-line.ts';
import { ProgressBar, progressLine } from '../../src/commands/progress.ts';

test('the progress line shows the share done, the rate in sequences and bits, and the time left', () => {
  assert.equal(
    progressLine({ finished: 25, expected: 100 }, 1_000_000, 10_000),
    '[######..................] 25 of 100  2.5/s  2.5 Mbit/s  0:30 left',
  );
  assert.equal(
    progressLine({ finished: 1000, expected: 10_000 }, 1_048_576, 1_000_000),
    '[##......................] 1,000 of 10,000  1.0/s  1.0 Mbit/s  2:30:00 left',
  );
  assert.match(progressLine({ finished: 7, expected: 7 }, 100, 1), /^\[#{24}\] .* 0:00 left$/);
});

test('the progress line shows no bar and no time left for an unknown number of sequences', () => {
  assert.equal(
    progressLine({ finished: 30, expected: undefined }, 500_000, 2000),
    '30 sequences  15.0/s  7.5 Mbit/s',
  );
});

test('the progress line is redrawn at most ten times a second and cleared at the end', () => {
  let nowMs = 0;
  const written: string[] = [];
  const bar = new ProgressBar(1000, new StatusLine((text) => written.push(text)), () => nowMs);
  bar.clear();
  assert.equal(written.length, 0);
  for (nowMs = 1; nowMs <= 1000; nowMs++) bar.update({ finished: nowMs, expected: 1000 });
  assert.equal(written.length, 10);
  for (const line of written) assert.ok(line.startsWith('\r\x1b[K['));
  bar.clear();
  bar.clear();
  assert.deepEqual(written.slice(10), ['\r\x1b[K']);
});
