/** Loads data for views. A reload or an error keeps the data that is shown. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Time at which `data` arrived, in milliseconds of the page's clock. */
  readonly at: number | undefined;
  reload(): void;
}

/** Loads at once and whenever `work` changes, and aborts the obsolete load. `work` must be memoised. */
export function useLoad<T>(work: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
    at: undefined,
  });
  const running = useRef<AbortController | undefined>(undefined);

  const reload = useCallback(() => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setState((before) => ({ ...before, isLoading: true }));
    work(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        setState({ data, error: undefined, isLoading: false, at: Date.now() });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
  }, [work]);

  useEffect(() => {
    reload();
    return () => running.current?.abort();
  }, [reload]);

  return { ...state, reload };
}

/** Calls `action` every `milliseconds` while `isOn` is true and the page is visible. */
export function useInterval(action: () => void, milliseconds: number, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') action();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [action, milliseconds, isOn]);
}

/** Returns the page's clock in milliseconds, renewed every `milliseconds` while `isOn` is true. */
export function useNow(milliseconds: number, isOn = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds, isOn]);
  return now;
}
