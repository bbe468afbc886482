/**
 * A text field for a secret: masked, and shown on demand. It is not a password field, because browsers offer to save
 * passwords.
 */
import { useId, useState } from 'preact/hooks';

interface SecretFieldProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
  readonly isInvalid?: boolean;
  readonly isOptional?: boolean;
  onInput(value: string): void;
}

export function SecretField({
  label,
  value,
  note,
  isInvalid = false,
  isOptional = false,
  onInput,
}: SecretFieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="note"> (optional)</span>}
      </label>
      <div class="secret-field">
        <input
          id={id}
          type="text"
          class={isShown ? 'mono' : 'mono masked'}
          value={value}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          data-1p-ignore=""
          data-lpignore="true"
          aria-invalid={isInvalid}
          aria-describedby={note ? `${id}-note` : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <button type="button" onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="unseen"> {label}</span>
        </button>
      </div>
      {note && (
        <p class="note" id={`${id}-note`}>
          {note}
        </p>
      )}
    </div>
  );
}
