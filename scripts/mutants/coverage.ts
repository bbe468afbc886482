/** Measures which functions of the program each fast test runs, in its own process, and in the servers and threads that it starts. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTests } from './list.ts';

type Range = readonly [start: number, end: number];
type Ranges = Readonly<Record<string, readonly Range[]>>;

/** By test, what it runs. */
export interface Coverage {
  readonly tests: ReadonlyMap<string, { readonly ranges: Ranges; readonly length: number }>;
  readonly files: ReadonlySet<string>;
}

/** A script in V8's report. The ranges of a function begin with its own, and later ones are within earlier ones. */
interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

const MEASURED = /^(src|packages\/[\w-]+\/src|sdk\/src|dashboard)\//;

function savedIn(root: string): string {
  return join(root, 'build/mutants-coverage.json');
}

/** Reads what `measureCoverage` has saved. */
export function readCoverage(root: string): Coverage {
  const path = savedIn(root);
  if (!existsSync(path)) throw new Error('run first: node scripts/mutants.ts coverage');
  const saved = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Ranges>;
  const tests = new Map(
    Object.entries(saved).map(([test, ranges]) => {
      const all = Object.values(ranges).flat();
      return [test, { ranges, length: all.reduce((sum, [start, end]) => sum + end - start, 0) }];
    }),
  );
  return { tests, files: new Set(Object.values(saved).flatMap(Object.keys)) };
}

/** Runs all fast tests, one after another. It takes some ten minutes, and goes on where it ended. */
export function measureCoverage(root: string): void {
  const path = savedIn(root);
  const saved = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const fast = [...new Set([...readTests(root).values()].flat())].filter(
    ({ tier }) => tier === 'fast',
  );
  for (const { path: test } of fast.filter((file) => saved[file.path] === undefined)) {
    saved[test] = measure(root, test);
    writeFileSync(path, JSON.stringify(saved));
  }
}

function measure(root: string, test: string): Ranges {
  const folder = mkdtempSync(join(tmpdir(), 'phm-coverage-'));
  try {
    // Of functions from a compile cache V8 knows no ranges.
    const env = { ...process.env, NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
    const args = ['--test', '--test-isolation=none', test];
    const { status } = spawnSync(process.execPath, args, { cwd: root, env });
    if (status !== 0) process.stderr.write(`${test} failed\n`);
    return rangesIn(root, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rangesIn(root: string, folder: string): Ranges {
  const runs = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const script of result as readonly Script[]) {
      if (!script.url.startsWith('file:')) continue;
      const file = fileURLToPath(script.url.split('?')[0] ?? '');
      const inside = file.startsWith(root) ? file.slice(root.length) : '';
      if (MEASURED.test(inside)) runs.set(inside, merged(runs.get(inside), marksOf(script)));
    }
  }
  return Object.fromEntries([...runs].map(([file, marks]) => [file, rangesOf(marks)]));
}

/** Marks the characters of functions that ran. What runs when a module is loaded shows nothing. */
function marksOf({ functions }: Script): Uint8Array {
  const inner = functions.filter(({ ranges }) => (ranges[0]?.startOffset ?? 0) > 0);
  const ranges = inner
    .flatMap((one) => one.ranges)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const marks = new Uint8Array(ranges.reduce((end, { endOffset }) => Math.max(end, endOffset), 0));
  for (const { startOffset, endOffset, count } of ranges) {
    marks.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  return marks;
}

function merged(before: Uint8Array | undefined, marks: Uint8Array): Uint8Array {
  if (before === undefined) return marks;
  const all = new Uint8Array(Math.max(before.length, marks.length));
  all.set(before);
  for (const [i, mark] of marks.entries()) all[i] |= mark;
  return all;
}

function rangesOf(marks: Uint8Array): Range[] {
  const ranges: Range[] = [];
  for (let start = marks.indexOf(1); start !== -1; ) {
    const next = marks.indexOf(0, start);
    const end = next === -1 ? marks.length : next;
    ranges.push([start, end]);
    start = marks.indexOf(1, end);
  }
  return ranges;
}
