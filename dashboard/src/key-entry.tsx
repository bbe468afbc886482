/** The API key: asked for, tried, and from then on shown by its last characters alone. */
import { useState } from 'preact/hooks';
import { isSendable, PhmApiError } from './api.ts';
import { Notice } from './components/notice.tsx';
import { SecretField } from './components/secret-field.tsx';
import { count } from './format.ts';
import { useSession } from './session.tsx';

/** Public, in the README and in the server's banner; most servers do not admit it. */
const DEMO_KEY = 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG';

export function KeyEntry() {
  const { connect } = useSession();
  const [text, setText] = useState('');
  const [isTrying, setTrying] = useState(false);
  const [isMisspelt, setMisspelt] = useState(false);
  const [failure, setFailure] = useState<{ error: unknown; isDemo: boolean }>();

  const attempt = async (apiKey: string, isDemo: boolean) => {
    if (isTrying) return;
    setTrying(true);
    setMisspelt(false);
    setFailure(undefined);
    try {
      await connect(apiKey);
    } catch (error) {
      setFailure({ error, isDemo });
      setTrying(false);
    }
  };
  const given = text.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    setMisspelt(!isSendable(given));
    if (isSendable(given)) void attempt(given, false);
    else setFailure(undefined);
  };
  /** What failed once more: the demo key, or what the field holds by now. */
  const wanted = failure?.isDemo ? DEMO_KEY : given;
  const retry = wanted === '' ? undefined : () => void attempt(wanted, failure?.isDemo ?? false);
  const isRefused = failure?.error instanceof PhmApiError && failure.error.status === 401;
  return (
    <section class="panel entry" aria-labelledby="entry-title">
      <h2 id="entry-title">Enter an API key</h2>
      <p>
        It stays in the memory of this page: it is not stored, and a reload forgets it. It is tried
        by a call that is not metered.
      </p>
      <form onSubmit={submit}>
        <SecretField
          label="API key"
          value={text}
          isInvalid={isMisspelt || (isRefused && !failure?.isDemo)}
          onInput={setText}
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={given === ''} aria-disabled={isTrying}>
            {isTrying ? 'Trying it…' : 'Use this key'}
          </button>
          <button
            type="button"
            aria-disabled={isTrying}
            onClick={() => void attempt(DEMO_KEY, true)}
          >
            Use the public demo key
          </button>
        </div>
      </form>
      {isMisspelt && (
        <div class="notice bad" role="alert">
          <h3>This cannot be an API key</h3>
          <p>It has spaces or characters that no API key has. Copy it again, as a whole.</p>
        </div>
      )}
      {failure && isRefused && failure.isDemo ? (
        <div class="notice bad" role="alert">
          <h3>This server does not admit the demo key</h3>
          <p>
            Demo keys work on a local server that is asked directly, under a name such as localhost.
            Enter an API key that its operator issued.
          </p>
        </div>
      ) : (
        failure && <Notice error={failure.error} retry={retry} />
      )}
    </section>
  );
}

/** The API key in use, what is left of the month, and the way to forget it. */
export function KeyBar() {
  const { ending, limits, forget } = useSession();
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
      <button type="button" class="quiet" onClick={forget}>
        Forget key
      </button>
    </section>
  );
}
