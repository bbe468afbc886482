/** The page docs/evidence/defects.md says what the table says, with the figures of the saved results. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { MODULATION_TYPES } from '../../src/modulation/index.ts';
import { DEFECTS, SOUND } from './defects.ts';
import { MODULATION_DEFECTS } from './modulation-defects.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../docs/evidence/${name}`, import.meta.url), 'utf8');

/** The cells of each row of each table; a row's name without its code marks. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| [^|]/.test(line))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')));

/** The part of a text from a line to the next that begins alike. */
function part(text: string, mark: string, line: string): string {
  const found = text.split(`\n${mark}`).find((one) => one.startsWith(line));
  return found ?? assert.fail(`no part "${line}"`);
}

const page = read('defects.md');
const section = (title: string) => rowsOf(part(page, '## ', title)).slice(1);
const results = `\n${read('defects.txt')}`;
const saved = (mode: string) => rowsOf(part(results, '$ ', `node scripts/defect-rates.ts ${mode}`));

/** `40, 33 ready: gate` as the page has it: `40 (33)`. */
function released(cell: string): string {
  const [, keys, ready] = /^(\d+)(?:, (\d+) ready)?/.exec(cell) ?? assert.fail(cell);
  const count = Number(keys).toLocaleString('en-US');
  return ready && ready !== '0' ? `${count} (${ready})` : count;
}

/** One figure for each modulation, or one for all. */
function figures(rows: readonly string[][], name: string, column: number): string {
  const cells = rows.filter(([defect]) => defect === name).map((row) => released(row[column]));
  assert.equal(cells.length, MODULATION_TYPES.length, name);
  return new Set(cells).size === 1 ? cells[0] : cells.join(' / ');
}

describe('docs/evidence/defects.md', () => {
  const rates = saved('rates');
  const rate = (name: string) => rates.find(([defect]) => defect === name) ?? assert.fail(name);

  it('has a row for each defect that one sample shows, with the measured figures', () => {
    const expected = DEFECTS.filter(({ because }) => because === null).map(({ name, does }) => {
      const [, , failed, test, median, largest] = rate(name);
      return [name, does, failed, test.split(' ')[0], median, largest];
    });
    assert.deepEqual(section('What one sample shows'), expected);
  });

  it('has a row for each defect that no sample shows, with the reason', () => {
    const expected = DEFECTS.filter(({ because }) => because !== null).map((defect) => {
      const [, , failed, , , , level] = rate(defect.name);
      return [defect.name, defect.does, defect.because, failed, level];
    });
    assert.deepEqual(section('What no sample shows'), expected);
  });

  it('has the keys released before and after', () => {
    const [before, after] = [rowsOf(read('defects-before.txt')), saved('runs')];
    const expected = DEFECTS.map(({ name }) => [
      name,
      ...[before, after].flatMap((rows) => [figures(rows, name, 3), figures(rows, name, 5)]),
    ]);
    assert.deepEqual(
      section('Keys released').map((cells) => cells.slice(0, 5)),
      expected,
    );
  });

  it('has a row for each defect of the modulation', () => {
    const measured = saved('modulation');
    const expected = MODULATION_DEFECTS.map(({ name, does, because }) => {
      const row = measured.find(([defect]) => defect === name) ?? assert.fail(name);
      return [name, does, row[2], row[6], because ?? row[3].split(' ')[0]];
    });
    assert.deepEqual(section('Defects of the modulation'), expected);
  });

  it('rests on results in which each row is seen as the table says, and the sound generator is not', () => {
    for (const { name, sight } of [...DEFECTS, SOUND]) {
      const [failed, samples] = rate(name)[2].split(' of ').map(Number);
      if (sight === 'sample') assert.equal(failed, samples, name);
      else if (sight === 'rate') assert.ok(failed > samples / 4, name);
      else assert.equal(failed, 0, name);
    }
  });
});
