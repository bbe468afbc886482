/**
 * Custody of the generated key. It lives above the views, in memory alone: changing the view does not drop a
 * key that has no copy, or one that is on its way. Nothing drops such a key before the reader has agreed.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { GeneratedKey } from '../api.ts';
import { useSession } from '../session.tsx';
import { type Order, toRequest } from './form.tsx';
import { LossDialog } from './loss-dialog.tsx';

/** A key with what only this page knows of it. */
export interface Made {
  readonly answer: GeneratedKey;
  readonly order: Order;
  readonly roundTripMs: number;
}

interface State {
  readonly made: Made | undefined;
  /** Whether the key was copied or downloaded. */
  readonly hasCopy: boolean;
  readonly isWorking: boolean;
  readonly error: unknown;
}

export interface Custody extends State {
  /** Generates a key, which replaces the one before when it has arrived. Asks first if that one has no copy. */
  generate(order: Order): void;
  /** Notes a copy of the key with this id. The clipboard may answer when another key is shown. */
  noteCopy(id: string): void;
  /** Drops the key. Asks first if it has no copy. */
  forget(): void;
  /** Drops the API key with everything made under it. Asks first if a key would be lost. */
  forgetApiKey(): void;
  /** Drops what the view need not keep: a key that has a copy, and an error that was read. */
  leaveView(): void;
}

/** What the reader wants to do, as the question names it. */
export type Loss = 'replace' | 'forget' | 'forget-api-key';

interface Question {
  readonly loss: Loss;
  proceed(): void;
}

const EMPTY: State = { made: undefined, hasCopy: false, isWorking: false, error: undefined };

const Context = createContext<Custody | undefined>(undefined);

export function useCustody(): Custody {
  const custody = useContext(Context);
  if (!custody) throw new Error('useCustody() outside of CustodyProvider');
  return custody;
}

export function CustodyProvider({ children }: { children: ComponentChildren }) {
  const { forget: endSession } = useSession();
  const { state, setState, start, drop } = useGeneration();
  const [question, setQuestion] = useState<Question>();
  const { made, hasCopy, isWorking } = state;
  const isUncopied = made !== undefined && !hasCopy;
  const id = idOf(state);
  useUnloadQuestion(isUncopied || isWorking);

  const actions = useMemo(() => {
    const ask = (loss: Loss, isAtRisk: boolean, proceed: () => void) =>
      isAtRisk ? setQuestion({ loss, proceed }) : proceed();
    return {
      generate: (order: Order) => {
        if (!isWorking) ask('replace', isUncopied, () => void start(order));
      },
      forget: () =>
        ask('forget', isUncopied, () => {
          setState((before) => (idOf(before) === id ? { ...before, made: undefined } : before));
          // The button that was pressed goes with the key: the focus needs another place.
          document.querySelector<HTMLElement>('h1')?.focus();
        }),
      forgetApiKey: () =>
        ask('forget-api-key', isUncopied || isWorking, () => {
          drop();
          endSession();
        }),
    };
  }, [id, isUncopied, isWorking, start, drop, endSession, setState]);

  const noteCopy = useCallback(
    (copied: string) =>
      setState((before) => (idOf(before) === copied ? { ...before, hasCopy: true } : before)),
    [setState],
  );
  const leaveView = useCallback(() => setState(withoutCopied), [setState]);

  const custody = useMemo(
    () => ({ ...state, ...actions, noteCopy, leaveView }),
    [state, actions, noteCopy, leaveView],
  );
  const answer = (isAgreed: boolean) => {
    setQuestion(undefined);
    if (isAgreed) question?.proceed();
  };
  return (
    <Context.Provider value={custody}>
      {children}
      {question && (
        <LossDialog
          loss={question.loss}
          isUncopied={isUncopied}
          isWorking={isWorking}
          onAnswer={answer}
        />
      )}
    </Context.Provider>
  );
}

/** One generate call at a time. What was there before stays until the answer has come. */
function useGeneration() {
  const { call } = useSession();
  const [state, setState] = useState(EMPTY);
  const running = useRef<AbortController | undefined>(undefined);

  const start = useCallback(
    async (order: Order) => {
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      setState((before) => ({ ...before, isWorking: true, error: undefined }));
      const from = performance.now();
      try {
        const answer = await call((client) => client.generate(toRequest(order), { signal }));
        const made = { answer, order, roundTripMs: performance.now() - from };
        if (!signal.aborted) setState({ ...EMPTY, made });
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, isWorking: false, error }));
      }
    },
    [call],
  );
  const drop = useCallback(() => {
    running.current?.abort();
    setState(EMPTY);
  }, []);
  useLayoutEffect(() => () => running.current?.abort(), []);
  return { state, setState, start, drop };
}

function idOf({ made }: State): string | undefined {
  return made?.answer.key_id;
}

function withoutCopied(state: State): State {
  const made = state.hasCopy ? undefined : state.made;
  return { ...state, made, error: undefined };
}

/** The browser asks before the page is left, in words of its own. */
function useUnloadQuestion(isAtRisk: boolean): void {
  useLayoutEffect(() => {
    if (!isAtRisk) return undefined;
    const ask = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isAtRisk]);
}
