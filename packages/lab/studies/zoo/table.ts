/** The table of the zoo, as Markdown. */
import type { Finding } from './tools.ts';
import { ZOO } from './zoo.ts';

export type ToolName = 'plain' | 'thorough' | 'practrand' | 'dieharder';

/** What each tool found in each length, in MiB, of each generator. */
export type Results = Record<string, Partial<Record<ToolName, Record<string, Finding>>>>;

const TOOLS: readonly ToolName[] = ['plain', 'thorough', 'practrand', 'dieharder'];

export function table(results: Results): string {
  const rows = ZOO.filter(({ name }) => results[name]).map(({ name, source, sound }) => {
    const cells = TOOLS.map((tool) => cell(results[name]?.[tool]));
    return `| \`${name}\`${sound ? ' (control)' : ''} | ${source} | ${cells.join(' | ')} |\n`;
  });
  return [
    '| Generator | Source | SP 800-22 | `--thorough` | PractRand | dieharder |\n',
    '|---|---|---|---|---|---|\n',
    ...rows,
    summary(results),
  ].join('');
}

/** Returns the least length that a tool fails, with what it found there. */
function cell(found: Record<string, Finding> | undefined): string {
  if (!found || Object.keys(found).length === 0) return 'not run';
  const lengths = Object.keys(found).sort((a, b) => Number(a) - Number(b));
  const fails = lengths.find((length) => found[length].failed);
  if (fails === undefined) return `passes ${lengths.at(-1)} MiB`;
  const { test, p } = found[fails];
  return `**${fails} MiB**: ${test} ${Number(p) === 0 ? '0' : p}`;
}

function summary(results: Results): string {
  const fails = (name: string, tool: ToolName): number => {
    const found = Object.entries(results[name]?.[tool] ?? {}).find(([, { failed }]) => failed);
    return found ? Number(found[0]) : Number.POSITIVE_INFINITY;
  };
  const defective = ZOO.filter(({ name, sound }) => !sound && results[name]).map(
    ({ name }) => name,
  );
  const lines = [1, 4, 64].map((mebibytes) => {
    const counts = TOOLS.map((tool) => {
      const isKnown = (name: string): boolean =>
        fails(name, tool) <= mebibytes || results[name]?.[tool]?.[mebibytes] !== undefined;
      // A tool that was not run on all of them has no count.
      if (!defective.every(isKnown)) return '–';
      return defective.filter((name) => fails(name, tool) <= mebibytes).length;
    });
    return `| ${mebibytes} MiB | ${counts.join(' | ')} |\n`;
  });
  const missed = defective.filter(
    (name) =>
      Math.min(fails(name, 'practrand'), fails(name, 'dieharder')) < fails(name, 'thorough'),
  );
  return `\n| Fail at, of ${defective.length} | SP 800-22 | \`--thorough\` | PractRand | dieharder |\n|---|---|---|---|---|\n${lines.join('')}\nFailed by another tool with less: ${missed.join(', ') || 'none'}.\n`;
}
