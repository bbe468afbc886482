/** Outputs of the reports: JSON, CSV (`csv-output.ts`) or text. Each writes as it goes and keeps at most one report. */
import { type SuiteReport, toAssessReport } from '../../../sp800-22/src/index.ts';
import { CsvOutput } from './csv-output.ts';
import { formatSequenceText, formatSummaryText, toJsonSummary } from './format.ts';
import { formatLongStreams, longStreamsJson } from './long-streams.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';
import { formatSupplementSummary, formatSupplements } from './supplements.ts';
import { alignColumns } from './table.ts';
import { type TraceSource, traceJson, traceRows } from './trace.ts';

export type OutputKind = 'text' | 'json' | 'csv';

type Write = (text: string) => void;

/** Returns an output. It has the facts of `trace`, which it calls at the end. */
export function makeOutput(kind: OutputKind, write: Write, trace?: TraceSource): AssessOutput {
  if (kind === 'json') return new JsonOutput(write, trace);
  return kind === 'csv' ? new CsvOutput(write, trace) : new TextOutput(write, trace);
}

/**
 * Writes one report with `summary`, or `{"bits", "constants", "sequences": […], "summary", …}` on one line if there are
 * several sequences or the run ended early. Each report is written as soon as it is complete.
 */
class JsonOutput implements AssessOutput {
  readonly #write: Write;
  readonly #trace: TraceSource | undefined;
  /** The first report, kept until the second one or the end. */
  #first: SuiteReport | undefined;
  #last: SuiteReport | undefined;
  #separator = '';

  constructor(write: Write, trace: TraceSource | undefined) {
    this.#write = write;
    this.#trace = trace;
  }

  add(report: SuiteReport): void {
    this.#last = report;
    if (this.#first === undefined && this.#separator === '') {
      this.#first = report;
      return;
    }
    this.#writeFirst();
    this.#writeSequence(report);
  }

  end(summary: AssessSummary): void {
    if (this.#first && summary.complete) {
      const report = {
        ...toAssessReport(this.#first),
        ...longStreamsJson(summary.longStreams),
        summary: toJsonSummary(summary),
        ...this.#traceJson(summary),
      };
      this.#write(`${JSON.stringify(report)}\n`);
      return;
    }
    this.#writeFirst();
    const all = { ...toJsonSummary(summary), ...longStreamsJson(summary.longStreams) };
    const rest = { summary: all, ...this.#traceJson(summary) };
    this.#write(`],${JSON.stringify(rest).slice(1)}\n`);
  }

  #traceJson(summary: AssessSummary): object {
    return this.#trace && this.#last ? traceJson(this.#trace(), this.#last, summary) : {};
  }

  #writeFirst(): void {
    if (!this.#first) return;
    const { bits, constants } = this.#first;
    const head = JSON.stringify({ bits, constants });
    this.#write(`${head.slice(0, -1)},"sequences":[`);
    this.#writeSequence(this.#first);
    this.#first = undefined;
  }

  #writeSequence(report: SuiteReport): void {
    this.#write(`${this.#separator}${JSON.stringify(toAssessReport(report))}`);
    this.#separator = ',';
  }
}

/** Writes a table at the end: on the sequence if there is one, else on the source. */
class TextOutput implements AssessOutput {
  readonly #write: Write;
  readonly #trace: TraceSource | undefined;
  #first: SuiteReport | undefined;

  constructor(write: Write, trace: TraceSource | undefined) {
    this.#write = write;
    this.#trace = trace;
  }

  add(report: SuiteReport): void {
    this.#first ??= report;
  }

  end(summary: AssessSummary): void {
    if (!this.#first) return;
    this.#write(`${sequenceOrSource(this.#first, summary)}${supplementText(this.#first, summary)}`);
    if (summary.longStreams) this.#write(formatLongStreams(summary.longStreams));
    if (!this.#trace) return;
    const lines = alignColumns(traceRows(this.#trace(), this.#first, summary));
    this.#write(`\n${lines.join('\n')}\n`);
  }
}

function isSole({ sequences, complete }: AssessSummary): boolean {
  return sequences === 1 && complete;
}

function sequenceOrSource(first: SuiteReport, summary: AssessSummary): string {
  if (isSole(summary)) return formatSequenceText(first, summary);
  return formatSummaryText(first, summary);
}

function supplementText({ supplements }: SuiteReport, summary: AssessSummary): string {
  if (!supplements || !summary.supplements) return '';
  return isSole(summary)
    ? formatSupplements(supplements, summary.supplements)
    : formatSupplementSummary(summary.supplements);
}
