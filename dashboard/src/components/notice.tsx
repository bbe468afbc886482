/** Explains an error, and offers what to do next. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  PhmApiError,
  PhmConnectionError,
  PhmError,
  PhmResponseError,
  PhmTimeoutError,
} from '../api.ts';
import { dateTime, duration } from '../format.ts';
import { useCustody } from '../generate/custody.tsx';
import { useNow } from '../load.ts';
import { useSession } from '../session.tsx';

interface Words {
  readonly title: string;
  readonly text: string;
  /** Seconds until a retry can help; undefined if it cannot help or need not wait. */
  readonly waitSeconds?: number | null;
  readonly canRetry: boolean;
}

/** Longest countdown of the retry button. If the wait is longer, there is no button. */
const LONGEST_COUNTDOWN_SECONDS = 3600;

/** Words for a call that was not sent: after a refusal the SDK waits, and a call that cannot wait that long fails. */
const NOT_SENT: Words = {
  title: 'Too many requests in a short time',
  text: 'The service refused an earlier request because of a rate limit, so this page did not send this one. Try again in a moment.',
  canRetry: true,
};

export function wordsFor(error: unknown): Words {
  if (error instanceof PhmApiError) return apiWords(error);
  if (error instanceof PhmTimeoutError) {
    if (!error.outcomeUnknown) return NOT_SENT;
    return {
      title: 'The server took too long to answer',
      text: 'It may be overloaded, or the network may be slow. Try again in a moment.',
      canRetry: true,
    };
  }
  if (error instanceof PhmConnectionError) {
    return {
      title: 'The server does not answer',
      text: 'It may be stopped or restarting, or the network may be down. This page keeps what it shows. Try again when the server is back.',
      canRetry: true,
    };
  }
  if (error instanceof PhmResponseError) {
    return {
      title: 'Something else answered in place of the service',
      text: `Its status was ${error.status}. A proxy on the way may be misconfigured or unable to reach the service.`,
      canRetry: true,
    };
  }
  return {
    title: 'This page met an unexpected error',
    text: 'Try again. If the error persists, reload the page and enter the API key again.',
    canRetry: true,
  };
}

/** Codes of an API key that is valid but may not make the call. The detail names the missing scope. */
const FORBIDDEN: readonly string[] = [
  'insufficient_scope',
  'address_not_allowed',
  'account_suspended',
];

/** Texts for readers, in place of those of the service that explain headers and fields to programs. */
const HELP: Readonly<Record<string, string>> = {
  rate_limited:
    'This API key sent more requests than its plan allows, or your address sent too many without a valid API key. The service counted nothing against the quota.',
  entropy_unavailable:
    'An entropy source delivers nothing, or a generator failed a test. The service released no key and counted nothing. If the error persists, see Status and tell the operator.',
  ledger_unavailable:
    'The database cannot serve this request. The service released no key. If the error persists, see Status and tell the operator.',
  foreign_ledger:
    'The database of this server holds the ledger of another service. The service released no key. Tell the operator.',
  sealed_only:
    'The operator allows this account only sealed keys, which are encrypted to their recipient. On Generate, choose “sealed to a recipient”.',
  key_not_found:
    'It may be a key of another account, or its record was removed because of its age. An API key sees only the keys of its own account.',
  overloaded: 'The queues of the service are full. The service counted nothing.',
};

function apiWords(error: PhmApiError): Words {
  const { status, code, title, detail, retryAfterSeconds: waitSeconds } = error;
  if (code === 'quota_exceeded') {
    const isOfApiKey = detail.startsWith('This API key');
    return {
      title: isOfApiKey ? 'This API key has reached its monthly limit' : title,
      text: quotaText(waitSeconds, isOfApiKey),
      waitSeconds,
      canRetry: false,
    };
  }
  return {
    title,
    text: HELP[code] ?? detail,
    waitSeconds,
    canRetry: (status === 429 || status >= 500) && code !== 'record_altered',
  };
}

function quotaText(waitSeconds: number | null, isOfApiKey: boolean): string {
  const when =
    waitSeconds === null
      ? 'with the next calendar month (UTC)'
      : `on ${dateTime(Date.now() + waitSeconds * 1000)} (in ${duration(waitSeconds)})`;
  const help = isOfApiKey
    ? 'An operator can issue an API key with a higher limit, within the quota of the account.'
    : 'An operator can move the account to a larger plan at any time.';
  return `The quota resets ${when}. ${help} Usage and Evidence are not metered and still work.`;
}

interface NoticeProps {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
  /** Possible effects of the failed call, if any need saying. */
  readonly aftermath?: string | undefined;
  /** What the failed call did not change, if that needs saying. */
  readonly unchanged?: string | undefined;
}

export function Notice({ error, retry, aftermath, unchanged }: NoticeProps) {
  const { title, text, waitSeconds, canRetry } = wordsFor(error);
  const isUncertain = error instanceof PhmError && error.outcomeUnknown;
  const box = useRef<HTMLDivElement>(null);
  /** The pressed button disappears with the notice, so the focus must move. */
  useLayoutEffect(() => {
    const shown = box.current;
    return () => {
      if (shown?.contains(document.activeElement)) {
        document.querySelector<HTMLElement>('h1')?.focus();
      }
    };
  }, []);
  return (
    <div ref={box} class="notice bad" role="alert">
      <h3>{title}</h3>
      <p>{text}</p>
      {isUncertain && aftermath && <p>{aftermath}</p>}
      {unchanged && <p>{unchanged}</p>}
      <Actions error={error} retry={canRetry ? retry : undefined} waitSeconds={waitSeconds ?? 0} />
      {error instanceof PhmApiError && error.requestId && (
        <p class="note">
          Request ID <code>{error.requestId}</code>
        </p>
      )}
    </div>
  );
}

interface ActionsProps {
  readonly error: unknown;
  readonly retry: (() => void) | undefined;
  readonly waitSeconds: number;
}

function Actions({ error, retry, waitSeconds }: ActionsProps) {
  const { ending } = useSession();
  const { forgetApiKey } = useCustody();
  const isRefused =
    error instanceof PhmApiError && (error.status === 401 || FORBIDDEN.includes(error.code));
  if (isRefused && ending !== undefined) {
    return (
      <p>
        <button type="button" onClick={forgetApiKey}>
          Enter another API key
        </button>
      </p>
    );
  }
  return retry ? <Retry key={error} retry={retry} waitSeconds={waitSeconds} /> : null;
}

function Retry({ retry, waitSeconds }: { retry: () => void; waitSeconds: number }) {
  const [since] = useState(() => Date.now());
  const now = useNow(250, waitSeconds > 0);
  const left = Math.ceil(waitSeconds - (now - since) / 1000);
  if (left > LONGEST_COUNTDOWN_SECONDS) return null;
  return (
    <p>
      <button type="button" disabled={left > 0} onClick={retry}>
        {left > 0 ? `Try again in ${duration(left)}` : 'Try again'}
      </button>
    </p>
  );
}
