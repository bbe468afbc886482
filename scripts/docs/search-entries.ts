/** The search index of the site, made from the sections of all pages. */
import MiniSearch from 'minisearch';
import { type Entry, INDEX_OPTIONS } from '../../dashboard/docs-page/src/search-index.ts';
import type { Section } from './markdown.ts';

interface IndexedPage {
  readonly output: string;
  readonly title: string;
  readonly group: string;
  readonly sections: readonly Section[];
}

/** Words of a text that a result shows. */
const START_CHARACTERS = 140;

/** What the sections of a group are called in results. */
const KINDS: Readonly<Record<string, string>> = {
  Start: 'Start',
  Guides: 'Guide',
  Reference: 'Reference',
  Explanation: 'Explanation',
  Evidence: 'Evidence',
  Operate: 'Operate',
};

/** Pages with kinds of their own: for a row of a table, or for the whole page. */
const ROWS: Readonly<Record<string, string>> = {
  'errors.html': 'Error',
  'configuration.html': 'Setting',
};
const PAGES: Readonly<Record<string, string>> = {
  'reference.html': 'Operation',
  'questions.html': 'Question',
  'changelog.html': 'Changelog',
};

export function searchIndexText(pages: readonly IndexedPage[]): string {
  const index = new MiniSearch<Entry>(INDEX_OPTIONS);
  const entries = pages.flatMap(entriesOf);
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return JSON.stringify(index);
}

function entriesOf({ output, title, group, sections }: IndexedPage): Omit<Entry, 'id'>[] {
  return sections
    .filter(({ isRow }) => !isRow || ROWS[output] !== undefined)
    .map((section, place) => ({
      title: section.title,
      page: title,
      // The first heading is the page itself.
      url: place === 0 && output !== 'reference.html' ? output : `${output}#${section.id}`,
      kind: (section.isRow ? ROWS[output] : PAGES[output]) ?? KINDS[group] ?? group,
      start: startOf(section.text),
      text: section.text,
    }));
}

function startOf(text: string): string {
  const words = text.replace(/\s+/g, ' ').trim();
  if (words.length <= START_CHARACTERS) return words;
  return `${words.slice(0, START_CHARACTERS).replace(/\s+\S*$/, '')} …`;
}
