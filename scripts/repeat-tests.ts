/**
 * Runs the tiers again and again on a machine that is kept busy, to find tests that fail because it is slow:
 *
 *   node scripts/repeat-tests.ts [fast|slow]
 *
 * `npm test` ten times and `npm run test:slow` three times with one core kept busy, and each once with two. Each run is saved
 * in docs/evidence/repeated-runs.json when it ends. Started again, the script goes on with what is left: a run that failed is
 * left, too, on a later commit, which has its mend.
 * The output of a failed run stays in build/repeated-runs/. Several hours in all.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { failedIn } from './tests/failures.ts';
import { headCommit } from './tests/record.ts';
import { ROOT } from './tests/tiers.ts';

interface Run {
  readonly tier: 'fast' | 'slow';
  /** Processes that keep a core busy meanwhile. */
  readonly busy: number;
  readonly round: number;
}

interface SavedRun extends Run {
  readonly commit: string;
  readonly ended: string;
  readonly seconds: number;
  readonly tests: number;
  /** Exit code: not 0 either if the run left something. */
  readonly code: number | null;
  /** Names of the failed tests with their files. */
  readonly failed: readonly string[];
}

const PLAN: readonly Run[] = [
  ...rounds('fast', 1, 10),
  ...rounds('slow', 1, 3),
  ...rounds('fast', 2, 1),
  ...rounds('slow', 2, 1),
];

const SAVED = join(ROOT, 'docs/evidence/repeated-runs.json');
const OUTPUTS = join(ROOT, 'build/repeated-runs');

function rounds(tier: Run['tier'], busy: number, count: number): Run[] {
  return Array.from({ length: count }, (_, i) => ({ tier, busy, round: i + 1 }));
}

mkdirSync(OUTPUTS, { recursive: true });
const commit = headCommit();
const saved: SavedRun[] = existsSync(SAVED) ? JSON.parse(readFileSync(SAVED, 'utf8')) : [];
const [, , only] = process.argv;
for (const run of PLAN.filter(({ tier }) => only === undefined || tier === only)) {
  if (saved.some((one) => nameOf(one) === nameOf(run) && isDone(one))) continue;
  const done = await execute(run);
  saved.push(done);
  writeFileSync(SAVED, `${JSON.stringify(saved, null, 2)}\n`);
  const { seconds, tests, code, failed } = done;
  process.stdout.write(
    `${nameOf(run)}: ${seconds} s, exit code ${code}, ${tests} tests, ${failed.length} failed\n`,
  );
  for (const name of failed) process.stdout.write(`  ${name}\n`);
}

/** No run is repeated on its commit: a failure is explained and mended first. */
function isDone(run: SavedRun): boolean {
  return run.code === 0 || run.commit === commit;
}

function nameOf({ tier, busy, round }: Run): string {
  return `${tier}-${busy}-${round}`;
}

/** Runs a tier beside busy processes. */
async function execute(run: Run): Promise<SavedRun> {
  const output = join(OUTPUTS, `${nameOf(run)}.txt`);
  const file = openSync(output, 'w');
  const spinning = Array.from({ length: run.busy }, spin);
  const beginMs = Date.now();
  let code: number | null;
  try {
    const child = spawn(process.execPath, [join(ROOT, 'scripts/test.ts'), run.tier], {
      cwd: ROOT,
      stdio: ['ignore', file, file],
    });
    [code] = await once(child, 'close');
  } finally {
    for (const one of spinning) one.kill();
    closeSync(file);
  }
  const text = readFileSync(output, 'utf8');
  const [, tests] = /^ℹ tests (\d+)$/m.exec(text) ?? [];
  if (code === null || code > 128) throw new Error('a signal ended the run, which counts as none');
  if (tests === undefined) throw new Error(`the run did not end: see ${relative(ROOT, output)}`);
  const seconds = Math.round((Date.now() - beginMs) / 1000);
  const ended = new Date().toISOString();
  return { ...run, commit, ended, seconds, tests: Number(tests), code, failed: failedIn(text) };
}

function spin(): ChildProcess {
  return spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' });
}
