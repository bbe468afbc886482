/** Worker threads of `phm-lab assess` that fail or exit. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CommandError } from '../../../platform/src/commands/command-error.ts';
import type { SuiteReport } from '../../../sp800-22/src/index-node.ts';
import { SuitePool } from '../../src/assess/pool.ts';
import { assess } from '../../src/commands/assess-file.ts';
import type { AssessOutput, AssessSummary } from '../../src/index-node.ts';
import { startWorker } from '../../src/node.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-pool-'));
after(() => rmSync(folder, { recursive: true }));

function workerUrl(name: string, body: string): URL {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, `import { parentPort } from 'node:worker_threads';\n${body}\n`);
  return pathToFileURL(path);
}

const job = () => ({
  sequence: { bytes: new Uint8Array(25), offsetBits: 0, bits: 200 },
  options: { only: ['frequency' as const] },
});

test('the assess pool runs one worker per thread and transfers the bytes without a copy', async () => {
  const pool = new SuitePool(2);
  const jobs = [job(), job(), job()];
  const reports = await Promise.all(jobs.map((one) => pool.run(one)));
  assert.deepEqual(
    reports.map(({ bits, totalTests }) => [bits, totalTests]),
    [
      [200, 1],
      [200, 1],
      [200, 1],
    ],
  );
  for (const { sequence } of jobs) assert.equal(sequence.bytes.buffer.byteLength, 0);
  await pool.close();
});

test('the assess pool rejects a job when its worker throws or exits', async () => {
  const throwing = workerUrl(
    'throws',
    `parentPort.on('message', ({ sequence }) => { if (sequence) throw new Error('no') });`,
  );
  const ending = workerUrl(
    'ends',
    `parentPort.on('message', ({ sequence }) => { if (sequence) process.exit(3) });`,
  );
  for (const [url, message] of [
    [throwing, /^no$/],
    [ending, /^exited with code 3$/],
  ] as const) {
    const pool = new SuitePool(1, () => startWorker(url));
    await assert.rejects(pool.run(job()), { message });
    await pool.close();
  }
});

test('a closed assess pool starts no worker and wipes waiting sequences', async () => {
  const pool = new SuitePool(1);
  const [first, second] = [job(), job()];
  second.sequence.bytes.fill(0xff);
  const underWay = assert.rejects(pool.run(first), { message: /^exited with code/ });
  void pool.run(second);
  await pool.close();
  await underWay;
  assert.deepEqual(second.sequence.bytes, new Uint8Array(25));
  await assert.rejects(pool.run(job()), { message: 'closed' });
});

test('a failed worker ends the command with exit code 1 after a report of the finished sequences', async () => {
  const file = join(folder, 'zeros.bin');
  writeFileSync(file, new Uint8Array(1000));
  const report = { bits: 1000, constants: 'exact', tests: [], testsPassed: 0, totalTests: 0 };
  const third = workerUrl(
    'third',
    `let count = 0;
     parentPort.on('message', ({ sequence }) => {
       if (!sequence) return;
       if (++count === 3) throw new Error('out of order');
       parentPort.postMessage({ report: ${JSON.stringify(report)} });
     });`,
  );
  const added: SuiteReport[] = [];
  const summaries: AssessSummary[] = [];
  const output: AssessOutput = {
    add: (one) => added.push(one),
    end: (summary) => summaries.push(summary),
  };
  const options = { file, format: 'binary', constants: 'exact', bits: 1000, threads: 1 } as const;
  const error = await assess(options, output, { workerUrl: third }).then(
    () => assert.fail('expected a CommandError'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CommandError);
  assert.equal(error.exitCode, 1);
  assert.match(error.message, /^the tests on sequence 3 of .*zeros\.bin failed: out of order; /);
  assert.equal(added.length, 2);
  assert.deepEqual(
    summaries.map(({ sequences, complete }) => [sequences, complete]),
    [[2, false]],
  );
});
