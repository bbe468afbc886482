/** The scripts behind docs/evidence/ run, and the published files are their output. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { binomialUpper } from '../../packages/sp800-22/src/binomial.ts';
import { type Counts, GROUP } from '../../scripts/rates/counts.ts';
import type { SavedCounts } from '../../scripts/rates/print.ts';
import { fullOnly } from '../support/run/campaign.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const STREAMS = GROUP;

/** Probability that one check fails on sound streams. There are some 60, so a run fails once in 10^10. */
const CHANCE = 1e-12;

function run(...args: string[]): string {
  return execFileSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 24,
  });
}

/** Asserts that a published file is the output of the command in its first line. */
function assertPublished(file: string): void {
  const text = readFileSync(join(ROOT, 'docs/evidence', file), 'utf8');
  const [command, ...rest] = text.split('\n');
  const [, ...args] =
    /^\$ node ((?:scripts|packages\/lab\/studies)\/.*)$/.exec(command) ?? assert.fail(command);
  assert.equal(run(...args[0].split(' ')), rest.slice(1).join('\n'));
}

function measure(source: string, streams: number, file: string): Counts {
  run('scripts/generator-rates.ts', 'measure', source, String(streams), file);
  const { counts }: SavedCounts = JSON.parse(readFileSync(file, 'utf8'));
  return counts;
}

/** Fails if sound streams, with probability `rate` each, reach this count with probability below `CHANCE`. */
function assertSound(name: string, count: number, rate: number): void {
  if (count > 0) assert.ok(binomialUpper(count, STREAMS, rate) > CHANCE, `${name}: ${count}`);
}

/** Asserts rates above all those measured on 320,000 streams: 1.3 %, 13 %, and 3 in a million. */
function assertSoundCounts({ carrier, gates, modulated }: Counts): void {
  const tests = [carrier, ...Object.values(modulated).map((one) => one.tests)];
  for (const [name, { below }] of tests.flatMap((counts) => Object.entries(counts))) {
    assertSound(name, below[0], 0.015);
  }
  for (const [name, { below, review }] of Object.entries(gates)) {
    assertSound(`${name}: REVIEW`, review, 0.14);
    assertSound(`${name}: FAIL`, below.at(-1) ?? 0, 5e-6);
  }
}

describe('the scripts of docs/evidence/', () => {
  it('measure keys and a control, and continue where they stopped', { skip: fullOnly }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-rates-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const [keysFile, controlFile] = ['phase', 'aes'].map((name) => join(folder, `${name}.json`));
    const keys = measure('phase', STREAMS, keysFile);
    const control = measure('aes', STREAMS, controlFile);
    assert.deepEqual(measure('aes', STREAMS, controlFile), control);
    for (const counts of [keys, control]) assertSoundCounts(counts);
    assert.deepEqual(Object.keys(keys.gates), ['none', 'phase']);
    assert.deepEqual(Object.keys(control.gates), ['none', 'phase', 'frequency', 'amplitude']);
    // A rotation of words keeps the ones of each block of 128 bits, and therefore both p-values.
    const { pairs } = control.modulated.frequency;
    assert.deepEqual([pairs.frequency.equal, pairs.block_frequency.equal], [STREAMS, STREAMS]);
    assert.match(run('scripts/generator-rates.ts', 'print', keysFile), /^## phase: 1,000 keys/);
    assert.throws(() => measure('aes', 2 * STREAMS, keysFile));
  });

  it('print the published rates from the published counts', () => assertPublished('rates.txt'));

  it('compute the published tails', () => assertPublished('gate-tails.txt'));

  it('print the published distances of p-values from their distributions', () => {
    assertPublished('second-level/distances.txt');
  });

  it('print the published tables of faults from the published records', () => {
    assertPublished('faults/tables.txt');
    // The page has some of their rows, in tables whose header names the store.
    const [page, tables] = ['faults.md', 'faults/tables.txt'].map((file) =>
      readFileSync(join(ROOT, 'docs/evidence', file), 'utf8'),
    );
    const [, postgres, sqlite] = tables.split('| Fault |');
    for (const [store, published] of Object.entries({ PostgreSQL: postgres, SQLite: sqlite })) {
      const [, rows = ''] = page.split(`| Fault, ${store} | Before | After |\n|---|---|---|\n`);
      const [chosen] = rows.split('\n\n');
      assert.ok(chosen, store);
      for (const row of chosen.split('\n')) assert.ok(published.includes(`\n${row}\n`), row);
    }
  });
});
