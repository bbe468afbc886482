/** The search field of every page. The index is loaded when a reader first goes to the field. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Result } from './search.ts';

type Search = (query: string) => readonly Result[];

const ENTRY = 'search-entry-';

export function SearchBox({ root }: { readonly root: URL }) {
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [chosen, choose] = useState(0);
  const { search, hasFailed, load } = useIndex(root);
  useSlash(field);
  useEffect(() => {
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !box.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, []);
  const results = search && query.trim() !== '' ? search(query) : [];
  const isShown = isOpen && query.trim() !== '';
  const at = Math.min(chosen, results.length - 1);
  const move = (step: number) => {
    if (results.length === 0) return;
    const next = (at + step + results.length) % results.length;
    choose(next);
    document.getElementById(`${ENTRY}${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && results[at]) go(root, results[at].url, () => setOpen(false));
    else if (event.key === 'Escape' && isShown) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="search-box" ref={box}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label="Search the documentation"
        aria-expanded={isShown}
        aria-controls="search-results"
        aria-autocomplete="list"
        aria-activedescendant={isShown && results.length > 0 ? `${ENTRY}${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Search (press /)"
        value={query}
        onFocus={() => {
          load();
          setOpen(true);
        }}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          choose(0);
          setOpen(true);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="search-results" hidden={!isShown}>
        <div id="search-results" role="listbox" aria-label="Results" tabIndex={-1}>
          {isShown &&
            results.map((result, place) => (
              <Entry
                key={result.url}
                {...{ result, place }}
                isChosen={place === at}
                open={() => go(root, result.url, () => setOpen(false))}
              />
            ))}
        </div>
        <p role="status">{isShown ? saying(search !== null, hasFailed, results.length) : ''}</p>
      </div>
    </div>
  );
}

interface EntryProps {
  readonly result: Result;
  readonly place: number;
  readonly isChosen: boolean;
  readonly open: () => void;
}

function Entry({ result, place, isChosen, open }: EntryProps) {
  const { title, page, kind, start } = result;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and has the keys of the list
    <div
      id={`${ENTRY}${place}`}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      onClick={open}
    >
      <span class="kind">{kind}</span> <strong>{title}</strong>
      {page === title ? null : <span class="page">{page}</span>}
      <span class="start">{start}</span>
    </div>
  );
}

function saying(isLoaded: boolean, hasFailed: boolean, count: number): string {
  if (hasFailed) return 'The search index could not be loaded. Reload the page to try again.';
  if (!isLoaded) return 'Loading the search index …';
  if (count === 0) return 'Nothing found. Try another word.';
  return count === 1 ? '1 result' : `${count} results. Arrow keys choose, Enter opens.`;
}

/** Opens a result. On the same page only the place changes, so the list must close. */
function go(root: URL, url: string, close: () => void): void {
  close();
  location.assign(new URL(url, root));
}

/** Moves the focus to the field when the reader presses `/` outside of a field. */
function useSlash(field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest('input, textarea, select')) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, [field]);
}

/** Returns the search once its index is loaded, and what starts the loading. */
function useIndex(root: URL) {
  const [search, setSearch] = useState<Search | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const isLoading = useRef(false);
  const load = async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    try {
      const { loadSearch } = await import('./search.ts');
      const loaded = await loadSearch(root);
      setSearch(() => loaded);
    } catch {
      setFailed(true);
    }
  };
  return { search, hasFailed, load: () => void load() };
}
