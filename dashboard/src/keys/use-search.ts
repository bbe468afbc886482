/** Searches for the keys of a query, as the list needs them. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../session.tsx';
import { hashOf, type KeyQuery, toListQuery } from './query.ts';
import { type Found, type GetPage, search } from './search.ts';

export interface KeySearch {
  /** Undefined before the first answer. */
  readonly found: Found | undefined;
  /** True if `found` belongs to an earlier query. */
  readonly isStale: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  /** Searches on from what was found. After an error it repeats the failed call. */
  proceed(): void;
  /** Starts again. */
  reload(): void;
}

interface State {
  readonly found: Found | undefined;
  /** Hash of the query that `found` belongs to. */
  readonly of: string;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const NOTHING: State = { found: undefined, of: '', isLoading: true, error: undefined };

/** Searches at once and whenever the query changes. What was found for the query before stays until the first answer. */
export function useKeySearch(query: KeyQuery): KeySearch {
  const { call } = useSession();
  const [state, setState] = useState(NOTHING);
  const running = useRef<AbortController | undefined>(undefined);
  const hash = hashOf(query);
  const wanted = useRef(query);
  wanted.current = query;

  const start = useCallback(
    async (from: Found) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      const of = hashOf(wanted.current);
      const list = toListQuery(wanted.current);
      setState((before) => ({ ...before, isLoading: true, error: undefined }));
      const getPage: GetPage = (cursor, limit) =>
        call((client) =>
          client.keyPage({ ...list, limit, ...(cursor !== null && { cursor }) }, { signal }),
        );
      try {
        await search(from, getPage, (found) => {
          if (!signal.aborted) setState((before) => ({ ...before, found, of }));
        });
        if (!signal.aborted) setState((before) => ({ ...before, isLoading: false }));
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, isLoading: false, error }));
      }
    },
    [call],
  );

  const reload = useCallback(
    () => void start({ keys: [], next: wanted.current.cursor || null }),
    [start],
  );
  useEffect(() => {
    reload();
    return () => running.current?.abort();
  }, [reload, hash]);

  const isStale = state.of !== hash;
  const proceed = () => {
    if (isStale || !state.found) reload();
    else void start(state.found);
  };
  return { ...state, isStale, proceed, reload };
}
