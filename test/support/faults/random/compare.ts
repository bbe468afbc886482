/** Compares two sets of fault records in a Markdown table. */
import type { FaultRecord } from './campaign.ts';
import { type FaultSummary, type Store, summarize } from './run.ts';

/** One line of the file that a run saves. */
export type SavedRecord = FaultRecord & { readonly store: Store };

/** Consequences of lost rows, which the number of lost rows already covers. */
const CONSEQUENCE = / of acct_|is called not valid/;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Returns one table per store, with one line per fault. A dash marks a set without that fault. */
export function compare(before: readonly SavedRecord[], after: readonly SavedRecord[]): string {
  return (['postgres', 'sqlite'] as const)
    .map((store) => {
      const earlier = faultsOf(before, store);
      const later = faultsOf(after, store);
      const names = [...new Set([...later.keys(), ...earlier.keys()])].sort();
      const lines = names.map(
        (name) => `| ${name} | ${cell(earlier.get(name))} | ${cell(later.get(name))} |`,
      );
      return ['| Fault | Before | After |', '|---|---|---|', ...lines, ''].join('\n');
    })
    .join('\n');
}

function faultsOf(records: readonly SavedRecord[], of: Store): Map<string, FaultSummary> {
  const some = records.filter(({ store }) => store === of);
  return new Map(summarize(some).map((summary) => [summary.fault, summary]));
}

function cell(summary: FaultSummary | undefined): string {
  if (!summary) return '–';
  const { times, lost, hiddenMs, broken, startsGivenUp, outcomes, longestReturnMs } = summary;
  const said = [
    lost > 0 && `**${lost} keys lost**`,
    hiddenMs > 0 && `ready without keys for ${seconds(hiddenMs)}`,
    broken > 0 && `${broken} answers 503 outside of the contract`,
    startsGivenUp > 0 && `${startsGivenUp} starts given up`,
    ...outcomes,
    ...summary.findings.filter((finding) => !CONSEQUENCE.test(finding)),
    Number.isFinite(longestReturnMs) && `served again within ${seconds(longestReturnMs)}`,
  ].filter((part) => typeof part === 'string');
  return `${times} ×: ${said.join('; ').replaceAll('|', '\\|')}`;
}
