/**
 * The API key of this page and its last known limits. Both exist only in memory: nothing is written to storage, cookies or
 * the address. Only if the reader asks for it, the session storage of this tab keeps the API key for a reload.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Limits, makeClient, PhmApiError, type PhmClient, PhmConnectionError } from './api.ts';
import { useHealth } from './health.tsx';

/** Limits, and the time of the answer that they come from: milliseconds of the page's clock. */
interface KnownLimits extends Limits {
  readonly at: number;
}

interface Session {
  /** Last characters of the API key in use; undefined without one. */
  readonly ending: string | undefined;
  readonly limits: KnownLimits | undefined;
  /** Counts changes of the API key. Views use it as their key, so data loaded under an API key is dropped with it. */
  readonly generation: number;
  /** True while the page tries the API key that the tab kept over a reload. */
  readonly isRestoring: boolean;
  /** Tries an API key with an unmetered call. Keeps it if the call succeeds, over a reload if `isKept`; otherwise rejects. */
  connect(apiKey: string, isKept: boolean): Promise<void>;
  forget(): void;
  /** Makes one call with the API key. Keeps the limits of its answer, also if it fails. */
  call<T>(work: (client: PhmClient) => Promise<T>): Promise<T>;
}

const SHOWN_CHARACTERS = 4;

/** Name in the session storage of this tab. */
const STORED = 'phm-api-key';

const Context = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error('useSession() outside of SessionProvider');
  return session;
}

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const latestHealth = useHealth();
  const health = useRef(latestHealth);
  health.current = latestHealth;
  const client = useRef<PhmClient | undefined>(undefined);
  const [ending, setEnding] = useState<string>();
  const [limits, setLimits] = useState<KnownLimits>();
  const [generation, setGeneration] = useState(0);

  const observe = useCallback(async <T,>(used: PhmClient, work: Promise<T>): Promise<T> => {
    try {
      const answer = await work;
      // The server is back, but the page still shows it as gone.
      if (health.current.error !== undefined) health.current.reload();
      return answer;
    } catch (error) {
      if (error instanceof PhmConnectionError) health.current.reload();
      throw error;
    } finally {
      const { lastLimits } = used;
      if (client.current === used && lastLimits) setLimits({ ...lastLimits, at: Date.now() });
    }
  }, []);

  const connect = useCallback(
    async (apiKey: string, isKept: boolean) => {
      const candidate = makeClient(apiKey);
      await observe(candidate, candidate.metrics({ hours: 1 })).catch(acceptScoped);
      client.current = candidate;
      if (isKept) sessionStorage.setItem(STORED, apiKey);
      else sessionStorage.removeItem(STORED);
      setEnding(apiKey.slice(-SHOWN_CHARACTERS));
      if (candidate.lastLimits) setLimits({ ...candidate.lastLimits, at: Date.now() });
      setGeneration((value) => value + 1);
    },
    [observe],
  );

  const forget = useCallback(() => {
    client.current = undefined;
    sessionStorage.removeItem(STORED);
    setEnding(undefined);
    setLimits(undefined);
    setGeneration((value) => value + 1);
  }, []);

  const call = useCallback(
    <T,>(work: (used: PhmClient) => Promise<T>): Promise<T> => {
      const used = client.current;
      if (!used) return Promise.reject(new Error('there is no API key'));
      return observe(used, work(used));
    },
    [observe],
  );

  const [isRestoring, setRestoring] = useState(() => sessionStorage.getItem(STORED) !== null);
  useEffect(() => {
    const stored = sessionStorage.getItem(STORED);
    if (stored === null) return;
    connect(stored, true)
      .catch((error) => {
        if (error instanceof PhmApiError && error.status === 401) sessionStorage.removeItem(STORED);
      })
      .finally(() => setRestoring(false));
  }, [connect]);

  const session = useMemo(
    () => ({ ending, limits, generation, isRestoring, connect, forget, call }),
    [ending, limits, generation, isRestoring, connect, forget, call],
  );
  return <Context.Provider value={session}>{children}</Context.Provider>;
}

/** Ignores that a valid API key lacks the scope of the call that tried it. Throws every other error. */
function acceptScoped(error: unknown): void {
  if (!(error instanceof PhmApiError) || error.code !== 'insufficient_scope') throw error;
}
