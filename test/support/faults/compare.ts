/** Two runs of the same faults side by side, as a table in Markdown. */
import type { FaultSummary, Run } from './run.ts';

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** A line a fault, by store; a run without the fault has a dash. */
export function compare(before: readonly Run[], after: readonly Run[]): string {
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

/** The faults of all runs on a store by name; those of one name together. */
function faultsOf(runs: readonly Run[], store: Run['store']): Map<string, FaultSummary> {
  const all = runs.filter((run) => run.store === store).flatMap(({ summary }) => summary);
  const faults = new Map<string, FaultSummary>();
  for (const one of all) faults.set(one.fault, add(faults.get(one.fault), one));
  return faults;
}

function add(some: FaultSummary | undefined, more: FaultSummary): FaultSummary {
  if (!some) return more;
  return {
    fault: some.fault,
    times: some.times + more.times,
    longestReturnMs: Math.max(some.longestReturnMs, more.longestReturnMs),
    hiddenMs: some.hiddenMs + more.hiddenMs,
    lost: some.lost + more.lost,
    broken: some.broken + more.broken,
    startsGivenUp: some.startsGivenUp + more.startsGivenUp,
    outcomes: [...new Set([...some.outcomes, ...more.outcomes])],
    findings: [...new Set([...some.findings, ...more.findings])],
  };
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
    ...summary.findings,
    Number.isFinite(longestReturnMs) && `back after ${seconds(longestReturnMs)}`,
  ].filter((part) => typeof part === 'string');
  return `${times} ×: ${said.join('; ').replaceAll('|', '\\|')}`;
}
