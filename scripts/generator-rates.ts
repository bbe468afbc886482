/**
 * Measures how often sound streams fail the verdicts of this service: keys with evidence, generated as the service
 * does, and controls that share at most a cipher with the generator. Failures that all of them share are a property
 * of the tests.
 *
 *   node scripts/generator-rates.ts measure SOURCE STREAMS FILE [THREADS]
 *   node scripts/generator-rates.ts print FILE...
 *
 * SOURCE is the modulation of keys (phase, frequency, amplitude) or a control (aes, chacha20). `measure` adds to
 * the counts in FILE until they cover STREAMS streams, a multiple of 1,000. It saves after each thousand, so you can
 * stop and continue at any time. A stream takes about 5 ms per thread. There are no seeds, so no two runs are equal.
 * `print` writes Markdown for docs/evidence/.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { addCounts, type Counts, countGroup, GROUP } from './rates/counts.ts';
import { printCounts, type SavedCounts } from './rates/print.ts';
import { SOURCES } from './rates/streams.ts';

const USAGE = `usage: generator-rates.ts measure ${Object.keys(SOURCES).join('|')} STREAMS FILE [THREADS]
       generator-rates.ts print FILE...
`;

interface Task {
  readonly source: string;
  readonly groups: number;
}

function load(file: string): SavedCounts {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function save(file: string, saved: SavedCounts): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(saved)}\n`);
  renameSync(`${file}.new`, file);
}

async function measure(source: string, streams: number, file: string, threads: number) {
  let saved = existsSync(file) ? load(file) : null;
  if (saved && saved.source !== source) throw new Error(`${file} has counts of ${saved.source}`);
  const groups = Math.ceil((streams - (saved?.counts.streams ?? 0)) / GROUP);
  const commit = describeCommit();
  await inThreads({ source, groups }, threads, (counts) => {
    const last = new Date().toISOString();
    const first = saved?.first ?? last;
    const sum = saved ? addCounts(saved.counts, counts) : counts;
    saved = { source, node: process.version, commit, first, last, counts: sum };
    save(file, saved);
    process.stderr.write(`${source}: ${sum.streams} of ${streams}\n`);
  });
}

/** Splits a task between threads and passes the counts of each group to `add`. */
async function inThreads(
  { source, groups }: Task,
  threads: number,
  add: (counts: Counts) => void,
): Promise<void> {
  const upTo = (thread: number) => Math.floor((thread * groups) / threads);
  await Promise.all(
    Array.from({ length: threads }, async (_, i) => {
      const workerData: Task = { source, groups: upTo(i + 1) - upTo(i) };
      const worker = new Worker(new URL(import.meta.url), { workerData });
      worker.on('message', add);
      await once(worker, 'exit');
    }),
  );
}

/** Returns the checked-out commit, or `unknown` outside a repository. */
function describeCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function work({ source, groups }: Task): void {
  const next = SOURCES[source].open();
  for (let i = 0; i < groups; i++) parentPort?.postMessage(countGroup(next));
}

if (isMainThread) {
  const [command, ...args] = process.argv.slice(2);
  const [source, streams, file, threads = '1'] = args;
  if (command === 'measure' && source in SOURCES && Number(streams) > 0 && file) {
    await measure(source, Number(streams), file, Number(threads));
  } else if (command === 'print' && args.length > 0) {
    process.stdout.write(args.map((name) => printCounts(load(name))).join('\n'));
  } else {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  }
} else {
  work(workerData as Task);
}
