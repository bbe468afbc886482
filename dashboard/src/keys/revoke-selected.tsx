/** Revokes the selected keys of the list, one call after the other, after one question. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { plural } from '../format.ts';
import { useSession } from '../session.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';

const AFTERMATH =
  'The service may have revoked the first key of the rest all the same. You can try again: a repeated revocation changes nothing.';

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Revokes keys one by one. The first failure ends it; `retry` goes on with the keys that are left. */
function useRevocations(keys: readonly KeyInfo[], onRevoked: (info: KeyInfo) => void) {
  const { call } = useSession();
  const [reason, setReason] = useState<RevocationReason>();
  const [progress, setProgress] = useState<Progress>();
  const [isWorking, setWorking] = useState(false);
  const [error, setError] = useState<unknown>();
  const revoke = async (given: RevocationReason) => {
    setReason(given);
    setWorking(true);
    setError(undefined);
    let done = 0;
    setProgress({ done, total: keys.length });
    try {
      for (const { key_id: id } of keys) {
        const { key } = await call((client) => client.revokeKey(id, given));
        done += 1;
        setProgress({ done, total: keys.length });
        onRevoked(key);
      }
    } catch (failure) {
      setError(failure);
    } finally {
      setWorking(false);
    }
  };
  const retry = () => reason !== undefined && keys.length > 0 && void revoke(reason);
  return { progress, isWorking, error, revoke, retry };
}

interface RevokeSelectedProps {
  /** The selected keys, none of them revoked. */
  readonly keys: readonly KeyInfo[];
  /** Notes the record of a key that is revoked now. */
  onRevoked(info: KeyInfo): void;
  /** Other actions on the list. */
  readonly children: ComponentChildren;
}

export function RevokeSelected({ keys, onRevoked, children }: RevokeSelectedProps) {
  const [asked, setAsked] = useState<readonly KeyInfo[]>();
  const { progress, isWorking, error, revoke, retry } = useRevocations(keys, onRevoked);
  const answer = (given: RevocationReason | null) => {
    setAsked(undefined);
    if (given !== null) void revoke(given);
  };
  return (
    <div class="selection">
      <div class="actions">
        <button
          type="button"
          class="danger"
          aria-disabled={keys.length === 0 || isWorking}
          onClick={() => keys.length > 0 && !isWorking && setAsked(keys)}
        >
          Revoke selected…
        </button>
        <p class="note" role="status">
          {saidOf(keys.length, progress, isWorking)}
        </p>
        {children}
      </div>
      {error !== undefined && <Notice error={error} retry={retry} aftermath={AFTERMATH} />}
      {asked && <RevokeDialog keys={asked} onAnswer={answer} />}
    </div>
  );
}

function saidOf(selected: number, progress: Progress | undefined, isWorking: boolean): string {
  if (isWorking && progress) return `Revoking: ${progress.done} of ${progress.total}.`;
  const chosen = selected === 0 ? '' : `${plural(selected, 'key')} selected.`;
  if (!progress || progress.done === 0) return chosen;
  return `${plural(progress.done, 'key')} revoked. ${chosen}`.trim();
}
