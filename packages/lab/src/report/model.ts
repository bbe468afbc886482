/** The model of a report: what each kind is a function to, from its results. */
import type { Paragraph } from './text.ts';

/** A report that is complete before it is written, which that of the suite is not: its sequences need not fit in memory. */
export interface Report {
  /** Paragraphs of the text, the verdict or the figures first, and at the end what the report was made from and by. */
  readonly text: readonly Paragraph[];
  /** Members of the JSON. */
  readonly json: object;
}
