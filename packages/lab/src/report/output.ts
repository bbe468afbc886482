/** Outputs of the reports of the suite. Each writes as it goes and keeps at most one report. */
import { CsvOutput } from './csv-output.ts';
import { JsonOutput } from './json-output.ts';
import type { AssessOutput } from './summary.ts';
import { TextOutput } from './text-output.ts';
import type { TraceSource } from './trace.ts';

export type OutputKind = 'text' | 'json' | 'csv';

/** Returns an output. It has the facts of `trace`, which it calls at the end. */
export function makeOutput(
  kind: OutputKind,
  write: (text: string) => void,
  trace?: TraceSource,
): AssessOutput {
  if (kind === 'json') return new JsonOutput(write, trace);
  return kind === 'csv' ? new CsvOutput(write, trace) : new TextOutput(write, trace);
}
