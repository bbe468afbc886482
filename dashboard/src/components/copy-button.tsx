/** Button that copies a text and confirms it, also to screen readers. */
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 4000;

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  /** Name of the text in the announcement, such as "Key". */
  readonly what: string;
  readonly className?: string;
  onCopied?(): void;
}

export function CopyButton({ text, label, what, className, onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome !== 'copied') return undefined;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
      onCopied?.();
    } catch {
      setOutcome('refused');
    }
  };
  const said = {
    copied: `${what} copied to the clipboard.`,
    refused: `The browser did not let this page copy${isSecureContext ? '' : ', because it was loaded without TLS'}. Select the ${what.charAt(0).toLowerCase()}${what.slice(1)} where it is shown, and copy it by hand.`,
  };
  return (
    <>
      <button type="button" class={className} onClick={copy}>
        {outcome === 'copied' ? 'Copied' : label}
      </button>
      <span class={outcome === 'refused' ? 'note' : 'unseen'} aria-live="polite">
        {outcome && said[outcome]}
      </span>
    </>
  );
}
