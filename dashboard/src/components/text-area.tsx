/** A field for a text of many lines, which can also be read from a file. */
import { useId } from 'preact/hooks';
import { FileButton } from './file-button.tsx';

interface TextAreaProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
  /** Types of files to offer, such as `.json`. */
  readonly accept: string;
  onInput(value: string): void;
  onFile(file: File): void;
}

export function TextArea({ label, value, note, accept, onInput, onFile }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="mono"
        rows={6}
        value={value}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-describedby={note ? `${id}-note` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <div class="actions">
        <FileButton accept={accept} onFile={onFile}>
          Choose a file
          <span class="unseen"> for {label}</span>
        </FileButton>
        {note && (
          <p class="note" id={`${id}-note`}>
            {note}
          </p>
        )}
      </div>
    </div>
  );
}
