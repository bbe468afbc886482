/** Checks docs/evidence/defects.md and its tables against the list of defects and the saved results. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { MODULATION_TYPES } from '../../src/modulation/index.ts';
import type { SampleKind } from './defect-sample.ts';
import { DEFECTS, type Sight, SOUND } from './defects.ts';
import { MODULATION_DEFECTS } from './modulation-defects.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../docs/evidence/${name}`, import.meta.url), 'utf8');

/** Returns the cells of each row of each table; a row's name has no code marks. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| [^|]/.test(line))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')));

/** Returns the names in a cell: `a`, `b`. `rowsOf` removes the marks of a single name. */
const namesIn = (cell: string): string[] => cell.replaceAll('`', '').split(', ');

/** Returns the part of a text from a line to the next one with the same beginning. */
function part(text: string, mark: string, line: string): string {
  const found = text.split(`\n${mark}`).find((one) => one.startsWith(line));
  return found ?? assert.fail(`no part "${line}"`);
}

const page = read('defects.md');
const section = (title: string) => rowsOf(part(page, '## ', title)).slice(1);
/** Tables that the page groups or shortens, by defect. */
const tables = read('defects-tables.txt');
const table = (title: string) => rowsOf(part(tables, '## ', title)).slice(1);
const results = `\n${read('defects.txt')}`;
const saved = (mode: string) => rowsOf(part(results, '$ ', `node scripts/defect-rates.ts ${mode}`));

/** Turns `40, 33 ready: gate` into the form of the page: `40 (33)`. */
function released(cell: string): string {
  const [, keys, ready] = /^(\d+)(?:, (\d+) ready)?/.exec(cell) ?? assert.fail(cell);
  const count = Number(keys).toLocaleString('en-US');
  return ready && ready !== '0' ? `${count} (${ready})` : count;
}

function assertSeen([name, kind, , rate]: readonly string[], sight: Sight): void {
  const [failed, samples] = rate.split(' of ').map(Number);
  const what = `${name}, ${kind}`;
  if (sight === 'sample') assert.equal(failed, samples, what);
  else if (sight === 'rate') assert.ok(failed > samples / 4, what);
  else if (sight === 'tally') assert.ok(failed < samples / 4, what);
  else assert.equal(failed, 0, what);
}

/** Returns the released keys of the larger runs, which are the same under each modulation. */
function assertManyKeys(rows: readonly string[][]): void {
  const measured = saved('runs 1000 10000 some-reseeds').slice(1);
  const expected = rows.map(([name]) => [
    name,
    ...[2, 3, 4, 5].map((column) => figures(measured, name, column)),
  ]);
  assert.ok(rows.length > 0);
  assert.deepEqual(rows, expected);
}

/** Causes of a latch, in the order of the page. */
const CAUSES = ['screen', 'gate', 'accumulated', 'key_test', 'repeated_key'];

/** Returns the causes that stopped the runs in which the defect began later, or `nothing`. */
function stoppedBy(rows: readonly string[][], name: string): string {
  const cells = rows.filter(([defect]) => defect === name).flatMap((row) => [row[3], row[5]]);
  const found = cells.map((cell) => cell.split(': ')[1]).filter((cause) => cause !== undefined);
  const causes = CAUSES.filter((cause) => found.includes(cause));
  assert.equal(causes.length, new Set(found).size, name);
  return causes.join(', ') || 'nothing';
}

/** One figure for each modulation, or one for all. */
function figures(rows: readonly string[][], name: string, column: number): string {
  const cells = rows.filter(([defect]) => defect === name).map((row) => released(row[column]));
  assert.equal(cells.length, MODULATION_TYPES.length, name);
  return new Set(cells).size === 1 ? cells[0] : cells.join(' / ');
}

describe('docs/evidence/defects.md', () => {
  const rates = saved('rates');
  const rate = (name: string, kind: SampleKind = 'stream') =>
    rates.find(([defect, sample]) => defect === name && sample === kind) ?? assert.fail(name);

  it('lists each defect that one sample shows, with the measured figures', () => {
    const expected = DEFECTS.filter(({ because }) => because === null).map(({ name, does }) => {
      const [, , , failed, test, median, largest] = rate(name);
      return [name, does, failed, test.split(' ')[0], median, largest];
    });
    assert.deepEqual(table('What one sample shows'), expected);
    const named = section('What one sample shows').flatMap(([, names]) => namesIn(names));
    assert.deepEqual(named.sort(), expected.map(([name]) => name).sort());
  });

  it('lists each defect that no sample shows, with the reason', () => {
    const unseen = DEFECTS.filter(({ because, plain }) => because !== null && !plain);
    const expected = unseen.map((defect) => {
      const [, , , failed, , , , level] = rate(defect.name);
      assert.equal(failed, '0 of 100', defect.name);
      return [defect.name, defect.does, defect.because, level];
    });
    assert.deepEqual(section('What no sample shows'), expected);
  });

  it('lists each defect that only one kind of sample shows, with the reason', () => {
    const apart = DEFECTS.filter(({ plain }) => plain);
    const expected = apart.map(({ name, does, because }) => {
      const between = rate(name, 'between keys');
      return [name, does, because, rate(name)[3], between[3]];
    });
    const rows = section('What few samples show, or only those between keys');
    assert.deepEqual(rows.slice(0, apart.length), expected);
    assertManyKeys(rows.slice(apart.length + 1));
  });

  it('lists the keys released before and after', () => {
    const [before, after] = [rowsOf(read('defects-before.txt')), saved('runs')];
    const expected = DEFECTS.map(({ name }) => [
      name,
      ...[before, after].flatMap((rows) => [figures(rows, name, 3), figures(rows, name, 5)]),
      stoppedBy(after, name),
    ]);
    const rows = table('Keys released');
    assert.deepEqual(
      rows.map((cells) => [...cells.slice(0, 5), cells[5].replaceAll('`', '')]),
      expected,
    );
    // The page groups the defects by what happens after the change, without the keys in brackets.
    const grouped = section('Keys released').flatMap(([validated, plain, causes, names]) =>
      namesIn(names).map((name) => [name, validated, plain, causes]),
    );
    const single = rows.map(([name, , , validated, plain, causes]) => {
      return [name, validated.replace(/ \(\d+\)$/, ''), plain, causes];
    });
    assert.deepEqual(grouped.sort(), single.sort());
  });

  it('lists each defect of the modulation', () => {
    const measured = saved('modulation');
    const expected = MODULATION_DEFECTS.map(({ name, does, because }) => {
      const row = measured.find(([defect]) => defect === name) ?? assert.fail(name);
      return [name, does, row[2], row[6], because ?? row[3].split(' ')[0]];
    });
    assert.deepEqual(table('Defects of the modulation'), expected);
    // The page omits defects that the quick tests find in each sample.
    const missed = expected.filter(([, , failed]) => failed !== '100 of 100');
    assert.deepEqual(section('Defects of the modulation'), missed);
    assert.equal(expected.length - missed.length, 7);
  });

  it('matches results where the tests see each listed defect and pass the sound generator', () => {
    for (const { name, sight, plain } of [...DEFECTS, SOUND]) {
      assertSeen(rate(name), sight);
      if (plain) assertSeen(rate(name, 'between keys'), plain);
    }
  });
});
