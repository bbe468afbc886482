/** Counts as the table of limits, a TypeScript file, and as Markdown. */
import { NIST_PARAMETERS, resolveParameters } from '../../../sp800-22/src/index-node.ts';
import { type PValueLaw, pValueLaw, UNIFORM_LAW } from '../../../sp800-22/src/p-value-laws.ts';
import type { LawCounts, LengthCounts } from './counts.ts';
import { distance, proportionLimit, uniformityLimit } from './limits.ts';

/** Lengths with fewer p-values say too little. */
const FEWEST = 20_000;

/** Returns packages/sp800-22/src/second-level-table.ts for the counts of docs/evidence/second-level/counts.json. */
export function formatTable(counts: Readonly<Record<string, LengthCounts>>): string {
  const lengths = Object.keys(counts)
    .map(Number)
    .sort((a, b) => a - b);
  const keys = [...new Set(lengths.flatMap((bits) => Object.keys(counts[bits])))];
  const entries = keys.flatMap((key) => {
    const rows = lengths.flatMap((bits) => limitsOf(key, bits, counts));
    return rows.length > 0 ? [entryText(key, rising(rows))] : [];
  });
  return `${HEAD}${entries.join('')}};\n`;
}

type Limits = [bits: number, proportion: number, uniformity: number];

/** Lengths up to this factor longer have practically the same distances. */
const NEARLY_EQUAL = 1.05;

/** Returns the limits of an entry, from the length about as long that was measured with most sequences. */
function limitsOf(
  key: string,
  bits: number,
  counts: Readonly<Record<string, LengthCounts>>,
): Limits[] {
  const [most] = Object.keys(counts)
    .map(Number)
    .filter((length) => length >= bits && length <= NEARLY_EQUAL * bits && key in counts[length])
    .sort((a, b) => counts[b][key].sequences - counts[a][key].sequences);
  const entry = most === undefined ? undefined : counts[most][key];
  if (!entry || entry.sequences < FEWEST || !(key in counts[bits])) return [];
  // The limits of `block_frequency` are for blocks that are too long for its exact law.
  const law = entry.test === 'block_frequency' ? UNIFORM_LAW : lawOf(entry, most);
  return law.exact ? [] : [[bits, proportionLimit(entry, law), uniformityLimit(entry, law)]];
}

/** Returns the law of an entry with the parameters of the NIST program. */
function lawOf({ test }: LawCounts, bits: number): PValueLaw {
  const parameters = resolveParameters(bits, NIST_PARAMETERS);
  return pValueLaw({ test, index: 1, label: '' }, bits, parameters);
}

/**
 * Raises each limit to those of shorter sequences, which may have been measured with more of them: the longer a
 * sequence, the closer are its p-values to their law. Leaves out lengths that change nothing.
 */
function rising(rows: readonly Limits[]): Limits[] {
  const risen: Limits[] = [];
  let [proportion, uniformity] = [-1, -1];
  for (const row of rows) {
    if (row[1] <= proportion && row[2] <= uniformity) continue;
    proportion = Math.max(proportion, row[1]);
    uniformity = Math.max(uniformity, row[2]);
    risen.push([row[0], proportion, uniformity]);
  }
  return risen;
}

const HEAD = `/**
 * Most sequences that the second level may judge, by test. An entry holds from its length up to the next one, the
 * first also below.
 * Written by \`node packages/lab/studies/second-level.ts table\` from docs/evidence/second-level/counts.json.
 */
type LimitTable = Readonly<
  Record<string, readonly (readonly [bits: number, proportion: number, uniformity: number])[]>
>;

// biome-ignore format: one line for each length
export const MOST_SEQUENCES: LimitTable = {
`;

function entryText(key: string, rows: readonly number[][]): string {
  const name = /^\w+$/.test(key) ? key : `'${key}'`;
  return `  ${name}: [\n${rows.map((row) => `    [${row.map(grouped).join(', ')}],\n`).join('')}  ],\n`;
}

function grouped(value: number): string {
  return value < 10_000 ? String(value) : value.toLocaleString('en').replaceAll(',', '_');
}

/** Returns a Markdown table of the distances of the counts from their law and from the uniform one. */
export function distanceLines(counts: Readonly<Record<string, LengthCounts>>): string[] {
  const head = [
    '| Test | Bits | p-values | Distance | ± | from uniform | p < 0.01 | by the law |',
    '|---|---|---|---|---|---|---|---|',
  ];
  const rows = Object.entries(counts).flatMap(([bits, entries]) =>
    Object.entries(entries)
      .filter(([, { sequences }]) => sequences >= FEWEST)
      .map(([key, entry]) => ({ key, line: distanceLine(key, Number(bits), entry) })),
  );
  const keys = [...new Set(rows.map(({ key }) => key))];
  const lines = keys.flatMap((key) => rows.filter((row) => row.key === key));
  return [...head, ...lines.map(({ line }) => line)];
}

function distanceLine(key: string, bits: number, entry: LawCounts): string {
  const law = lawOf(entry, bits);
  const { squared, standardError } = distance(entry, law);
  const uniform = distance(entry, UNIFORM_LAW);
  const cells = [
    key,
    bits.toLocaleString('en'),
    entry.sequences.toLocaleString('en'),
    squared.toExponential(1),
    standardError.toExponential(1),
    uniform.squared.toExponential(1),
    (entry.below / entry.sequences).toFixed(5),
    `${law.belowAlpha.toFixed(5)}${law.exact ? ', exact' : ''}`,
  ];
  return `| ${cells.join(' | ')} |`;
}
