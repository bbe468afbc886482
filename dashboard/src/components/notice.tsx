/** What went wrong, in words that help, and what to do next. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  PhmApiError,
  PhmConnectionError,
  PhmError,
  PhmResponseError,
  PhmTimeoutError,
} from '../api.ts';
import { dateTime, duration } from '../format.ts';
import { useNow } from '../load.ts';
import { useSession } from '../session.tsx';

interface Words {
  readonly title: string;
  readonly text: string;
  /** Seconds after which trying again can help; undefined when it cannot or need not wait. */
  readonly waitSeconds?: number | null;
  readonly canRetry: boolean;
}

/** Beyond this a countdown is no use: the moment itself is shown. */
const LONGEST_COUNTDOWN_SECONDS = 3600;

export function wordsFor(error: unknown): Words {
  if (error instanceof PhmApiError) return apiWords(error);
  if (error instanceof PhmTimeoutError) {
    return {
      title: 'The server took too long to answer',
      text: 'It may be overloaded, or the network slow. Try again in a moment.',
      canRetry: true,
    };
  }
  if (error instanceof PhmConnectionError) {
    return {
      title: 'The server does not answer',
      text: 'It may be stopped or restarting, or the network is down. Nothing on this page is lost: try again when it is back.',
      canRetry: true,
    };
  }
  if (error instanceof PhmResponseError) {
    return {
      title: 'Something else answered in place of the service',
      text: `Its status was ${error.status}. A proxy on the way may be set up wrongly, or cannot reach the service.`,
      canRetry: true,
    };
  }
  return {
    title: 'This page met an unexpected error',
    text: 'Try again. If it persists, reload the page; the API key has to be entered again then.',
    canRetry: true,
  };
}

/** Where the service speaks to programs, of headers and fields, people are told this. */
const HELP: Readonly<Record<string, string>> = {
  rate_limited:
    'An API key may send so many requests a second, and this one sent more. Nothing was counted against the quota.',
  entropy_unavailable:
    'An entropy source delivers nothing, or a generator failed a test. No key was released and nothing was counted. If it persists, see Status and tell the operator.',
  ledger_unavailable:
    'The database cannot record or look up what this needs. No key was released. If it persists, see Status and tell the operator.',
  overloaded: 'More work is waiting than the service will queue. Nothing was counted.',
};

function apiWords(error: PhmApiError): Words {
  const { status, code, title, detail, retryAfterSeconds: waitSeconds } = error;
  const fields = error.errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ');
  const text = fields ? `${detail} ${fields}.` : detail;
  if (code === 'invalid_api_key') {
    return {
      title,
      text: 'Check it for typing errors. A key that was revoked, and a demo key that this server does not admit, are answered the same way. An operator issues new ones with "phm key issue".',
      canRetry: false,
    };
  }
  if (code === 'quota_exceeded') {
    return { title, text: quotaText(waitSeconds), waitSeconds, canRetry: false };
  }
  return {
    title,
    text: HELP[code] ?? text,
    waitSeconds,
    canRetry: status === 429 || status >= 500,
  };
}

function quotaText(waitSeconds: number | null): string {
  const when =
    waitSeconds === null
      ? 'with the next calendar month (UTC)'
      : `on ${dateTime(Date.now() + waitSeconds * 1000)} (in ${duration(waitSeconds)})`;
  return `It is whole again ${when}. An operator can move the account to a larger plan at any time. Usage and Evidence are not metered and go on working.`;
}

export interface NoticeProps {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
  /** What the failed call may have left behind, if that is worth saying. */
  readonly aftermath?: string | undefined;
}

export function Notice({ error, retry, aftermath }: NoticeProps) {
  const { title, text, waitSeconds, canRetry } = wordsFor(error);
  const isUncertain = error instanceof PhmError && error.outcomeUnknown;
  const box = useRef<HTMLDivElement>(null);
  /** A button that was pressed here goes with the notice: the focus needs another place. */
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
      <Actions error={error} retry={canRetry ? retry : undefined} waitSeconds={waitSeconds ?? 0} />
      {error instanceof PhmApiError && error.requestId && (
        <p class="note">
          Request id <code>{error.requestId}</code>
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
  const session = useSession();
  const isRefused = error instanceof PhmApiError && error.status === 401;
  if (isRefused && session.ending !== undefined) {
    return (
      <p>
        <button type="button" onClick={session.forget}>
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
