/** The CSV report: a line for each p-value, and the trace as comments. */
import {
  ALPHA,
  NOT_OF_STANDARD,
  rowLabels,
  type SuiteReport,
} from '../../../sp800-22/src/index.ts';
import type { SmallestRow } from './smallest-row.ts';
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

/** Returns the verdict of each group as names and values. */
function verdictRows({ supplements, ...tests }: AssessSummary): [name: string, value: string][] {
  return [
    ...groupRows(tests, 'Source'),
    ...(supplements ? groupRows(supplements, 'Source, by the supplements') : []),
  ];
}

function groupRows(group: GroupSummary, what: string): [name: string, value: string][] {
  const parts = partRows(group).map(({ title, p, limit, result, found }): [string, string] => [
    `Part: ${title}`,
    `${result}, p ${p}, limit ${limit}${found === '' ? '' : `: ${found}`}`,
  ]);
  return [
    [what, sourceText(group.verdict.passed, '').slice(2)],
    ...(group.smallest ? [smallestRow(group.smallest)] : []),
    ...parts,
  ];
}

function smallestRow(smallest: SmallestRow): [name: string, value: string] {
  const text = smallestText(smallest);
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
