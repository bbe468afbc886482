/** Copies a text. Browsers allow it only for https: pages and pages of this machine. */
import { useEffect, useState } from 'preact/hooks';

export function CopyButton({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState<string | null>(null);
  useEffect(() => setCopied(null), [text]);
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {copied === text ? 'Copied' : 'Copy'}
    </button>
  );
}
