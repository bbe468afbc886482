/** Notices a list of pages that does not end. */
import type { KeyList } from './types.ts';

/** Most empty pages in a row. The service reads 1,000 records for each, so these stand for 100 million. */
const MOST_EMPTY = 100_000;

export class Pages {
  readonly #cursors = new Set<string>();
  #empty = 0;

  /** `first` is the cursor of the first page, if it is not the first of the list. */
  constructor(first: string | null | undefined) {
    if (first !== undefined && first !== null) this.#cursors.add(first);
  }

  /** Names what is wrong with the next page; undefined if another may follow. */
  mismatch({ keys, next_cursor: next }: Pick<KeyList, 'keys' | 'next_cursor'>): string | undefined {
    if (new Set(keys.map(({ key_id: id }) => id)).size < keys.length) return '/keys repeats a key';
    this.#empty = keys.length === 0 ? this.#empty + 1 : 0;
    if (next === null) return undefined;
    if (this.#cursors.has(next))
      return '/next_cursor is of an earlier page, so the list has no end';
    if (this.#empty >= MOST_EMPTY) return `/keys is empty ${MOST_EMPTY} times in a row`;
    this.#cursors.add(next);
    return undefined;
  }
}
