/** A drawing with its caption and, collapsed, its numbers. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface FigureProps {
  readonly title: string;
  /** Level of the heading: `h2` if the figure is a section of its own. */
  readonly heading?: 'h2' | 'h3';
  readonly caption?: ComponentChildren;
  /** Returns the numbers as a table; called when the reader opens it. */
  readonly table?: (() => ComponentChildren) | undefined;
  readonly children: ComponentChildren;
}

export function Figure({ title, heading: Heading = 'h3', caption, table, children }: FigureProps) {
  return (
    <figure class="figure">
      <Heading>{title}</Heading>
      {children}
      {caption && <figcaption>{caption}</figcaption>}
      {table && (
        <Unfold summary={`Numbers: ${title.charAt(0).toLowerCase()}${title.slice(1)}`}>
          {table}
        </Unfold>
      )}
    </figure>
  );
}

/** `<details>` that renders its content only while it is open. */
export function Unfold({ summary, children }: { summary: string; children(): ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="unfold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}

/** Returns a ref and the current width of its element in pixels; 0 before layout. */
export function useWidth<E extends HTMLElement>() {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}
