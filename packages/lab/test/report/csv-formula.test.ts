/** A name or a note in the CSV is never a formula of a spreadsheet. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assess } from '../../src/index-node.ts';
import '../../../sp800-22/src/index-node.ts';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';

/** The fields of a line by RFC 4180. */
function fieldsOf(line: string): string[] {
  const fields = line.match(/(?:^|,)(?:"(?:[^"]|"")*"|[^",]*)/g) ?? [];
  return fields.map((field) =>
    field
      .replace(/^,/, '')
      .replace(/^"(.*)"$/s, '$1')
      .replaceAll('""', '"'),
  );
}

const NAMES = [
  '=HYPERLINK("http://x.example/";"open").bin',
  'x,=1+1',
  'x;=1+1',
  '"=1+1',
  'x",=cmd|"/C calc"!A0',
  '+1',
  '-1',
  '@SUM(1)',
  ' =1',
  '\uff1d1+1',
];

for (const name of NAMES) {
  test(`no field of the CSV begins like a formula: ${name}`, async () => {
    let csv = '';
    const write = { csv: (text: string) => (csv += text) };
    const report = { note: name };
    await assess(aesCtr(Buffer.alloc(32, 3), 125), { name, report, write, bits: 1000, workers: 0 });
    const lines = csv.trimEnd().split('\n');
    const trace = lines.filter((line) => line.startsWith('#')).map(fieldsOf);
    assert.ok(trace.length > 5);
    for (const fields of trace) {
      assert.equal(fields.length, 2);
      for (const field of fields) assert.doesNotMatch(field, /^\s*[=+\-@\uff1d]/);
    }
    const value = trace.find(([first]) => first === '# Input')?.[1] ?? '';
    assert.equal(value.replace(/^'/, ''), name);
  });
}
