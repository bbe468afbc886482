/** State of the server, read every 15 seconds while the page is visible. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Health, readHealth } from './api.ts';
import { type Loaded, useInterval, useLoad } from './load.ts';

const EVERY_MS = 15_000;

const Context = createContext<Loaded<Health> | undefined>(undefined);

export function useHealth(): Loaded<Health> {
  const health = useContext(Context);
  if (!health) throw new Error('useHealth() outside of HealthProvider');
  return health;
}

export function HealthProvider({ children }: { children: ComponentChildren }) {
  const health = useLoad(readHealth);
  useInterval(health.reload, EVERY_MS, true);
  return <Context.Provider value={health}>{children}</Context.Provider>;
}

export type ServerState = 'asking' | 'ok' | 'unavailable' | 'draining' | 'gone';

const WORDS: Readonly<Record<ServerState, string>> = {
  asking: 'Checking the server',
  ok: 'Server ready',
  unavailable: 'Server not ready',
  draining: 'Server is shutting down',
  gone: 'Server does not answer',
};

export function serverState({ data, error }: Loaded<Health>): ServerState {
  if (error) return 'gone';
  return data ? data.status : 'asking';
}

/** Returns the state of the server in a few words. */
export function useHealthWords(): string {
  return WORDS[serverState(useHealth())];
}

/** On a narrow screen, the state of a server that is not ready, while the menu is closed. */
export function ServerLight() {
  const state = serverState(useHealth());
  return state === 'ok' || state === 'asking' ? null : (
    <a class={`health ${state} server-light`} href="#/status">
      <span class="light" aria-hidden="true" />
      <span class="unseen">{WORDS[state]}</span>
    </a>
  );
}

export function HealthLink() {
  const state = serverState(useHealth());
  return (
    <a class={`health ${state}`} href="#/status">
      <span class="light" aria-hidden="true" />
      {WORDS[state]}
    </a>
  );
}
