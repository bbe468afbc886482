/** Outputs of the reports: JSON, CSV or text. Each writes as it goes and keeps at most one report. */
import { ALPHA, P_VALUE_LABELS, type SuiteReport } from '../index.ts';
import { formatSequenceText, formatSummaryText, toJsonSummary } from './format.ts';
import { toAssessReport } from './json.ts';
import type { AssessOutput, AssessSummary } from './summary.ts';

export type OutputKind = 'text' | 'json' | 'csv';

type Write = (text: string) => void;

export function makeOutput(kind: OutputKind, write: Write): AssessOutput {
  if (kind === 'json') return new JsonOutput(write);
  return kind === 'csv' ? new CsvOutput(write) : new TextOutput(write);
}

/**
 * Writes one report, or `{"bits", "constants", "sequences": […], "summary"}` on one line if there are several
 * sequences or the run ended early. Each report is written as soon as it is complete.
 */
class JsonOutput implements AssessOutput {
  readonly #write: Write;
  /** The first report, kept until the second one or the end. */
  #first: SuiteReport | undefined;
  #separator = '';

  constructor(write: Write) {
    this.#write = write;
  }

  add(report: SuiteReport): void {
    if (this.#first === undefined && this.#separator === '') {
      this.#first = report;
      return;
    }
    this.#writeFirst();
    this.#writeSequence(report);
  }

  end(summary: AssessSummary): void {
    if (this.#first && summary.complete) {
      this.#write(`${JSON.stringify(toAssessReport(this.#first))}\n`);
      return;
    }
    this.#writeFirst();
    this.#write(`],"summary":${JSON.stringify(toJsonSummary(summary))}}\n`);
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

/** Writes one line per p-value and sequence; both count from 1. */
class CsvOutput implements AssessOutput {
  readonly #write: Write;
  #sequence = 0;

  constructor(write: Write) {
    this.#write = write;
  }

  add(report: SuiteReport): void {
    const heading = 'sequence,test,index,label,p_value,passed\n';
    const lines = this.#sequence === 0 ? [heading] : [];
    this.#sequence++;
    for (const outcome of report.tests) {
      if (!outcome.applicable) continue;
      for (const [i, p] of outcome.pValues.entries()) {
        const label = P_VALUE_LABELS[outcome.name][i];
        lines.push(`${this.#sequence},${outcome.name},${i + 1},${label},${p},${p >= ALPHA}\n`);
      }
    }
    this.#write(lines.join(''));
  }

  end(): void {
    // `add` has written every line.
  }
}

/** Writes a table at the end: on the sequence if there is one, else on the source. */
class TextOutput implements AssessOutput {
  readonly #write: Write;
  #first: SuiteReport | undefined;

  constructor(write: Write) {
    this.#write = write;
  }

  add(report: SuiteReport): void {
    this.#first ??= report;
  }

  end(summary: AssessSummary): void {
    if (!this.#first) return;
    const { bits, constants } = this.#first;
    const single = summary.sequences === 1 && summary.complete;
    this.#write(
      single ? formatSequenceText(this.#first) : formatSummaryText(bits, constants, summary),
    );
  }
}
