/** Listens to `AbortSignal`s that many calls share. */

interface Listening {
  /** What to do when the signal is aborted. */
  readonly works: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Each signal has one listener of this client: Node warns of the eleventh, and to remove one takes a time that grows with
 * their number.
 */
const LISTENING = new WeakMap<AbortSignal, Listening>();

/** Calls `work` when the signal is aborted; the result ends this. `work` must be new for each call. */
export function onAbort(signal: AbortSignal | undefined | null, work: () => void): () => void {
  if (signal === undefined || signal === null) return () => undefined;
  const { works, listener } = LISTENING.get(signal) ?? listen(signal);
  works.add(work);
  return () => {
    if (!works.delete(work) || works.size > 0) return;
    LISTENING.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function listen(signal: AbortSignal): Listening {
  const works = new Set<() => void>();
  const listener = (): void => {
    LISTENING.delete(signal);
    for (const work of works) {
      works.delete(work);
      work();
    }
  };
  const listening = { works, listener };
  LISTENING.set(signal, listening);
  signal.addEventListener('abort', listener, { once: true });
  return listening;
}
