/** The API key: the page asks for it, tries it, and from then on shows only its last characters. */
import { useEffect, useState } from 'preact/hooks';
import { findDemoKey, isSendable, PhmApiError } from './api.ts';
import { Notice } from './components/notice.tsx';
import { SecretField } from './components/secret-field.tsx';
import { count } from './format.ts';
import { useCustody } from './generate/custody.tsx';
import { useLoad } from './load.ts';
import type { RoutePath } from './route.ts';
import { useSession } from './session.tsx';

/** The form appears with the offer of the demo key, so that nothing moves; but it does not wait longer than this. */
const LONGEST_WAIT_MS = 1000;

/** The demo key on offer; null: none; undefined: the server has not said yet, and the page still waits. */
function useDemoKey(): string | null | undefined {
  const { data, isLoading } = useLoad(findDemoKey);
  const [isWaiting, setWaiting] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setWaiting(false), LONGEST_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  return data ?? (isLoading && isWaiting ? undefined : null);
}

/** One API key at a time, tried by a call that is not metered. */
function useAttempt() {
  const { connect } = useSession();
  const [isTrying, setTrying] = useState(false);
  const [failure, setFailure] = useState<{ error: unknown; apiKey: string }>();
  const attempt = async (apiKey: string) => {
    if (isTrying) return;
    setTrying(true);
    setFailure(undefined);
    try {
      await connect(apiKey);
    } catch (error) {
      setFailure({ error, apiKey });
      setTrying(false);
    }
  };
  return { isTrying, failure, attempt, clearFailure: () => setFailure(undefined) };
}

export function KeyEntry() {
  const demoKey = useDemoKey();
  const { isTrying, failure, attempt, clearFailure } = useAttempt();
  const [text, setText] = useState('');
  const [isMisspelt, setMisspelt] = useState(false);
  if (demoKey === undefined) return null;

  const given = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    setMisspelt(!isSendable(given));
    if (isSendable(given)) void attempt(given);
    else clearFailure();
  };
  const isDemo = failure !== undefined && failure.apiKey === demoKey;
  const isRefused = failure?.error instanceof PhmApiError && failure.error.status === 401;
  /** What failed once more: the demo key, or what the field holds by now. */
  const wanted = isDemo ? demoKey : given;
  const notice = failure && (
    <Notice error={failure.error} retry={wanted === '' ? undefined : () => void attempt(wanted)} />
  );
  return (
    <>
      {demoKey !== null && (
        <section class="panel entry" aria-labelledby="demo-title">
          <h2 id="demo-title">Try the service</h2>
          <p>
            This server admits a public demo key from this machine. Use it to look around, and not
            for keys that protect anything.
          </p>
          <div class="actions">
            <button
              type="button"
              class="primary"
              aria-disabled={isTrying}
              onClick={() => void attempt(demoKey)}
            >
              Use the public demo key
            </button>
          </div>
          {isDemo && notice}
        </section>
      )}
      <section class="panel entry" aria-labelledby="entry-title">
        <h2 id="entry-title">Enter an API key</h2>
        <p>
          The key stays in the memory of this page. The page does not store it, and a reload forgets
          it. It tries the key with a call that does not count against the quota.
        </p>
        <form onSubmit={submit}>
          <SecretField
            label="API key"
            value={text}
            isInvalid={isMisspelt || (isRefused && !isDemo)}
            onInput={setText}
          />
          <div class="actions">
            <button
              type="submit"
              class={demoKey === null ? 'primary' : undefined}
              disabled={given === ''}
              aria-disabled={isTrying}
            >
              {isTrying ? 'Trying it…' : 'Use this key'}
            </button>
          </div>
        </form>
        {isMisspelt && <Misspelt />}
        {!isDemo && notice}
      </section>
    </>
  );
}

function Misspelt() {
  return (
    <div class="notice bad" role="alert">
      <h3>This cannot be an API key</h3>
      <p>It has spaces or characters that no API key has. Copy the whole key again.</p>
    </div>
  );
}

/** The API key in use, what is left of the month, and the button that forgets it. */
export function KeyBar({ route }: { route: RoutePath }) {
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

/** Leads from another view back to the generated key, if anything about it is left to do. */
function GeneratedKeyLink() {
  const { made, isWorking, error } = useCustody();
  const text = isWorking
    ? 'A key is on its way'
    : error !== undefined
      ? 'Generating failed'
      : 'A key is not copied yet';
  return made || isWorking || error !== undefined ? <a href="#/generate">{text}</a> : null;
}
