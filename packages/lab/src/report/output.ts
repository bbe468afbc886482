/** Outputs of the reports: JSON, CSV or text. Each writes as it goes and keeps at most one report. */
import {
  ALPHA,
  NOT_OF_STANDARD,
  rowLabels,
  type SuiteReport,
  toAssessReport,
} from '../../../sp800-22/src/index.ts';
import { formatSequenceText, formatSummaryText, toJsonSummary } from './format.ts';
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
 * Writes one report, or `{"bits", "constants", "sequences": […], "summary", …}` on one line if there are several
 * sequences or the run ended early. Each report is written as soon as it is complete.
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
      const report = { ...toAssessReport(this.#first), ...this.#traceJson(summary) };
      this.#write(`${JSON.stringify(report)}\n`);
      return;
    }
    this.#writeFirst();
    const rest = { summary: toJsonSummary(summary), ...this.#traceJson(summary) };
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

/** Writes one line per p-value and sequence; both count from 1. The trace follows in lines that begin with `#`. */
class CsvOutput implements AssessOutput {
  readonly #write: Write;
  readonly #trace: TraceSource | undefined;
  #last: SuiteReport | undefined;
  #sequence = 0;

  constructor(write: Write, trace: TraceSource | undefined) {
    this.#write = write;
    this.#trace = trace;
  }

  add(report: SuiteReport): void {
    this.#last = report;
    const heading = 'sequence,test,index,label,p_value,passed\n';
    const lines = this.#sequence === 0 ? [heading] : [];
    this.#sequence++;
    for (const outcome of report.tests) {
      if (!outcome.applicable) continue;
      const labels = rowLabels(outcome.name, report.bits, report.parameters);
      for (const [i, p] of outcome.pValues.entries()) {
        lines.push(`${this.#sequence},${outcome.name},${i + 1},${labels[i]},${p},${p >= ALPHA}\n`);
      }
    }
    for (const one of report.supplements ?? []) {
      if (!one.applicable) continue;
      const [p] = one.pValues;
      lines.push(`${this.#sequence},${one.name},1,${NOT_OF_STANDARD},${p},${p >= ALPHA}\n`);
    }
    this.#write(lines.join(''));
  }

  end(summary: AssessSummary): void {
    if (!this.#trace || !this.#last) return;
    const rows = traceRows(this.#trace(), this.#last, summary);
    this.#write(rows.map(([name, value]) => `# ${name},${quoted(value)}\n`).join(''));
  }
}

/**
 * Returns a field that is a value of others, such as the name of a file. The quotes keep it one field (RFC 4180 §2), and the
 * apostrophe keeps a spreadsheet from running it as a formula (OWASP, CSV injection).
 */
function quoted(value: string): string {
  const inert = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/.test(value) ? `'${value}` : value;
  return `"${inert.replaceAll('"', '""')}"`;
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
    if (!this.#trace) return;
    const lines = alignColumns(traceRows(this.#trace(), this.#first, summary));
    this.#write(`\n${lines.join('\n')}\n`);
  }
}

function isSole({ sequences, complete }: AssessSummary): boolean {
  return sequences === 1 && complete;
}

function sequenceOrSource(first: SuiteReport, summary: AssessSummary): string {
  if (isSole(summary)) return formatSequenceText(first);
  return formatSummaryText(first, summary);
}

function supplementText({ supplements }: SuiteReport, summary: AssessSummary): string {
  if (!supplements || !summary.supplements) return '';
  return isSole(summary)
    ? formatSupplements(supplements)
    : formatSupplementSummary(summary.supplements);
}
