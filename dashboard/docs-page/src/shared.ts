/** What all requests of the page share, in memory only: it is gone when the reader leaves the page. */
import { useEffect, useState } from 'preact/hooks';
import type { FoundServer } from './server.ts';
import type { Caller, Language } from './snippets.ts';

/** Values of an answer that later requests need. */
export interface LastKey {
  readonly keyId: string;
  /** Absent for sealed keys. */
  readonly key?: string;
  readonly hashProof?: string;
  readonly keyCommitment?: string;
}

export interface SharedState {
  /** Null: the page did not come from a server. */
  readonly server: FoundServer | null;
  /** The reader's own API key; empty: the demo key, if there is one. */
  readonly apiKey: string;
  readonly language: Language;
  readonly lastKey: LastKey | null;
}

const LOCAL = 'http://127.0.0.1:8080';

class Shared {
  #state: SharedState = { server: null, apiKey: '', language: 'curl', lastKey: null };
  readonly #listeners = new Set<(state: SharedState) => void>();

  get state(): SharedState {
    return this.#state;
  }

  change(part: Partial<SharedState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener(this.#state);
  }

  listen(listener: (state: SharedState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export const shared: Shared = new Shared();

export function useShared(): SharedState {
  const [state, setState] = useState(shared.state);
  useEffect(() => shared.listen(setState), []);
  return state;
}

/** Returns the caller that programs name. The reader's own API key appears in no program. */
export function shownCaller({ server, apiKey }: SharedState): Caller {
  const demoKey = apiKey === '' ? (server?.demoKey ?? null) : null;
  return { address: server?.address ?? LOCAL, apiKey: demoKey };
}

/** Returns the API key that requests carry; empty if there is none. */
export function sentKey({ server, apiKey }: SharedState): string {
  return apiKey === '' ? (server?.demoKey ?? '') : apiKey;
}
