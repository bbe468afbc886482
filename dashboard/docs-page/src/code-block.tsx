/** A block of code, which may be longer than its place. */
export function CodeBlock({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, keys could not scroll the block
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}
