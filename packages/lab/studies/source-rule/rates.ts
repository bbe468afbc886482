/** How often the rule fails sound sources, by length and number of sequences. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runPackedSuite, TEST_NAMES } from '../../../sp800-22/src/index-node.ts';
import {
  PART_NAMES,
  SHARES,
  SOURCE_ALPHA,
  type SourceVerdict,
} from '../../../sp800-22/src/source-rule/index.ts';
import { RunCounts } from '../../src/index-node.ts';
import { lowerBound, upperBound } from '../clopper-pearson.ts';
import { namedSource } from './sources.ts';

/** Numbers of sequences after which a source is judged. */
const CELLS = [1, 2, 5, 10, 54, 55, 100, 200, 500, 1000];

/** One source: for each cell, the p of each part; null if it was not judged. */
type Line = {
  readonly source: number;
  readonly cells: Readonly<Record<number, (number | null)[]>>;
};

/** Judges sources until the file of this length has so many. */
export function measureRates(
  folder: string,
  { bits, sources, sequences }: { bits: number; sources: number; sequences: number },
): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${bits}-${sequences}.jsonl`);
  const saved = completeLines(path);
  for (let source = saved; source < sources; source++) {
    const line: Line = { source, cells: judgeSound(bits, sequences, source) };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  }
}

/** Returns the number of lines in a file, after it has lost one that an interruption left without its end. */
function completeLines(path: string): number {
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'utf8');
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  if (complete !== text) writeFileSync(path, complete);
  return complete.split('\n').length - 1;
}

function judgeSound(bits: number, sequences: number, source: number): Line['cells'] {
  const next = namedSource(`rates ${bits} ${source}`);
  const counts = new RunCounts(TEST_NAMES);
  const cells: Record<number, (number | null)[]> = {};
  for (let i = 0; i < sequences; i++) {
    const bytes = Uint8Array.from(next(Math.ceil(bits / 8)));
    counts.take({ bytes, bits, offsetBits: 0 }, i);
    counts.add(runPackedSuite(bytes, { bits, scan: true }));
    if (CELLS.includes(i + 1)) cells[i + 1] = partsOf(counts.summary(true).verdict);
  }
  return cells;
}

function partsOf({ parts }: SourceVerdict): (number | null)[] {
  return parts.map((part) => (part.judged ? Number(part.p.toPrecision(4)) : null));
}

interface Cell {
  readonly bits: number;
  readonly m: number;
  sources: number;
  failed: number;
  readonly byPart: number[];
}

/** Returns the saved rates as a Markdown table, and the rate of all cells together. */
export function rateTable(folder: string): string[] {
  const cells = new Map<string, Cell>();
  for (const [bits, lines] of savedLines(folder)) {
    for (const line of lines.values()) addLine(cells, bits, line);
  }
  const sorted = [...cells.values()].sort((a, b) => a.bits - b.bits || a.m - b.m);
  const each = 0.025 / sorted.length;
  return [
    `| Bits | m | Sources | FAILED | Rate | 95 % lower bound, over all cells | ${PART_NAMES.join(' | ')} |`,
    `|---|---|---|---|---|---|${PART_NAMES.map(() => '---|').join('')}`,
    ...sorted.map((cell) => cellLine(cell, each)),
    pooledLine(sorted),
  ];
}

/** Returns the lines of each length by source. Of a source that was judged twice, the one with more sequences counts. */
function savedLines(folder: string): ReadonlyMap<number, ReadonlyMap<number, Line>> {
  const saved = new Map<number, Map<number, Line>>();
  for (const file of readdirSync(folder)) {
    const bits = Number(file.split('-')[0]);
    const lines = saved.get(bits) ?? new Map<number, Line>();
    saved.set(bits, lines);
    for (const text of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (text === '') continue;
      const line = JSON.parse(text) as Line;
      const other = lines.get(line.source);
      const isLonger = !other || Object.keys(line.cells).length > Object.keys(other.cells).length;
      if (isLonger) lines.set(line.source, line);
    }
  }
  return saved;
}

function addLine(cells: Map<string, Cell>, bits: number, { cells: judged }: Line): void {
  for (const [m, parts] of Object.entries(judged)) {
    const key = `${bits} ${m}`;
    const cell = cells.get(key) ?? {
      bits,
      m: Number(m),
      sources: 0,
      failed: 0,
      byPart: PART_NAMES.map(() => 0),
    };
    cells.set(key, cell);
    cell.sources++;
    const failed = PART_NAMES.map((name, i) => {
      const p = parts[i];
      return p !== null && p < SHARES[name];
    });
    if (failed.includes(true)) cell.failed++;
    for (const [i, isFailed] of failed.entries()) if (isFailed) cell.byPart[i]++;
  }
}

function cellLine({ bits, m, sources, failed, byPart }: Cell, each: number): string {
  const figures = [bits, m, sources, failed].map((value) => value.toLocaleString('en'));
  const bounds = [percent(failed / sources), percent(lowerBound(failed, sources, each))];
  return `| ${[...figures, ...bounds, ...byPart].join(' | ')} |`;
}

/** The cells of one length share their sources, so the interval takes the sources of one cell, and rounds failures up. */
function pooledLine(cells: readonly Cell[]): string {
  const sources = cells.reduce((sum, cell) => sum + cell.sources, 0);
  const failed = cells.reduce((sum, cell) => sum + cell.failed, 0);
  const byLength = new Map(cells.map((cell) => [cell.bits, cell.sources]));
  const independent = [...byLength.values()].reduce((sum, count) => sum + count, 0);
  const rate = failed / sources;
  const high = upperBound(Math.ceil((failed * independent) / sources), independent, 0.025);
  return `\nAll cells: ${failed} of ${sources}, ${percent(rate)}; at most ${percent(high)} (97.5 %, as of the ${independent} sources that are independent). The shares sum to ${percent(SOURCE_ALPHA)}.`;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
