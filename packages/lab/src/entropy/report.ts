/**
 * The report of `phm assess-entropy` in its forms: text, JSON and page. The page of `phm testbench` writes them too, so
 * that both write the same bytes.
 */

import { alignColumns, textOf } from '../report/text.ts';
import { claimJson, claimText } from './claim.ts';
import type { EntropyReport } from './model.ts';
import { formatEntropyPage } from './page.ts';
import { type EntropyTrace, entropyTraceRows } from './trace.ts';
import { warningSentence } from './warnings.ts';

/** Each ends with a line end. */
interface EntropyForms {
  readonly text: string;
  readonly json: string;
  readonly html: string;
}

/** Returns the report. `warnings` have the form of standard error: `warning: …`, without a full stop. */
export function entropyForms(
  trace: EntropyTrace,
  report: EntropyReport,
  warnings: readonly string[],
): EntropyForms {
  const { text, json, claim, page } = report;
  const sentences = warnings.map(warningSentence);
  const record = { ...trace, warnings: sentences, ...json, ...claimJson(claim) };
  return {
    text: textOf([
      ...text,
      ...sentences.map((sentence) => [`Warning: ${sentence}`]),
      alignColumns(entropyTraceRows(trace, page)),
      claim ? [claimText(claim)] : [],
    ]),
    json: `${JSON.stringify(record)}\n`,
    html: formatEntropyPage(trace, report, sentences),
  };
}
