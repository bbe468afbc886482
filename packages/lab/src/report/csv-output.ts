/** The CSV report: a line for each p-value, and the trace as comments. */
import {
  ALPHA,
  NOT_OF_STANDARD,
  rowLabels,
  type SuiteReport,
} from '../../../sp800-22/src/index.ts';
import { longStreamVerdict } from './long-streams.ts';
import type { AssessOutput, AssessSummary, GroupSummary } from './summary.ts';
import { type TraceSource, traceRows } from './trace.ts';
import { partRows, smallestText, sourceText } from './verdict-text.ts';

/** Writes one line per p-value and sequence; both count from 1. The trace follows in lines that begin with `#`. */
export class CsvOutput implements AssessOutput {
  readonly #write: (text: string) => void;
  readonly #trace: TraceSource | undefined;
  #last: SuiteReport | undefined;
  #sequence = 0;

  constructor(write: (text: string) => void, trace: TraceSource | undefined) {
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
    const rows = [...verdictRows(summary), ...traceRows(this.#trace(), this.#last, summary)];
    this.#write(rows.map(([name, value]) => `# ${name},${quoted(value)}\n`).join(''));
  }
}

/** Returns the verdict and what each group found as names and values. */
function verdictRows(summary: AssessSummary): [name: string, value: string][] {
  const { tests, supplements, longStreams } = summary;
  return [
    namedText(sourceText(summary)),
    ...(tests.length > 0 ? groupRows(summary, '') : []),
    ...(supplements ? groupRows(supplements, 'Supplements: ') : []),
    ...(longStreams ? [namedText(longStreamVerdict(longStreams))] : []),
  ];
}

function groupRows(group: GroupSummary, prefix: string): [name: string, value: string][] {
  const parts = partRows(group).map(({ title, p, limit, result, found }): [string, string] => [
    `${prefix}Part: ${title}`,
    `${result}, p ${p}, limit ${limit}${found === '' ? '' : `: ${found}`}`,
  ]);
  const smallest = group.smallest ? [namedText(smallestText(group.smallest))] : [];
  return [
    ...smallest.map(([name, text]): [string, string] => [`${prefix}${name}`, text]),
    ...parts,
  ];
}

/** Returns a text such as "Source: passed" as its name and value. */
function namedText(text: string): [name: string, value: string] {
  const at = text.indexOf(': ');
  return [text.slice(0, at), text.slice(at + 2)];
}

/**
 * Returns a field that is a value of others, such as the name of a file. The quotes keep it one field (RFC 4180 §2), and the
 * apostrophe keeps a spreadsheet from running it as a formula (OWASP, CSV injection).
 */
function quoted(value: string): string {
  const inert = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/.test(value) ? `'${value}` : value;
  return `"${inert.replaceAll('"', '""')}"`;
}
