/** Log lines reach their descriptor whole and in order, many in one write. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LogWriter } from '../../src/telemetry/log-writer.ts';

describe('the log writer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-log-'));
  const path = join(folder, 'log');
  let descriptor: number;
  before(() => {
    descriptor = openSync(path, 'w');
  });
  after(() => {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });

  it('writes a line at once after a pause, and the rest by itself', async () => {
    const log = new LogWriter(descriptor);
    const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
    for (const line of lines) {
      log.write(line);
      if (line === 'line 250\n') await setTimeout(5);
    }
    while (readFileSync(path, 'utf8').length < lines.join('').length) await setTimeout(1);
    assert.equal(readFileSync(path, 'utf8'), lines.join(''));
  });

  it('flushes the lines that it has gathered', async () => {
    const log = new LogWriter(descriptor);
    log.write('first\n');
    await setTimeout(5);
    log.write('second\n');
    log.write('third\n');
    await log.flush(10_000);
    assert.ok(readFileSync(path, 'utf8').endsWith('first\nsecond\nthird\n'));
  });

  it('has nothing to flush if nothing was written', async () => {
    await new LogWriter(descriptor).flush(10_000);
  });
});
