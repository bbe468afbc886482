/** The pages name the columns of a key's row: docs/ledger.md all of them, docs/receipts.md those that the digest has. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LEDGER_COLUMNS, RECORDED_COLUMNS } from '../src/ledger/key-columns.ts';
import { codeBlocks, readPage } from './support/texts/markdown.ts';

it('docs/ledger.md shows a row with every column, in the order of the files', () => {
  const [row] = codeBlocks(readPage('docs/ledger.md'));
  const shown = [...(row?.code ?? '').matchAll(/^\w+/gm)].map(([name]) => name);
  // Files leave out the fingerprint, which follows from the commitment.
  const columns = LEDGER_COLUMNS.map(({ name }) => name);
  columns.splice(columns.indexOf('commitment'), 0, 'fingerprint');
  assert.deepEqual(shown, columns, 'docs/ledger.md: complete the row at the start of the page');
});

it('docs/receipts.md lists the columns that the row digest has', () => {
  const { text } = readPage('docs/receipts.md');
  const section = /### The row digest\n[\s\S]*?(?=\n## )/.exec(text)?.[0] ?? '';
  const cells = [...section.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  const listed = cells.flatMap((cell) => cell.match(/(?<=`)\w+(?=`)/g) ?? []);
  const digested = RECORDED_COLUMNS.filter(({ digest }) => digest !== 'never');
  assert.deepEqual(
    listed.sort(),
    digested.map(({ name }) => name).sort(),
    'docs/receipts.md: complete the table of "The row digest"',
  );
});
