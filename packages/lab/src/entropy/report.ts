/**
 * The report of `phm assess-entropy` in its forms: text, JSON and page. The page of `phm testbench` writes them too, so
 * that both write the same bytes.
 */

import { claimJson, claimText, type EntropyClaim } from './claim.ts';
import { type EntropyPageParts, formatEntropyPage } from './page.ts';
import { type EntropyTrace, traceText } from './trace.ts';
import { warningSentence } from './warnings.ts';

/** What an assessment contributes to each form. */
export interface EntropyResult {
  readonly text: () => string;
  readonly json: () => Record<string, unknown>;
  /** Null for conditioned output. */
  readonly claim: EntropyClaim | null;
  readonly page: () => EntropyPageParts;
}

/** Each ends with a line end. */
interface EntropyForms {
  readonly text: string;
  readonly json: string;
  readonly html: string;
}

/** Returns the report. `warnings` have the form of standard error: `warning: …`, without a full stop. */
export function entropyForms(
  trace: EntropyTrace,
  { text, json, claim, page }: EntropyResult,
  warnings: readonly string[],
): EntropyForms {
  const parts = page();
  const sentences = warnings.map(warningSentence);
  const warningLines = sentences.map((sentence) => `\nWarning: ${sentence}\n`).join('');
  const record = { ...trace, warnings: sentences, ...json(), ...claimJson(claim) };
  return {
    text: `${text()}${warningLines}${traceText(trace, parts)}${claimText(claim)}`,
    json: `${JSON.stringify(record)}\n`,
    html: formatEntropyPage(trace, parts, { claim, warnings: sentences }),
  };
}
