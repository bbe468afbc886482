/** The forms that the commands that assess read: the table of `docs/statistical-tests.md`. */
import { FORMS } from '../../../packages/lab/src/index.ts';
import { type Part, partOfPage, tableText } from './part.ts';

const HEAD = ['`--format`', 'Reads', 'A sample for `assess-entropy`'];

export function formParts(): Part[] {
  const rows = FORMS.map(({ syntax, reads, sample }) => [
    syntax
      .split(', ')
      .map((name) => `\`${name.replaceAll('|', '\\|')}\``)
      .join(', '),
    reads,
    sample,
  ]);
  return [partOfPage('docs/statistical-tests.md', 'forms', tableText(HEAD, rows))];
}
