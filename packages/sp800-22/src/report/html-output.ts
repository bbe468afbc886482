/** The report as a web page: gathers its content during the run and writes it at the end. */
import {
  type ApplicableOutcome,
  type Constants,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
} from '../index.ts';
import { type Markup, markup, NOTHING } from './html/markup.ts';
import type { TestPValues } from './html/p-value-plot.ts';
import { formatPage, type PageContent } from './html/page.ts';
import { rasterFigure } from './html/raster.ts';
import { measureSpectrum, spectrumFigure } from './html/spectrum.ts';
import type { Smallest } from './html/tests-table.ts';
import { walkEnvelope, walkFigure } from './html/walk.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';

/** Sequences whose p-values are plotted. From one more on, the second level usually takes the plot's place. */
const PLOTTED_SEQUENCES = SECOND_LEVEL_MINIMUM_SEQUENCES - 1;

/** The input and the program that the page names. */
export type PageHead = Pick<PageContent, 'input' | 'program'> & { readonly constants: Constants };

export class HtmlOutput implements AssessOutput {
  readonly #write: (page: string) => void;
  readonly #head: PageHead;
  readonly #smallest = new Map<TestName, Smallest>();
  /** The p-values of the first sequences; of the others only the smallest is kept. */
  readonly #pValues = new Map<TestName, (readonly number[])[]>();
  #first: SuiteReport | undefined;
  #plotted = 0;
  #pictures: Markup = NOTHING;

  /** Calls `write` with the page once, when the run ends. */
  constructor(head: PageHead, write: (page: string) => void) {
    this.#head = head;
    this.#write = write;
  }

  /** Draws the first sequence. Keeps only what the page shows. */
  draw(bytes: Uint8Array, bits: number): void {
    const spectrum = measureSpectrum(bytes, bits, this.#head.constants);
    this.#pictures = markup`${rasterFigure(bytes, bits)}${walkFigure(walkEnvelope(bytes, bits))}${spectrumFigure(spectrum, bits)}`;
  }

  add(report: SuiteReport): void {
    this.#first ??= report;
    const plot = this.#plotted < PLOTTED_SEQUENCES;
    if (plot) this.#plotted++;
    for (const outcome of report.tests) if (outcome.applicable) this.#addTest(outcome, plot);
  }

  #addTest({ name, pValues }: ApplicableOutcome, plot: boolean): void {
    const { p, count } = this.#smallest.get(name) ?? { p: 1, count: 0 };
    const smallest = { p: Math.min(p, ...pValues), count: count + pValues.length };
    this.#smallest.set(name, smallest);
    if (!plot) return;
    const plotted = this.#pValues.get(name) ?? [];
    plotted.push(pValues);
    this.#pValues.set(name, plotted);
  }

  end(summary: AssessSummary): void {
    if (!this.#first) return;
    const page = formatPage({
      input: this.#head.input,
      program: this.#head.program,
      summary,
      first: this.#first,
      smallest: this.#smallest,
      pValues: this.#plottedTests(),
      plotted: this.#plotted,
      pictures: this.#pictures,
    });
    this.#write(page);
  }

  #plottedTests(): TestPValues[] {
    return TEST_NAMES.flatMap((name) => {
      const sequences = this.#pValues.get(name);
      return sequences ? [{ name, sequences }] : [];
    });
  }
}
