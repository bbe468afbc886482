/** The report as a web page: gathers its content during the run and writes it at the end. */

import { assertObject, callback } from '../../../sp800-22/src/arguments.ts';
import {
  type ApplicableOutcome,
  type Constants,
  grouped,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
  testLevelP,
} from '../../../sp800-22/src/index.ts';
import { FailingSequences, resultOf, type SequenceResult } from './failing-sequences.ts';
import { PValueClasses } from './html/distribution.ts';
import { LISTED_SEQUENCES } from './html/failing-section.ts';
import type { Markup } from './html/markup.ts';
import type { TestPValues } from './html/p-value-plot.ts';
import { formatPage, type PageContent, type Pictures } from './html/page.ts';
import { rasterFigure } from './html/raster.ts';
import { measureSpectrum, spectrumFigure } from './html/spectrum.ts';
import type { Smallest } from './html/tests-table.ts';
import { walkEnvelope, walkFigure } from './html/walk.ts';
import { pValueText } from './p-value-text.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';
import { type TraceSource, traceJson, traceRows } from './trace.ts';
import {
  type AlignedSequence,
  alignedCopy,
  type DrawnSequence,
  WorstSequence,
} from './worst-sequence.ts';

/** Sequences whose p-values are plotted. From one more on, the second level usually takes the plot's place. */
const PLOTTED_SEQUENCES = SECOND_LEVEL_MINIMUM_SEQUENCES - 1;

/** The input and the program that the page names. */
export type PageHead = Pick<PageContent, 'input' | 'program'> & {
  readonly constants: Constants;
  /** Leaves out the picture of the bits. */
  readonly omitBits?: boolean;
  readonly trace?: TraceSource;
};

export class HtmlOutput implements AssessOutput {
  readonly #write: (page: string) => void;
  readonly #head: PageHead;
  readonly #smallest = new Map<TestName, Smallest>();
  /** The p-values of the first sequences; of the others only the smallest is kept. */
  readonly #pValues = new Map<TestName, (readonly number[])[]>();
  readonly #classes = new PValueClasses();
  readonly #failing = new FailingSequences(LISTED_SEQUENCES);
  readonly #worst = new WorstSequence();
  #first: SuiteReport | undefined;
  /** Sequences added. */
  #added = 0;
  #plotted = 0;
  #pictures: readonly Markup[] = [];

  /** Calls `write` with the page once, when the run ends. */
  constructor(head: PageHead, write: (page: string) => void) {
    assertObject('head', head, 'input', 'program', 'constants');
    callback('write', write);
    this.#head = head;
    this.#write = write;
  }

  /**
   * Takes the bits of the sequence at `index`, from 0, before its report. Draws the first one. Copies each until its
   * report comes, and the worst one until the end.
   */
  draw(sequence: DrawnSequence, index = 0): void {
    this.#worst.keep(index, sequence);
    if (index > 0) return;
    const first = alignedCopy(sequence);
    this.#pictures = this.#figures(first, 'sequence 1');
    first.bytes.fill(0);
  }

  #figures({ bytes, bits }: AlignedSequence, name: string): readonly Markup[] {
    const spectrum = measureSpectrum(bytes, bits, this.#head.constants);
    return [
      ...(this.#head.omitBits ? [] : [rasterFigure(bytes, bits, name)]),
      walkFigure(walkEnvelope(bytes, bits), name),
      spectrumFigure(spectrum, bits, name),
    ];
  }

  add(report: SuiteReport): void {
    this.#first ??= report;
    const result = resultOf(report, this.#added++);
    this.#failing.add(result);
    this.#worst.judge(result);
    const plot = this.#plotted < PLOTTED_SEQUENCES;
    if (plot) this.#plotted++;
    for (const outcome of report.tests) if (outcome.applicable) this.#addTest(outcome, plot);
  }

  #addTest({ name, pValues }: ApplicableOutcome, plot: boolean): void {
    const { p, correctedP, count } = this.#smallest.get(name) ?? { p: 1, correctedP: 1, count: 0 };
    const smallest = {
      p: Math.min(p, ...pValues),
      correctedP: Math.min(correctedP, testLevelP(pValues)),
      count: count + pValues.length,
    };
    this.#smallest.set(name, smallest);
    this.#classes.add(name, pValues);
    if (!plot) return;
    const plotted = this.#pValues.get(name) ?? [];
    plotted.push(pValues);
    this.#pValues.set(name, plotted);
  }

  end(summary: AssessSummary): void {
    const worst = this.#worst.end((sequence, result) => this.#drawWorst(sequence, result));
    if (!this.#first) return;
    const trace = this.#head.trace?.();
    const page = formatPage({
      input: this.#head.input,
      omitBits: this.#head.omitBits ?? false,
      program: this.#head.program,
      trace: trace ? traceRows(trace, this.#first, summary) : [],
      facts: trace && traceJson(trace, this.#first, summary),
      summary,
      first: this.#first,
      smallest: this.#smallest,
      pValues: this.#plottedTests(),
      plotted: this.#plotted,
      failing: this.#failing,
      classes: this.#classes,
      pictures: { first: this.#pictures, ...(worst && { worst }) },
    });
    this.#write(page);
  }

  #drawWorst(sequence: AlignedSequence, { index, smallest }: SequenceResult): Pictures['worst'] {
    if (index === 0 || !smallest) return undefined;
    const number = index + 1;
    const text = `Sequence ${grouped(number)} has the smallest corrected p-value of all, ${pValueText(smallest.correctedP)} of ${smallest.name}. Some sequence always has the smallest.`;
    return { number, text, figures: this.#figures(sequence, `sequence ${grouped(number)}`) };
  }

  #plottedTests(): TestPValues[] {
    return TEST_NAMES.flatMap((name) => {
      const sequences = this.#pValues.get(name);
      return sequences ? [{ name, sequences }] : [];
    });
  }
}
