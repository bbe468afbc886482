/** A drawing with its caption and, folded away, the numbers it is made of. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface FigureProps {
  readonly title: string;
  /** The heading's level: `h2` where the figure is a section of its own. */
  readonly heading?: 'h2' | 'h3';
  readonly caption?: ComponentChildren;
  /** The numbers as a table, made when it is opened. */
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

/** `<details>` whose content is made only while it is open. */
export function Unfold({ summary, children }: { summary: string; children(): ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="unfold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}

/** The width an element has at the moment, in pixels; 0 before it is laid out. */
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
