/** The field for the recipient of a sealed key. */
import { useId } from 'preact/hooks';
import { FileButton } from '../components/file-button.tsx';
import { readText } from '../receipts/read-file.ts';

interface RecipientFieldProps {
  readonly value: string;
  readonly problem: string | undefined;
  onInput(value: string): void;
}

export function RecipientField({ value, problem, onInput }: RecipientFieldProps) {
  const id = useId();
  const take = async (file: File) => onInput((await readText(file)) ?? 'too long');
  return (
    <div class="field recipient">
      <label for={id}>Recipient</label>
      <textarea
        id={id}
        class="mono"
        rows={3}
        value={value}
        placeholder="content of a .recipient file, or a registered name"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note${problem === undefined ? '' : ` ${id}-problem`}`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <FileButton accept=".recipient,.json" onFile={(file) => void take(file)}>
        Choose a file
      </FileButton>
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      <p class="note" id={`${id}-note`}>
        Only the recipient can open the key: neither this page nor a proxy sees it. Make one with{' '}
        <code>phm recipient new my</code>: paste <code>my.recipient</code> here, and keep the other
        file, the private key, to yourself.
      </p>
    </div>
  );
}
