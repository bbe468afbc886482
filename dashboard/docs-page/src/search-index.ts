/** The search index: made by the build, read by the page. Both sides need the same options. */
import type { Options } from 'minisearch';

/** What a search finds: a part of a page, an operation, an error or a setting. */
export interface Found {
  readonly id: number;
  /** Heading, operation or name. */
  readonly title: string;
  /** Title of the page. */
  readonly page: string;
  /** Address below the root of the documentation. */
  readonly url: string;
  readonly kind: string;
  /** First words of the text. */
  readonly start: string;
}

/** An entry of the index with its whole text, which is not kept. */
export interface Entry extends Found {
  readonly text: string;
}

export const INDEX_OPTIONS: Options<Entry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'url', 'kind', 'start'],
  // Names as PHM_CORS_ORIGINS are found by their parts, and as a whole.
  tokenize: (text) =>
    text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
      const parts = word.split('_').filter((part) => part !== '');
      return parts.length > 1 ? [word, ...parts] : parts;
    }),
  // Without the figures of tables, which would be most of the index and answer no question.
  processTerm: (term) => (/^\d{5,}$|^[0-9a-f]{16,}$/i.test(term) ? null : stem(term.toLowerCase())),
};

/** Removes the endings of plurals and verbs, so that "rotate" finds "rotating". */
function stem(word: string): string {
  if (word.length < 5) return word;
  return word
    .replace(/(?:ies)$/, 'y')
    .replace(/(?:ations?|ating|ates?|ated)$/, 'at')
    .replace(/(?:ings?|ed|es|s|e)$/, '');
}

/** Pages that explain rank before those that record how they were measured, and before the history. */
const WEIGHT: Readonly<Record<string, number>> = {
  Question: 1.8,
  Guide: 1.6,
  Operation: 1.4,
  Error: 1.3,
  Setting: 1.2,
  Evidence: 0.5,
  Changelog: 0.3,
};

export function weightOf(kind: unknown): number {
  return WEIGHT[String(kind)] ?? 1;
}
