import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusLine } from '../../packages/platform/src/commands/status-line.ts';
import { BatchProgress, progressText } from '../../src/cli/client/batch/progress.ts';

test('the progress of many keys shows the share done, and rate and time left of this run', () => {
  assert.equal(progressText(0, 1000, 0, 0), '[........................] 0 of 1,000 keys');
  assert.equal(
    progressText(500, 1000, 300, 6),
    '[############............] 500 of 1,000 keys  50.0/s  0:10 left',
  );
  assert.match(progressText(1000, 1000, 1000, 0), /^\[#{24}\] .* 0:00 left$/);
});

test('the progress of many keys does not count files of earlier runs into the rate', () => {
  let nowMs = 0;
  const written: string[] = [];
  const line = new StatusLine((text) => written.push(text));
  const progress = new BatchProgress(line, 1000, () => nowMs);
  progress.update(400);
  nowMs = 2_000;
  progress.update(500);
  progress.clear();
  assert.match(written[0] ?? '', /400 of 1,000 keys$/);
  assert.match(written[1] ?? '', /500 of 1,000 keys {2}50\.0\/s {2}0:10 left$/);
  assert.equal(written.at(-1), '\r\x1b[K');
});
