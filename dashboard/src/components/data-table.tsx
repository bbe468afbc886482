/** Scrolling regions, and tables of numbers in them. */
import type { ComponentChildren } from 'preact';

interface ScrollRegionProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

export function ScrollRegion({ label, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

interface DataTableProps {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A table of numbers in a scrolling region. The first column has the row headings. */
export function DataTable({ caption, head, rows }: DataTableProps) {
  return (
    <ScrollRegion label={caption}>
      <table class="data">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...others]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {others.map((text, i) => (
                <td key={head[i + 1]}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
