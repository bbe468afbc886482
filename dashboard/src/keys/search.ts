/**
 * Fills a page of the list. A call of the service reads at most 1,000 records, so a filter that few keys meet needs many
 * calls: the page makes some by itself, and more when the reader asks for them.
 */
import type { KeyInfo, KeyList } from '../api.ts';

/** Keys of a full page. */
export const PAGE_KEYS = 50;

/** Calls that the page makes before it asks the reader. */
export const CALLS_AT_ONCE = 10;

export interface Found {
  readonly keys: readonly KeyInfo[];
  /** Position from which the search goes on; null at the end of the account's keys. */
  readonly next: string | null;
}

/** Gets the page after a position, with at most `limit` keys. */
export type GetPage = (cursor: string | null, limit: number) => Promise<KeyList>;

/**
 * Searches on from what was found, until the page is full, the keys end, or `CALLS_AT_ONCE` calls were made. Reports what it
 * has after every call. Throws what a call throws.
 */
export async function search(
  found: Found,
  getPage: GetPage,
  report: (found: Found) => void,
): Promise<void> {
  let { keys, next } = found;
  for (let calls = 0; calls < CALLS_AT_ONCE; calls++) {
    const page = await getPage(next, PAGE_KEYS - keys.length);
    keys = [...keys, ...page.keys];
    next = page.next_cursor;
    report({ keys, next });
    if (next === null || keys.length >= PAGE_KEYS) return;
  }
}
