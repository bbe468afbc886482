/** The JSON report: written as it goes, with the summary and the trace at the end. */
import {
  type LongStreams,
  NOT_OF_STANDARD,
  type SecondLevel,
  type SuiteReport,
  toAssessReport,
} from '../../../sp800-22/src/index.ts';
import type { SourcePart, SourceVerdict } from '../../../sp800-22/src/source-rule/index.ts';
import { snakeCase } from './snake-case.ts';
import type { AssessOutput, AssessSummary, GroupSummary } from './summary.ts';
import { type TraceSource, traceJson } from './trace.ts';

/**
 * Writes one report with `summary`, or `{"bits", "constants", "sequences": […], "summary", …}` on one line if there are
 * several sequences or the run ended early. Each report is written as soon as it is complete.
 */
export class JsonOutput implements AssessOutput {
  readonly #write: (text: string) => void;
  readonly #trace: TraceSource | undefined;
  /** The first report, kept until the second one or the end. */
  #first: SuiteReport | undefined;
  #last: SuiteReport | undefined;
  #separator = '';

  constructor(write: (text: string) => void, trace: TraceSource | undefined) {
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

/** The `summary` of a report on several sequences. */
function toJsonSummary(summary: AssessSummary): object {
  const { sequences, complete, tests, supplements } = summary;
  return {
    sequences,
    complete,
    passed: summary.passed,
    ...toJsonGroup(summary),
    tests,
    ...(supplements && {
      supplements: {
        standard: NOT_OF_STANDARD,
        ...toJsonGroup(supplements),
        tests: supplements.tests,
      },
    }),
  };
}

function toJsonGroup({ smallest, verdict, secondLevel }: GroupSummary): object {
  const { passed, alpha, parts, findings } = verdict;
  return {
    smallest: smallest ?? null,
    verdict: { passed, alpha, parts: parts.map((part) => toJsonPart(part, findings)) },
    second_level: toJsonSecondLevel(secondLevel),
  };
}

/** The figures of the second level stand beside the verdict, because there are many. */
function toJsonPart(part: SourcePart, findings: SourceVerdict['findings']): object {
  return part.name === 'second_level' ? part : { ...part, found: findings[part.name] ?? null };
}

function toJsonSecondLevel(secondLevel: SecondLevel): object {
  if (!secondLevel.judged) return secondLevel;
  const { judged, passed, rows, ...figures } = secondLevel;
  return { judged, passed, ...snakeCase(figures), rows: rows.map(snakeCase) };
}

/** Returns the member of a JSON report, or none. */
function longStreamsJson(all: LongStreams | undefined): { long_streams?: object } {
  return all ? { long_streams: { standard: NOT_OF_STANDARD, ...snakeCase(all) } } : {};
}
