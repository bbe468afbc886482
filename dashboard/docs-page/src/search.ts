/** Loads the search index and asks it. */
import MiniSearch from 'minisearch';
import { type Entry, type Found, INDEX_OPTIONS, weightOf } from './search-index.ts';

export type Result = Found;

const MOST = 12;

export async function loadSearch(root: URL): Promise<(query: string) => readonly Result[]> {
  const answer = await fetch(new URL('assets/search.json', root));
  if (!answer.ok) throw new Error(`the search index answered ${answer.status}`);
  return searchOf(await answer.text());
}

/** Returns the search in the text of an index. All words must be there; if no place has them all, any. */
export function searchOf(text: string): (query: string) => readonly Result[] {
  const index = MiniSearch.loadJSON<Entry>(text, INDEX_OPTIONS);
  return (query) => {
    const options = {
      prefix: true,
      fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
      boost: { title: 4, page: 2 },
      boostDocument: (_id: number, _term: string, stored?: Record<string, unknown>) =>
        weightOf(stored?.kind),
    };
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const found = all.length > 0 ? all : index.search(query, options);
    return found.slice(0, MOST) as unknown as Result[];
  };
}
