/** The list of the account's keys: filters, table, and the way to older keys. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { count, dateTime, plural } from '../format.ts';
import { openHash } from '../use-route.ts';
import { Filters } from './filters.tsx';
import { Finder } from './finder.tsx';
import { activeFilters, hashOf, type KeyQuery, searchedBackTo } from './query.ts';
import { RevokeSelected } from './revoke-selected.tsx';
import { type Found, PAGE_KEYS } from './search.ts';
import { canRevoke, KeyTable } from './table.tsx';
import { type KeySearch, useKeySearch } from './use-search.ts';
import { useYearlyKeys } from './use-total.ts';

interface KeyListProps {
  readonly query: KeyQuery;
  /** ID of the key whose record is open, or empty. */
  readonly openId: string;
  /** Returns the latest known record of a key. */
  latest(key: KeyInfo): KeyInfo;
  /** Notes the latest record. */
  onRecord(info: KeyInfo): void;
}

export function KeyList({ query, openId, latest, onRecord }: KeyListProps) {
  const search = useKeySearch(query);
  const { found, isStale, isLoading, error, proceed, reload } = search;
  const heading = usePageFocus(query);
  const apply = (next: KeyQuery) => {
    if (hashOf(next) === hashOf(query)) reload();
    else openHash(hashOf(next));
  };
  const isFiltered = activeFilters(query).length > 0;
  const yearly = useYearlyKeys();
  const status = statusText(search, query, yearly.keys);
  const refresh = () => {
    reload();
    yearly.reload();
  };
  const keys = found?.keys.map(latest) ?? [];
  const { selected, select } = useSelection(hashOf(query));
  const chosen = isStale ? [] : keys.filter((info) => selected.has(info.key_id) && canRevoke(info));
  return (
    <>
      <section class="panel" aria-label="Search">
        <Finder query={query} onApply={apply} />
        <Filters query={query} onApply={apply} />
      </section>
      <section class="panel keys-panel" aria-labelledby="keys-title">
        <header class="row">
          <h2 id="keys-title" ref={heading} tabIndex={-1}>
            {isFiltered ? 'Keys found' : query.cursor === '' ? 'Newest keys' : 'Older keys'}
          </h2>
          <p class="note" role="status">
            {status}
          </p>
        </header>
        <RevokeSelected keys={chosen} onRevoked={onRecord}>
          <button type="button" aria-disabled={isLoading} onClick={refresh}>
            Refresh
          </button>
        </RevokeSelected>
        {keys.length > 0 && (
          <div class={isStale ? 'stale' : undefined}>
            <KeyTable keys={keys} openId={openId} selected={selected} onSelect={select} />
          </div>
        )}
        {found && !isStale && found.keys.length === 0 && found.next === null && (
          <NoKeys isFiltered={isFiltered} isOlder={query.cursor !== ''} />
        )}
        {error !== undefined && <Notice error={error} retry={proceed} />}
        <Onward query={query} search={search} />
      </section>
    </>
  );
}

/** The selected keys of a list, by their IDs. Another list begins with none. */
function useSelection(list: string) {
  const [state, setState] = useState({ list, selected: new Set<string>() });
  const selected: ReadonlySet<string> = state.list === list ? state.selected : new Set();
  const select = (ids: readonly string[], isSelected: boolean) => {
    const given = new Set(ids);
    const others = [...selected].filter((id) => !given.has(id));
    setState({ list, selected: new Set(isSelected ? [...others, ...ids] : others) });
  };
  return { selected, select };
}

/**
 * Returns how far the search has come. Only a list that is whole says how many keys there are: the service does not count
 * records. It counts what was generated in a year.
 */
function statusText(
  { found, isStale, isLoading, error }: KeySearch,
  query: KeyQuery,
  yearlyKeys: number | undefined,
): string {
  if (!found || isStale) return error === undefined ? 'Searching…' : '';
  const isFiltered = activeFilters(query).length > 0;
  const isWhole = found.next === null && query.cursor === '';
  const shown = plural(found.keys.length, 'key');
  const back = found.next === null ? undefined : searchedBackTo(found.next);
  const isFull = found.keys.length >= PAGE_KEYS;
  if (isFull && !isFiltered && query.cursor === '' && found.next !== null) {
    const generated =
      yearlyKeys === undefined ? '' : `; ${count(yearlyKeys)} generated in the last year`;
    return `${found.keys.length} of more than ${shown}${generated}`;
  }
  if (back === undefined || (isFull && !isFiltered))
    return isWhole ? shown : `${shown} on this page`;
  return `${shown}, ${isLoading ? 'searching' : 'searched'} back to ${dateTime(back)}`;
}

interface NoKeysProps {
  readonly isFiltered: boolean;
  readonly isOlder: boolean;
}

function NoKeys({ isFiltered, isOlder }: NoKeysProps) {
  if (isOlder) return <p>No older key{isFiltered && ' meets these filters'}.</p>;
  if (isFiltered) return <p>No key of this account meets these filters.</p>;
  return (
    <p>
      This account has no keys yet. <a href="#/generate">Generate one</a>.
    </p>
  );
}

interface OnwardProps {
  readonly query: KeyQuery;
  readonly search: KeySearch;
}

/** Leads to older keys, back to the newest, or on with a search that has not filled its page. */
function Onward({ query, search: { found, isStale, isLoading, proceed } }: OnwardProps) {
  if (!found || isStale) return null;
  const { next } = found;
  const isFull = found.keys.length >= PAGE_KEYS;
  return (
    <div class="actions onward">
      {query.cursor !== '' && <a href={hashOf({ ...query, cursor: '' })}>Newest keys</a>}
      {next !== null && isFull && (
        <a class="button" href={hashOf({ ...query, cursor: next })}>
          Older keys
        </a>
      )}
      {next !== null && !isFull && (
        <SearchOn found={found} isLoading={isLoading} onClick={proceed} />
      )}
      {next === null && found.keys.length > 0 && (
        <p class="note">No older keys{activeFilters(query).length > 0 && ' meet these filters'}.</p>
      )}
    </div>
  );
}

interface SearchOnProps {
  readonly found: Found;
  readonly isLoading: boolean;
  onClick(): void;
}

function SearchOn({ found: { keys }, isLoading, onClick }: SearchOnProps) {
  const button = useRef<HTMLButtonElement>(null);
  /** The button disappears when the search ends, so the focus must move. */
  useLayoutEffect(() => {
    const shown = button.current;
    return () => {
      if (shown === document.activeElement) document.getElementById('keys-title')?.focus();
    };
  }, []);
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-disabled={isLoading}
        onClick={() => !isLoading && onClick()}
      >
        {isLoading ? 'Searching…' : 'Search further back'}
      </button>
      <p class="note">
        {keys.length === 0 ? 'No key found yet. ' : ''}Filters look at a part of the keys at a time.
      </p>
    </>
  );
}

/** Returns a ref for the heading of the list. It gets the focus when the reader opens another page of the list. */
function usePageFocus({ cursor }: KeyQuery): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(cursor);
  useLayoutEffect(() => {
    if (shown.current !== cursor) heading.current?.focus();
    shown.current = cursor;
  }, [cursor]);
  return heading;
}
