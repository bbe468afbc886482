/** Texts on rows and checks of the second level that are not judged, or not as the standard's figures suggest. */
import type { Check, JudgedRow, SecondLevelRow, SecondLevelVerdict } from '../index.ts';
import { countText } from './table.ts';

/** Returns notes beside a row: an unjudged check, or its probability where P-value_T misleads. */
export function rowNotes(row: JudgedRow): string[] {
  const { proportionCheck, uniformityCheck, uniform, uniformityP, passed } = row;
  const notes: string[] = [];
  if (!proportionCheck.judged) notes.push('proportion not judged');
  if (!uniformityCheck.judged) notes.push('uniformity not judged');
  else if (passed && !uniform && uniformityCheck.p !== uniformityP) {
    notes.push(`uniformity p = ${uniformityCheck.p.toPrecision(2)}`);
  }
  return notes;
}

/** Returns one text for each reason, with the rows that it concerns. */
export function notJudgedTexts({ rows }: SecondLevelVerdict): string[] {
  const texts = new Map<string, { what: string; reason: string; tests: Map<string, number> }>();
  for (const row of rows.filter(({ sequences }) => sequences > 0)) {
    for (const [what, reason] of reasonsOf(row)) {
      const key = `${what} ${reason}`;
      const text = texts.get(key) ?? { what, reason, tests: new Map<string, number>() };
      text.tests.set(row.test, (text.tests.get(row.test) ?? 0) + 1);
      texts.set(key, text);
    }
  }
  return [...texts.values()].map(({ what, reason, tests }) => {
    const names = [...tests].map(([test, count]) => testText(test, count, rows));
    return `Not judged: ${what} of ${names.join(', ')}; ${reason}.`;
  });
}

function reasonsOf(row: SecondLevelRow): [what: string, reason: string][] {
  if (!row.judged) return [['proportion and uniformity', row.reason]];
  const checks: [string, Check][] = [
    ['proportion', row.proportionCheck],
    ['uniformity', row.uniformityCheck],
  ];
  return checks.flatMap(([what, check]): [string, string][] =>
    check.judged ? [] : [[what, check.reason]],
  );
}

function testText(test: string, count: number, rows: readonly SecondLevelRow[]): string {
  return rows.filter((row) => row.test === test).length === 1
    ? test
    : `${test} (${countText(count, 'row')})`;
}
