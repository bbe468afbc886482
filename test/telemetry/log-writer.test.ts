/** Log lines reach their descriptor whole and in order, many in one write. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
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

  it('waits for a line in progress before the last words of its process', () => {
    const file = join(folder, 'last');
    const own = openSync(file, 'w');
    const log = new LogWriter(own);
    const waits: number[] = [];
    log.write('in progress\n');
    log.write('waiting\n');
    log.writeNow((ms) => {
      waits.push(ms);
      // As long as another thread needs to get a processor and to write.
      while (readFileSync(file).length === 0);
    });
    writeSync(own, 'last\n');
    closeSync(own);
    assert.equal(readFileSync(file, 'utf8'), 'in progress\nwaiting\nlast\n');
    assert.deepEqual(waits, [200]);
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

  it('writes the waiting lines before the process ends at once', () => {
    const log = new URL('../../src/serve/log.ts', import.meta.url).href;
    const config = { logFormat: 'json', logLevel: 'info' };
    const program = `
      const { openLog } = await import('${log}');
      const { logger } = openLog(${JSON.stringify(config)}, { env: {}, launcher: 'phm' });
      for (const n of [1, 2, 3]) logger.info({ n }, 'line');
      process.once('exit', () => process.stderr.write('last words'));
      process.exit(1);`;
    const args = ['--input-type=module', '-e', program];
    const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    // The first was in progress, and its thread may still wait for a processor: see above.
    const [last, ...lines] = stderr
      .replace(/\{.*"n":1,.*\n/, '')
      .split('\n')
      .reverse();
    assert.equal(last, 'last words');
    assert.deepEqual(
      lines.reverse().map((line) => JSON.parse(line).n),
      [2, 3],
    );
  });

  it('escapes what a terminal acts on and JSON leaves as it is', async () => {
    const log = new LogWriter(descriptor);
    const fields = { path: '\x9b2K\u202e\u2028\x7f', msg: 'ü\n' };
    log.write(`${JSON.stringify(fields)}\n`);
    await log.flush(10_000);
    const line = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    assert.match(line, /\\u009b2K\\u202e\\u2028\\u007f.*ü\\n/);
    assert.deepEqual(JSON.parse(line), fields);
  });

  it('has nothing to flush if nothing was written', async () => {
    await new LogWriter(descriptor).flush(10_000);
  });
});
