/**
 * The IID track on full lengths: samples that are not IID, with 10,000 permutations; restarts; and the command with
 * its threads.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assessIid } from '#sp800-90b';
import { aesBits } from '../sp800-90b/ea-non-iid.ts';
import { iidSamples } from '../sp800-90b/iid-samples.ts';
import { fullOnly } from '../support/run/campaign.ts';
import { phmJson, runPhm } from '../support/servers/server.ts';

test('samples that repeat fail after 10,000 permutations', { skip: fullOnly }, async () => {
  const { tests, minEntropyPerSymbol } = await assessIid(iidSamples('sticky'), { seed: '1' });
  assert.deepEqual([tests.permutation.passed, minEntropyPerSymbol], [false, null]);
  const { permutations, statistics } = tests.permutation;
  assert.equal(permutations, 10_000);
  const { greater, equal, less } = statistics.compression;
  assert.deepEqual([greater, equal, less], [10_000, 0, 0]);
});

test('phm assess-entropy --iid writes the same for a seed with one thread and with two', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'samples.bin');
  writeFileSync(file, aesBits());
  const args = ['assess-entropy', file, '--iid', '--seed', '1', '--threads'];
  const run = (threads: string) =>
    runPhm([...args, threads], folder, { SOURCE_DATE_EPOCH: '1700000000' });
  const [one, two] = [await run('1'), await run('2')];
  assert.deepEqual([one.code, one.stderr], [0, '']);
  assert.equal(two.stdout, one.stdout);
  assert.match(one.stdout, /^IID tests +passed$/m);
});

test('phm assess-entropy --iid --restart tests rows and columns, and names its options', {
  skip: fullOnly,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'matrix.bin');
  const page = join(folder, 'page.html');
  writeFileSync(file, aesBits());
  const restart = ['--iid', '--restart', '--submitter-entropy', '0.8', '--initial-entropy', '0.75'];
  const args = ['assess-entropy', file, ...restart, '--seed', '1', '--html', page];
  const report = await phmJson(args, folder);
  assert.equal(report.min_entropy_per_symbol, 0.75);
  const { row_tests: rows, column_tests: columns } = report as Record<string, { passed: boolean }>;
  assert.deepEqual([rows.passed, columns.passed], [true, true]);
  assert.notDeepEqual(rows, columns);
  assert.deepEqual(report.options, {
    bits_per_symbol: null,
    truncate: false,
    conditioned: false,
    submitter_entropy: 0.8,
    iid: true,
    seed: '1',
    restart: true,
    initial_entropy: 0.75,
  });
  assert.match(
    readFileSync(page, 'utf8'),
    /<dd>--iid --seed 1 --restart --initial-entropy 0\.75 --submitter-entropy 0\.8<\/dd>/,
  );
});
