/** Asks for the reason of a revocation, and says what it does. Nothing is chosen, and "Cancel" has the focus. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { ScrollRegion } from '../components/data-table.tsx';
import { capital, REASON_TEXTS, REASON_WORDS } from './words.ts';

interface RevokeDialogProps {
  /** One key, or several that are not revoked. */
  readonly keys: readonly KeyInfo[];
  /** The answer: a reason, or null if the key stays as it is. */
  onAnswer(reason: RevocationReason | null): void;
}

/** Reasons that still change a key: a revoked one can only become compromised. */
function reasonsFor(keys: readonly KeyInfo[]): readonly RevocationReason[] {
  return keys.every(({ revoked_at: revoked }) => revoked === null)
    ? ['key_compromise', 'superseded', 'cessation_of_use', 'unspecified']
    : ['key_compromise'];
}

const EFFECTS =
  'From then on, validation calls the key invalid on every server. Programs that hold the key learn of it only if they validate it.';

const EFFECTS_ON_MANY =
  'From then on, validation calls these keys invalid on every server. Programs that hold them learn of it only if they validate them.';

function resultOf(reason: RevocationReason | undefined, count: number): string {
  if (reason === undefined) return 'Choose a reason.';
  const become = count === 1 ? 'The key becomes' : `The ${count} keys become`;
  return reason === 'key_compromise'
    ? `${become} compromised, which is final.`
    : `${become} deactivated. You can still report a compromise later.`;
}

function wordsOf(keys: readonly KeyInfo[], isReport: boolean) {
  if (isReport) return { title: 'Report this key as compromised?', agreement: 'Report it' };
  return keys.length === 1
    ? { title: 'Revoke this key?', agreement: 'Revoke the key' }
    : { title: `Revoke these ${keys.length} keys?`, agreement: `Revoke ${keys.length} keys` };
}

export function RevokeDialog({ keys, onAnswer }: RevokeDialogProps) {
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  const isAnswered = useRef(false);
  const reasons = reasonsFor(keys);
  const { title, agreement } = wordsOf(keys, reasons.length === 1);
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
      <h2 id={`${id}-title`}>{title}</h2>
      <Keys keys={keys} />
      <p id={`${id}-text`}>
        {keys.length === 1 ? EFFECTS : EFFECTS_ON_MANY} <strong>You cannot undo it.</strong>
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
      <p role="status">{resultOf(reason, keys.length)}</p>
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
          {agreement}
        </button>
      </div>
    </dialog>
  );
}

function Keys({ keys }: Pick<RevokeDialogProps, 'keys'>) {
  const ids = keys.map(({ key_id: id }) => id);
  if (ids.length === 1) return <p class="mono">{ids[0]}</p>;
  return (
    <ScrollRegion label="The keys">
      <ul class="mono">
        {ids.map((id) => (
          <li key={id}>{id}</li>
        ))}
      </ul>
    </ScrollRegion>
  );
}
