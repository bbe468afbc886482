/** A button that lets the reader choose a file. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface FileButtonProps {
  /** Types of files to offer, such as `.json`. */
  readonly accept: string;
  readonly children: ComponentChildren;
  onFile(file: File): void;
}

export function FileButton({ accept, children, onFile }: FileButtonProps) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => picker.current?.click()}>
        {children}
      </button>
      <input
        ref={picker}
        type="file"
        hidden
        accept={accept}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          // The same file can be chosen again after it has changed.
          event.currentTarget.value = '';
          if (file) onFile(file);
        }}
      />
    </>
  );
}
