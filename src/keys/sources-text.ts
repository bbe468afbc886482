/** The sources of a key as the ledger stores them, such as `os:256,jitter:12.5`. */
import type { SourceCredit } from '../entropy/index.ts';

/** Returns `name:bits` for each source, joined by commas. The numbers have ECMAScript's shortest form. */
export function formatSources(sources: readonly SourceCredit[]): string {
  return sources.map(({ name, creditBits }) => `${name}:${creditBits}`).join(',');
}

/** Returns names and credited bits of stored sources. Text that `formatSources` did not write gives other values. */
export function parseSources(text: string): { name: string; creditBits: number }[] {
  return text.split(',').map((part) => {
    const colon = part.lastIndexOf(':');
    return { name: part.slice(0, colon), creditBits: Number(part.slice(colon + 1)) };
  });
}
