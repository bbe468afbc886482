/** Entry of the API key. Once it is accepted, the page shows only its last characters. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { findDemoKey, isSendable, PhmApiError } from './api.ts';
import { Notice } from './components/notice.tsx';
import { SecretField } from './components/secret-field.tsx';
import { count } from './format.ts';
import { useCustody } from './generate/custody.tsx';
import { useLoad } from './load.ts';
import type { Route } from './route.ts';
import { useSession } from './session.tsx';

/** Longest time that the form waits for the offer of the demo key, so that both appear together and nothing moves. */
const LONGEST_WAIT_MS = 1000;

interface Offer {
  /** Null if there is none, undefined while the page waits for the server. */
  readonly demoKey: string | null | undefined;
  /** True if the form was shown without the offer. */
  readonly isLate: boolean;
}

function useDemoOffer(): Offer {
  const { data, isLoading } = useLoad(findDemoKey);
  const [isWaiting, setWaiting] = useState(true);
  const isLate = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaiting(false), LONGEST_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  if (data === undefined && !isWaiting) isLate.current = true;
  const demoKey = data ?? (isLoading && isWaiting ? undefined : null);
  return { demoKey, isLate: isLate.current };
}

/** Tries one API key at a time with an unmetered call. */
function useAttempt() {
  const { connect } = useSession();
  const [isTrying, setTrying] = useState(false);
  const [failure, setFailure] = useState<{ error: unknown; apiKey: string }>();
  const attempt = async (apiKey: string, isKept: boolean) => {
    if (isTrying) return;
    setTrying(true);
    setFailure(undefined);
    try {
      await connect(apiKey, isKept);
    } catch (error) {
      setFailure({ error, apiKey });
      setTrying(false);
    }
  };
  return { isTrying, failure, attempt, clearFailure: () => setFailure(undefined) };
}

interface KeyEntryProps {
  /** Stands below, from the moment at which the form is shown. */
  readonly children: ComponentChildren;
}

export function KeyEntry({ children }: KeyEntryProps) {
  const { demoKey, isLate } = useDemoOffer();
  const { isTrying, failure, attempt, clearFailure } = useAttempt();
  const [text, setText] = useState('');
  const [isMisspelt, setMisspelt] = useState(false);
  const [isKept, setKept] = useState(false);
  if (demoKey === undefined) return null;

  const given = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    setMisspelt(!isSendable(given));
    if (isSendable(given)) void attempt(given, isKept);
    else clearFailure();
  };
  const isDemo = failure !== undefined && failure.apiKey === demoKey;
  const isRefused = failure?.error instanceof PhmApiError && failure.error.status === 401;
  /** The API key to retry: the demo key, or the current text of the field. */
  const wanted = isDemo ? demoKey : given;
  const notice = failure && (
    <Notice
      error={failure.error}
      retry={wanted === '' ? undefined : () => void attempt(wanted, isKept && !isDemo)}
    />
  );
  const offer = demoKey !== null && (
    <DemoOffer isTrying={isTrying} isLate={isLate} onUse={() => void attempt(demoKey, false)}>
      {isDemo && notice}
    </DemoOffer>
  );
  return (
    <>
      {!isLate && offer}
      <section class="panel entry" aria-labelledby="entry-title">
        <h2 id="entry-title">Enter an API key</h2>
        <p>
          The operator of this server issues API keys. The page keeps yours in memory only: a reload
          forgets it, unless you choose otherwise. It checks the API key with a call that does not
          count against the quota.
        </p>
        <form onSubmit={submit}>
          <SecretField
            label="API key"
            value={text}
            isInvalid={isMisspelt || (isRefused && !isDemo)}
            onInput={setText}
          />
          <label class="check keep">
            <input
              type="checkbox"
              checked={isKept}
              onChange={(event) => setKept(event.currentTarget.checked)}
            />
            Stay signed in after a reload
          </label>
          {isKept && (
            <p class="note">
              This tab then stores the API key until you close it or press “Forget API key”. Browser
              extensions, and whoever uses this tab, can read it.
            </p>
          )}
          <div class="actions">
            <button
              type="submit"
              class={demoKey === null || isLate ? 'primary' : undefined}
              disabled={given === ''}
              aria-disabled={isTrying}
            >
              {isTrying ? 'Checking…' : 'Use this API key'}
            </button>
          </div>
        </form>
        {isMisspelt && <Misspelt />}
        {!isDemo && notice}
      </section>
      {/* Above, it would push the form away from under the reader. */}
      {isLate && offer}
      {children}
    </>
  );
}

interface DemoOfferProps {
  readonly isTrying: boolean;
  readonly isLate: boolean;
  readonly children: ComponentChildren;
  onUse(): void;
}

function DemoOffer({ isTrying, isLate, children, onUse }: DemoOfferProps) {
  return (
    <section class="panel entry" aria-labelledby="demo-title">
      <h2 id="demo-title">Try the service</h2>
      <p>
        This server admits a public demo key from this machine. Use it to explore, never for keys
        that protect data.
      </p>
      <div class="actions">
        <button
          type="button"
          class={isLate ? undefined : 'primary'}
          aria-disabled={isTrying}
          onClick={onUse}
        >
          Use the public demo key
        </button>
      </div>
      {children}
    </section>
  );
}

function Misspelt() {
  return (
    <div class="notice bad" role="alert">
      <h3>This cannot be an API key</h3>
      <p>It contains spaces or invalid characters. Copy the whole API key again.</p>
    </div>
  );
}

/** Shows the API key in use and the remaining quota, with a button that forgets the API key. */
export function KeyBar({ route }: { route: Route['path'] }) {
  const { ending, limits } = useSession();
  const { forgetApiKey } = useCustody();
  const quota = limits?.quota;
  return (
    <section class="key-bar" aria-label="API key in use">
      <p>
        <span class="unseen">API key ending in </span>
        <span class="mono">
          <span aria-hidden="true">••••</span>
          {ending}
        </span>
      </p>
      {limits && (
        <p class="note">
          <a href="#/usage">
            {quota ? `${count(quota.remaining)} of ${count(quota.limit)} left` : 'No monthly limit'}
          </a>
        </p>
      )}
      <p class="note" role="status">
        {route !== 'generate' && <GeneratedKeyLink />}
      </p>
      <button type="button" class="quiet" onClick={forgetApiKey}>
        Forget API key
      </button>
    </section>
  );
}

/** On a narrow screen, what must be seen while the menu is closed. */
export function HeaderNotes({ route }: { route: Route['path'] }) {
  return (
    <p class="header-notes" role="status">
      {route !== 'generate' && <GeneratedKeyLink />}
    </p>
  );
}

/** Links from other views to a generated key, if it has no copy, is in progress or failed. */
function GeneratedKeyLink() {
  const { made, isWorking, error } = useCustody();
  const text = isWorking
    ? 'Generating a key'
    : error !== undefined
      ? 'Generation failed'
      : 'Key not copied yet';
  return made || isWorking || error !== undefined ? <a href="#/generate">{text}</a> : null;
}
