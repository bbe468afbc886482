/** What the outputs of the suite write of each sequence, and the rows that identify a report. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { runPackedSuite, type SuiteReport } from '../../../sp800-22/src/index-node.ts';
import { makeOutput, type OutputKind } from '../../src/index-node.ts';
import { checkFields, fieldRows } from '../../src/report/identity.ts';
import { RunCounts } from '../../src/report/summary.ts';

const ONLY = { only: ['frequency', 'runs', 'cumulative_sums'] } as const;
const REPORTS = [1, 2].map((key) => runPackedSuite(aesCtr(Buffer.alloc(32, key), 1_000), ONLY));

function written(kind: OutputKind, reports: readonly SuiteReport[]): string {
  let text = '';
  const output = makeOutput(kind, (part) => {
    text += part;
  });
  const counts = new RunCounts(reports[0].tests.map(({ name }) => name));
  for (const report of reports) {
    output.add(report);
    counts.add(report);
  }
  output.end(counts.summary(true));
  return text;
}

describe('the CSV of a run', () => {
  it('has a line for each p-value of each sequence, with its label and its verdict', () => {
    const expected = REPORTS.flatMap(({ tests }, i) =>
      tests.flatMap((test) =>
        test.applicable
          ? test.pValues.map((p, j) => `${i + 1},${test.name},${j + 1},LABEL,${p},${p >= 0.01}`)
          : [],
      ),
    );
    const [heading, ...lines] = written('csv', REPORTS).trimEnd().split('\n');
    assert.equal(heading, 'sequence,test,index,label,p_value,passed');
    assert.equal(lines.length, 2 * 4);
    const labels = lines.map((line) => line.split(',')[3]);
    assert.deepEqual(labels.slice(0, 4), ['', 'forward', 'reverse', '']);
    assert.deepEqual(
      lines.map((line) => line.replace(/^((?:[^,]*,){3})[^,]*/, '$1LABEL')),
      expected,
    );
  });
});

describe('the JSON of a run', () => {
  it('is the report of one sequence, or a list with a summary', () => {
    assert.equal(JSON.parse(written('json', REPORTS.slice(0, 1))).tests.length, 3);
    const { sequences, summary } = JSON.parse(written('json', REPORTS));
    assert.equal(sequences.length, 2);
    assert.equal(summary.sequences, 2);
  });
});

describe('the JSON of the second level', () => {
  it('has these members, in this order', () => {
    const many = Array.from({ length: 60 }, (_, key) =>
      runPackedSuite(aesCtr(Buffer.alloc(32, key), 125), { only: ['frequency', 'rank'] }),
    );
    const { rows, ...rest } = JSON.parse(written('json', many)).summary.second_level;
    assert.equal(
      Object.keys(rest).join(),
      'judged,passed,family_alpha,checks,check_alpha,rows_judged,rows_failed,rows_outside_interval,expected_outside_interval,rows_not_uniform',
    );
    const counts = 'test,index,label,sequences,passes,histogram,judged';
    assert.deepEqual(
      rows.map((row: object) => Object.keys(row).join()),
      [
        `${counts},proportion,interval,in_interval,proportion_p,uniformity_p,uniform,proportion_check,uniformity_check,passed`,
        `${counts},reason`,
      ],
    );
  });
});

describe('the texts that name a report', () => {
  it('are rows in their order, and only those that are given', () => {
    assert.deepEqual(fieldRows(checkFields({ note: 'cold', laboratory: 'L', customer: '' })), [
      ['Laboratory', 'L'],
      ['Note', 'cold'],
    ]);
    assert.deepEqual(fieldRows({}), []);
  });
});
