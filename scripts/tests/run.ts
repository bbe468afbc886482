/** Runs test files side by side, each in a process of its own, and reports how long each takes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { interruptRun } from '../../test/support/run/leftovers.ts';
import { ROOT } from './tiers.ts';

interface RunOptions {
  /** Name of the run, for its report. */
  readonly title: string;
  /** Longest time of a file in ms. */
  readonly limitMs: number;
  readonly concurrency: number;
  readonly watch: boolean;
  /** Runs only tests whose names contain this text, if it is not empty. */
  readonly name: string;
}

/** What a file did. */
export interface FileOutcome {
  /** Path below the root. */
  readonly file: string;
  readonly seconds: number;
  readonly passed: boolean;
  readonly counts: { readonly tests: number; readonly passed: number; readonly skipped: number };
  /** Diagnostics of its tests, in their order. */
  readonly figures: readonly string[];
}

interface Interruption {
  readonly signal: AbortSignal;
  /** Of the signal that ended the run. */
  exitCode: number | undefined;
}

/** Files named in the report; the saved report has all. */
const NAMED = 10;

const PRELOADED = ['compile-cache.mjs', 'own-folder.mjs'];

/** What the files share. Node's types lack the option. */
const GLOBAL_SETUP = { globalSetupPath: join(ROOT, 'test/support/run/global-setup.ts') };

/** Runs the files. Prints what the tests say and the times; sets `process.exitCode` if a test fails. */
export async function runFiles(
  files: readonly string[],
  { title, limitMs, concurrency, watch, name }: RunOptions,
): Promise<FileOutcome[]> {
  const begin = performance.now();
  const interruption = untilInterrupted();
  const stream = run({
    signal: interruption.signal,
    files: [...files],
    cwd: ROOT,
    concurrency,
    timeout: limitMs,
    watch,
    ...GLOBAL_SETUP,
    execArgv: PRELOADED.flatMap((file) => ['--import', join(ROOT, 'test/support/run', file)]),
    ...(name === '' ? {} : { testNamePatterns: [literal(name)] }),
  });
  const outcomes: FileOutcome[] = [];
  const figures = new Map<string, string[]>();
  stream.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1;
  });
  let isNamed = false;
  stream.on('test:pass', ({ name: test }) => {
    isNamed ||= test.includes(name) && !files.includes(test);
  });
  stream.on('test:diagnostic', ({ file, nesting, message }) => {
    // Where a failed test keeps its data is no figure.
    if (file === undefined || nesting === 0 || message.startsWith('kept: ')) return;
    figures.set(file, [...(figures.get(file) ?? []), message]);
  });
  stream.on('test:summary', ({ file, duration_ms: ms, success, counts }) => {
    if (file === undefined) return;
    outcomes.push({
      file: relative(ROOT, file),
      seconds: Math.round(ms / 100) / 10,
      passed: success,
      counts: { tests: counts.tests, passed: counts.passed, skipped: counts.skipped },
      figures: figures.get(file) ?? [],
    });
  });
  for await (const chunk of stream.compose(spec)) process.stdout.write(chunk);
  report(title, outcomes, (performance.now() - begin) / 1000);
  if (interruption.exitCode !== undefined) process.exitCode = interruption.exitCode;
  // Node passes a file in which no test has the name.
  if (name !== '' && !isNamed && process.exitCode === undefined) {
    process.stderr.write(`no test has "${name}" in its name\n`);
    process.exitCode = 1;
  }
  return outcomes;
}

/** Ends the run at Ctrl-C or SIGTERM. A terminal and npm can both send one, so further signals change nothing. */
function untilInterrupted(): Interruption {
  const controller = new AbortController();
  const interruption: Interruption = { signal: controller.signal, exitCode: undefined };
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      interruption.exitCode ??= 128 + constants.signals[name];
      interruptRun();
      controller.abort();
    });
  }
  return interruption;
}

/** Returns a pattern for a text; the runner reads a string between slashes as an expression. */
function literal(text: string): RegExp {
  return new RegExp(RegExp.escape(text));
}

function report(title: string, outcomes: readonly FileOutcome[], seconds: number): void {
  const slowest = [...outcomes].sort((a, b) => b.seconds - a.seconds);
  const file = join(ROOT, 'build/test-times', `${title}.json`);
  mkdirSync(join(ROOT, 'build/test-times'), { recursive: true });
  const times = slowest.map(({ file: path, seconds: s }) => ({ file: path, seconds: s }));
  writeFileSync(
    file,
    `${JSON.stringify({ title, seconds: Math.round(seconds), times }, null, 2)}\n`,
  );
  const lines = slowest
    .slice(0, NAMED)
    .map((one) => `${one.seconds.toFixed(1).padStart(8)} s  ${one.file}\n`);
  process.stdout.write(
    `\n${title}: ${outcomes.length} files in ${Math.round(seconds)} s; the slowest, of ${relative(ROOT, file)}:\n${lines.join('')}`,
  );
}
