/** Options of a benchmark over HTTP, and its run from there to the result. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endOnSignal, positive, stopAll } from './load.ts';
import { saveResult } from './results.ts';

export interface LoadOptions {
  /** Seconds per round. */
  readonly seconds: number;
  readonly connections: number;
  readonly rounds: number;
  readonly dataDir: string;
  readonly save: boolean;
}

/** Values of these options as `parseArgs` returns them. */
interface LoadValues {
  readonly seconds: string;
  readonly connections: string;
  readonly rounds: string;
  readonly 'data-dir': string;
  readonly save: boolean;
}

/** Result of a benchmark; `sound` is false if a figure is not trustworthy. */
export interface Finding {
  readonly text: string;
  readonly sound: boolean;
}

/** Options of the command line, for `parseArgs`; `defaults` holds those that differ between benchmarks. */
export function loadArguments(defaults: { connections: string; rounds: string }) {
  return {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: defaults.connections },
    rounds: { type: 'string', default: defaults.rounds },
    'data-dir': { type: 'string', default: tmpdir() },
    save: { type: 'boolean', default: false },
  } as const;
}

/** Reads a command line that has only these options. */
export function readLoadOptions(defaults: { connections: string; rounds: string }): LoadOptions {
  return toLoadOptions(parseArgs({ options: loadArguments(defaults) }).values);
}

export function toLoadOptions(values: LoadValues): LoadOptions {
  return {
    seconds: positive('--seconds', values.seconds),
    connections: positive('--connections', values.connections),
    rounds: positive('--rounds', values.rounds),
    dataDir: values['data-dir'],
    save: values.save,
  };
}

/** Runs `work` in a new folder, prints and saves its result, and ends every process. */
export async function runBenchmark(
  name: string,
  options: LoadOptions,
  work: (folder: string) => Promise<Finding>,
): Promise<void> {
  mkdirSync(options.dataDir, { recursive: true });
  const folder = mkdtempSync(join(options.dataDir, 'phm-bench-'));
  endOnSignal(folder);
  try {
    const { text, sound } = await work(folder);
    process.stdout.write(text);
    if (options.save) saveResult(name, text);
    if (!sound) process.exitCode = 1;
  } finally {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}
