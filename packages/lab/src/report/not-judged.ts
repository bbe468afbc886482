/** Texts on rows and checks of the second level that are not judged, or not as the standard's figures suggest. */

import type {
  Check,
  JudgedRow,
  SecondLevelRow,
  SecondLevelVerdict,
} from '../../../sp800-22/src/index.ts';
import { countText } from './table.ts';
/** Returns notes beside a row: a check that is not judged or reduced, or its probability where P-value_T misleads. */
export function rowNotes(row: JudgedRow): string[] {
  const { proportionCheck, uniformityCheck, uniform, uniformityP, passed } = row;
  const notes: string[] = [];
  if (!proportionCheck.judged) notes.push('proportion not judged');
  else notes.push(...reducedNotes('proportion', proportionCheck));
  if (!uniformityCheck.judged) notes.push('uniformity not judged');
  else notes.push(...reducedNotes('uniformity', uniformityCheck));
  if (!uniformityCheck.judged) return notes;
  if (passed && !uniform && uniformityCheck.p !== uniformityP) {
    notes.push(`uniformity p = ${uniformityCheck.p.toPrecision(2)}`);
  }
  return notes;
}

function reducedNotes(what: string, { limit }: { readonly limit?: number }): string[] {
  return limit === undefined ? [] : [`${what} as of ${countText(limit)}`];
}

/** Returns one text for each reason and each limit, with the rows that it concerns. */
export function notJudgedTexts({ rows }: SecondLevelVerdict): string[] {
  const texts = new Map<string, Note & { tests: Map<string, number> }>();
  for (const row of rows.filter(({ sequences }) => sequences > 0)) {
    for (const note of notesOf(row)) {
      const key = `${note.what} ${note.reason}`;
      const text = texts.get(key) ?? { ...note, tests: new Map<string, number>() };
      text.tests.set(row.test, (text.tests.get(row.test) ?? 0) + 1);
      texts.set(key, text);
    }
  }
  return [...texts.values()].map(({ what, reason, tests }) => {
    const names = [...tests].map(([test, count]) => testText(test, count, rows));
    return `${what} of ${names.join(', ')}; ${reason}.`;
  });
}

interface Note {
  readonly what: string;
  readonly reason: string;
}

function notesOf(row: SecondLevelRow): Note[] {
  if (!row.judged) return [{ what: 'Not judged: proportion and uniformity', reason: row.reason }];
  return [
    ...checkNotes('proportion', row.proportionCheck),
    ...checkNotes('uniformity', row.uniformityCheck),
  ];
}

function checkNotes(name: string, check: Check): Note[] {
  if (!check.judged) return [{ what: `Not judged: ${name}`, reason: check.reason }];
  if (check.limit === undefined) return [];
  const what = `As of ${countText(check.limit)}, with counts in proportion: ${name}`;
  return [{ what, reason: 'the distribution of its p-values is not known well enough for more' }];
}

function testText(test: string, count: number, rows: readonly SecondLevelRow[]): string {
  return rows.filter((row) => row.test === test).length === 1
    ? test
    : `${test} (${countText(count, 'row')})`;
}
