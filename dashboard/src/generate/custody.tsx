/**
 * Custody of the generated key. It lives above the views, in memory only: a change of view drops neither a key
 * without a copy nor a call in progress. Only the reader's consent does.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { GeneratedKey, GeneratedSealedKey, PhmClient } from '../api.ts';
import { useSession } from '../session.tsx';
import { LossDialog } from './loss-dialog.tsx';
import { type Order, toRequest } from './order.ts';

/** An answer with a key: in plaintext, or sealed, and then without `key`, `hash_proof` and `opening`. */
export type Answer = Omit<GeneratedKey, 'key' | 'hash_proof'> &
  Partial<Pick<GeneratedKey, 'key' | 'hash_proof'>> &
  Partial<Pick<GeneratedSealedKey, 'sealed_key'>>;

/** A generated key, with its order and its round-trip time. */
export interface Made {
  readonly answer: Answer;
  readonly order: Order;
  readonly roundTripMs: number;
}

interface State {
  readonly made: Made | undefined;
  /** True if the key was copied or downloaded. */
  readonly hasCopy: boolean;
  readonly isWorking: boolean;
  readonly error: unknown;
}

export interface Custody extends State {
  /** Generates a key, which replaces the current one on arrival. Asks first if the current one has no copy. */
  generate(order: Order): void;
  /** Notes a copy of the key with this ID. The clipboard may answer after another key has arrived. */
  noteCopy(id: string): void;
  /** Adds the receipt for the key with this ID, which arrived later than the key. */
  noteReceipt(id: string, receipt: NonNullable<GeneratedKey['receipt']>): void;
  /** Drops the key. Asks first if it has no copy. */
  forget(): void;
  /** Drops the API key and everything generated under it. Asks first if a key would be lost. */
  forgetApiKey(): void;
  /** Drops the key if it has a copy, and the error. */
  leaveView(): void;
}

/** The reader's action that would lose a key. */
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
          // The pressed button disappears with the key, so the focus must move.
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
  const noteReceipt = useCallback(
    (of: string, receipt: NonNullable<GeneratedKey['receipt']>) =>
      setState((before) => (idOf(before) === of ? withReceipt(before, receipt) : before)),
    [setState],
  );
  const leaveView = useCallback(() => setState(withoutCopied), [setState]);

  const custody = useMemo(
    () => ({ ...state, ...actions, noteCopy, noteReceipt, leaveView }),
    [state, actions, noteCopy, noteReceipt, leaveView],
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

/** Makes one generate call at a time. The current key stays until the new one arrives. */
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
        const answer = await call((client) => ask(client, order, signal));
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

function ask(client: PhmClient, order: Order, signal: AbortSignal): Promise<Answer> {
  const request = toRequest(order, Date.now());
  return request.kind === 'sealed'
    ? client.generateSealed(request.body, { signal })
    : client.generate(request.body, { signal });
}

function idOf({ made }: State): string | undefined {
  return made?.answer.key_id;
}

function withReceipt(state: State, receipt: NonNullable<GeneratedKey['receipt']>): State {
  const { made } = state;
  return made ? { ...state, made: { ...made, answer: { ...made.answer, receipt } } } : state;
}

function withoutCopied(state: State): State {
  const made = state.hasCopy ? undefined : state.made;
  return { ...state, made, error: undefined };
}

/** Makes the browser ask, in its own words, before the reader leaves the page. */
function useUnloadQuestion(isAtRisk: boolean): void {
  useLayoutEffect(() => {
    if (!isAtRisk) return undefined;
    const ask = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isAtRisk]);
}
