/** Asks for the reason of a revocation, and says what it does. Nothing is chosen, and "Cancel" has the focus. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { capital, REASON_TEXTS, REASON_WORDS } from './words.ts';

interface RevokeDialogProps {
  readonly info: KeyInfo;
  /** The answer: a reason, or null if the key stays as it is. */
  onAnswer(reason: RevocationReason | null): void;
}

/** Reasons that still change a key: a revoked one can only become compromised. */
function reasonsFor({ revoked_at: revoked }: KeyInfo): readonly RevocationReason[] {
  return revoked === null
    ? ['key_compromise', 'superseded', 'cessation_of_use', 'unspecified']
    : ['key_compromise'];
}

const EFFECTS =
  'From then on, validation calls the key invalid on every server. Programs that hold the key learn of it only if they validate it.';

function resultOf(reason: RevocationReason | undefined): string {
  if (reason === undefined) return 'Choose a reason.';
  return reason === 'key_compromise'
    ? 'The key becomes compromised, which is final.'
    : 'The key becomes deactivated. You can still report a compromise later.';
}

export function RevokeDialog({ info, onAnswer }: RevokeDialogProps) {
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  const isAnswered = useRef(false);
  const reasons = reasonsFor(info);
  const [reason, setReason] = useState<RevocationReason | undefined>(
    reasons.length === 1 ? reasons[0] : undefined,
  );
  useLayoutEffect(() => {
    box.current?.showModal();
    box.current?.querySelector<HTMLElement>('button.primary')?.focus();
  }, []);
  /** Closes first: this returns the focus to the button that opened the dialog. */
  const answer = (given: RevocationReason | null) => {
    if (isAnswered.current) return;
    isAnswered.current = true;
    box.current?.close();
    onAnswer(given);
  };
  return (
    <dialog
      ref={box}
      class="revoke"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={(event) => {
        event.preventDefault();
        answer(null);
      }}
      onClose={() => answer(null)}
    >
      <h2 id={`${id}-title`}>
        {info.revoked_at === null ? 'Revoke this key?' : 'Report this key as compromised?'}
      </h2>
      <p class="mono">{info.key_id}</p>
      <p id={`${id}-text`}>
        {EFFECTS} <strong>You cannot undo it.</strong>
      </p>
      {reasons.length > 1 && (
        <fieldset class="reasons">
          <legend>Reason</legend>
          {reasons.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name={`${id}-reason`}
                checked={one === reason}
                onChange={() => setReason(one)}
              />
              <span>
                {capital(REASON_WORDS[one])}
                <span class="note">{REASON_TEXTS[one]}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <p role="status">{resultOf(reason)}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={() => answer(null)}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={reason === undefined}
          onClick={(event) => {
            // Not the second click of a double click on the button that opened the dialog.
            if (event.detail <= 1 && reason !== undefined) answer(reason);
          }}
        >
          {info.revoked_at === null ? 'Revoke the key' : 'Report it'}
        </button>
      </div>
    </dialog>
  );
}
