/**
 * The first samples of a source after a restart, for the restart tests of NIST SP 800-90B §3.1.4.
 * Each restart is a process that opens the source, reads and exits.
 *
 * This file is also the program of that process. It reads its task from standard input, because
 * settings may hold credentials, and writes the samples to standard output.
 */

import { execFile } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { childEnvironment } from '#platform/threads';
import { wipe } from '../bytes.ts';
import type { SourceSettings } from '../config/index.ts';
import { NoiseFailure } from './noise.ts';
import { collectSamples, openPrepared, prepareRawReader, type RawReaderTask } from './raw.ts';
import type { SourceName } from './source.ts';

interface Task {
  readonly source: RawReaderTask;
  readonly count: number;
}

/** Longest reason taken from the standard error of a failed process, in characters. */
const MAX_REASON_LENGTH = 300;

/**
 * Returns the first `count` samples. Rejects with `NoiseFailure` if the process does not deliver
 * them. The process ends when `signal` aborts. The caller MUST wipe the samples.
 */
export function samplesAfterRestart(
  name: SourceName,
  settings: SourceSettings,
  count: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const options = { env: childEnvironment(), encoding: 'buffer', signal } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [import.meta.filename],
      options,
      (error, stdout, stderr) => {
        if (error === null && stdout.length === count) return resolve(stdout);
        wipe(stdout);
        reject(
          new NoiseFailure(
            `A restart of "${name}" failed: ${String(stderr).trim().slice(0, MAX_REASON_LENGTH)}`,
          ),
        );
      },
    );
    // If the process exits before it has read its task, its exit reports the failure.
    child.stdin?.on('error', () => {});
    const task: Task = { source: prepareRawReader(name, settings), count };
    child.stdin?.end(JSON.stringify(task));
  });
}

async function main(): Promise<void> {
  const { source, count } = JSON.parse(readFileSync(0, 'utf8')) as Task;
  const reader = await openPrepared(source);
  try {
    const samples = await collectSamples(reader, count, new AbortController().signal);
    writeSync(1, samples);
    wipe(samples);
  } catch (error) {
    writeSync(2, (error as Error).message);
    process.exitCode = 1;
  } finally {
    await reader.close();
  }
}

if (process.argv[1] === import.meta.filename) void main();
