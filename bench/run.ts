/** What a benchmark over HTTP is told, and its life from there to its result. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endOnSignal, positive, stopAll } from './load.ts';
import { saveResult } from './results.ts';

export interface LoadOptions {
  /** Of one round. */
  readonly seconds: number;
  readonly connections: number;
  readonly rounds: number;
  readonly dataDir: string;
  readonly save: boolean;
}

/** What was found, and whether it can be believed. */
export interface Finding {
  readonly text: string;
  readonly sound: boolean;
}

/** Reads the command line; `defaults` are those that differ between benchmarks. */
export function readLoadOptions(defaults: { connections: string; rounds: string }): LoadOptions {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      connections: { type: 'string', default: defaults.connections },
      rounds: { type: 'string', default: defaults.rounds },
      'data-dir': { type: 'string', default: tmpdir() },
      save: { type: 'boolean', default: false },
    },
  });
  return {
    seconds: positive('--seconds', values.seconds),
    connections: positive('--connections', values.connections),
    rounds: positive('--rounds', values.rounds),
    dataDir: values['data-dir'],
    save: values.save,
  };
}

/** Gives `work` a folder, shows and keeps what it found, and leaves nothing running. */
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
