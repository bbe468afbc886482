/** Generates validated keys for their p-values alone, at the reader's request, and drops their bytes unread. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { PhmApiError } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { count, plural } from '../format.ts';
import { useSession } from '../session.tsx';

interface TopUpProps {
  readonly missing: number;
  readonly isNeeded: boolean;
  onDone(): void;
}

interface Progress {
  readonly made: number;
  readonly wanted: number;
}

export function TopUp({ missing, isNeeded, onDone }: TopUpProps) {
  const { call, limits } = useSession();
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController | undefined>(undefined);
  const place = useRef<HTMLElement>(null);
  /** Moves the focus to the section, because the pressed button disappears. */
  const keepFocus = () => {
    if (place.current?.contains(document.activeElement)) place.current.focus();
  };
  useEffect(() => () => running.current?.abort(), []);

  const make = async (wanted: number) => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setError(undefined);
    keepFocus();
    try {
      for (let made = 0; made < wanted; ) {
        setProgress({ made, wanted });
        try {
          const order = { security_level: 128, enable_nist_validation: true } as const;
          await call((client) => client.generate(order, { signal }));
          made += 1;
        } catch (failure) {
          await pause(waitFor(failure), signal);
        }
      }
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
    keepFocus();
    setProgress(undefined);
    if (!signal.aborted) onDone();
  };
  const stop = () => {
    running.current?.abort();
    onDone();
  };

  return (
    <section ref={place} tabIndex={-1} aria-label="More keys">
      {progress ? (
        <div class="actions">
          <progress aria-label="Keys generated" value={progress.made} max={progress.wanted} />
          <span>
            {progress.made} of {progress.wanted}
          </span>
          <button type="button" onClick={stop}>
            Stop
          </button>
        </div>
      ) : (
        <Offer
          missing={missing}
          isNeeded={isNeeded}
          left={limits?.quota?.remaining}
          onAccept={() => void make(missing)}
        />
      )}
      {error !== undefined && <Notice error={error} />}
    </section>
  );
}

interface OfferProps {
  readonly missing: number;
  readonly isNeeded: boolean;
  /** Requests left of the quota; undefined without a quota. */
  readonly left: number | undefined;
  onAccept(): void;
}

function Offer({ missing, isNeeded, left, onAccept }: OfferProps) {
  if (left === 0) {
    return <p class="note">The quota is used up. You can generate more keys next month.</p>;
  }
  return (
    <div class="actions">
      <button type="button" class={isNeeded ? 'primary' : undefined} onClick={onAccept}>
        Generate {plural(missing, 'key')} now
      </button>
      <span class="note">
        The page drops these keys unread. Each counts as one request
        {left === undefined ? '' : `; ${count(left)} are left this month`}.
      </span>
    </div>
  );
}

/** Returns the seconds to wait if a retry can help, otherwise throws the failure. */
function waitFor(failure: unknown): number {
  const isPassing =
    failure instanceof PhmApiError &&
    (failure.code === 'rate_limited' || failure.code === 'overloaded');
  if (!isPassing) throw failure;
  return failure.retryAfterSeconds ?? 1;
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal.addEventListener('abort', stop, { once: true });
  });
}
