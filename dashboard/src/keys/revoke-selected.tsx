/** Revokes the selected keys of the list, one call after the other, after one question. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { plural } from '../format.ts';
import { RevokeDialog } from './revoke-dialog.tsx';
import { type Progress, useRevocations } from './use-revocations.ts';

const AFTERMATH =
  'The service may have revoked the first key of the rest all the same. You can try again: a repeated revocation changes nothing.';

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
