/** The parts of the pages that come from the code are those that `npm run docs` writes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readApi } from '../scripts/docs/tables/api.ts';
import { allParts, readGeneratedFiles } from '../scripts/docs/tables/index.ts';
import { withPart } from '../scripts/docs/tables/part.ts';

/** More words in a cell make a table that nobody reads. */
const MAX_WORDS = 39;

const api = await readApi();
const files = await readGeneratedFiles();

/** Says at which line a file differs from what the code says. */
function staleText(file: string, found: string, expected: string): string {
  const [was, should] = [found.split('\n'), expected.split('\n')];
  const line = should.findIndex((text, i) => text !== was[i]);
  const at = line === -1 ? should.length : line;
  const part = was.slice(0, at).findLast((text) => text.startsWith('<!-- begin: '));
  const place = `${file}:${at + 1}${part ? `, after ${part},` : ''}`;
  return `${place} is stale: run "npm run docs"\n- ${was[at] ?? ''}\n+ ${should[at] ?? ''}`;
}

describe('the generated parts', () => {
  for (const { file, found, expected } of files) {
    it(`of ${file} are up to date`, () => {
      // The texts have up to thousands of lines, so the message shows the first that differs.
      assert.ok(found === expected, staleText(file, found, expected));
    });
  }

  it('have cells of fewer than 40 words', async () => {
    const cells = (await allParts(api))
      .filter(({ file }) => file.endsWith('.md'))
      .flatMap(({ text }) => text.split('\n').flatMap((line) => line.split(/(?<!\\)\|/)));
    assert.ok(cells.length > 100);
    assert.deepEqual(
      cells.filter((cell) => cell.trim().split(/\s+/).length > MAX_WORDS),
      [],
    );
  });

  it('replace what is between their marks, and nothing else', () => {
    const part = { file: 'page.md', after: ['two', '<'], before: '>', text: 'new' };
    assert.equal(withPart('one <1> two <2> <3>', part), 'one <1> two <new> <3>');
    assert.throws(() => withPart('one <1>', part), /page\.md lacks "two"/);
    assert.throws(() => withPart('two <1', part), /page\.md lacks ">"/);
  });
});
