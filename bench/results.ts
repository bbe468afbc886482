/** Shared parts of all benchmarks: medians, a description of the machine, and a file for each saved run. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';

const TMPFS_MAGIC = 0x0102_1994;

const RESULTS = resolve(import.meta.dirname, 'results');

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns time, versions and processor, the head of a result. */
export function machine(): string {
  return [
    `${new Date().toISOString()}  Node ${process.version}, V8 ${process.versions.v8}  ${process.platform} ${process.arch}`,
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores`,
  ].join('\n');
}

/** Returns the cost of one small synced write in a folder, median of 50, and a warning if it costs nothing. */
export function diskSync(folder: string): string {
  const path = join(folder, 'sync-probe');
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: 50 }, () => {
    const from = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  rmSync(path);
  const isMemory = statfsSync(folder).type === TMPFS_MAGIC;
  const warning = ' (WARNING: tmpfs, a sync costs nothing; choose --data-dir on a disk)';
  return `${median(times).toFixed(3)} ms${isMemory ? warning : ''}`;
}

/** Saves a run, with the command that repeats it, in `bench/results/`. */
export function saveResult(name: string, text: string): void {
  mkdirSync(RESULTS, { recursive: true });
  const stamp = new Date().toISOString().slice(0, 16).replace(':', '');
  const path = join(RESULTS, `${stamp}-${name}.txt`);
  // A path names the machine, not the run: its last part says enough.
  const words = process.argv.slice(2).map((word) => (isAbsolute(word) ? basename(word) : word));
  const command = `node bench/${basename(process.argv[1] ?? '')} ${words.join(' ')}`;
  writeFileSync(path, `$ ${command}\n\n${text}`);
  process.stderr.write(`saved as ${path}\n`);
}
