/** What the outputs of the suite write of each sequence, and the rows that identify a report. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/aes-stream.ts';
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
  const counts = new RunCounts(ONLY.only);
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

describe('the texts that name a report', () => {
  it('are rows in their order, and only those that are given', () => {
    assert.deepEqual(fieldRows(checkFields({ note: 'cold', laboratory: 'L', customer: '' })), [
      ['Laboratory', 'L'],
      ['Note', 'cold'],
    ]);
    assert.deepEqual(fieldRows({}), []);
  });
});
