/** `phm sources raw` and `phm sources restarts`: samples for assessment with other tools. */
import { execFile } from 'node:child_process';
import { resolve as resolvePath } from 'node:path';
import { wipe } from '../bytes.ts';
import { collectSamples, type SourceName } from '../entropy/index.ts';
import { CommandError } from './command-error.ts';
import type { CliContext } from './context.ts';
import type { OpenedSource } from './sources-open.ts';

/** Samples collected before they are written. */
const PART_SAMPLES = 65_536;

/** SP 800-90B §3.1.4.1: 1,000 restarts of 1,000 samples each. */
const RESTARTS = 1_000;
const SAMPLES_PER_RESTART = 1_000;

/** Writes `count` raw samples, one symbol a byte. */
export async function writeRaw(
  context: CliContext,
  { reader }: OpenedSource,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let left = count; left > 0; left -= PART_SAMPLES) {
      const samples = await collectSamples(reader, Math.min(left, PART_SAMPLES), signal);
      try {
        await context.outBytes(samples);
      } finally {
        wipe(samples);
      }
    }
  } finally {
    await reader.close();
  }
}

/** Writes one row of the matrix after another, each the first samples of a process of its own. */
export async function writeRestarts(
  context: CliContext,
  name: SourceName,
  signal: AbortSignal,
): Promise<void> {
  for (let row = 0; row < RESTARTS; row++) {
    const samples = await firstSamples(context, name, signal);
    await context.outBytes(samples);
    wipe(samples);
    if (process.stderr.isTTY) context.err(`\r\x1b[K${row + 1} of ${RESTARTS} restarts`);
    signal.throwIfAborted();
  }
  if (process.stderr.isTTY) context.err('\n');
}

/** The samples of a process of its own, which ends when `signal` aborts. */
function firstSamples({ env }: CliContext, name: SourceName, signal: AbortSignal): Promise<Buffer> {
  const main = resolvePath(import.meta.dirname, '../main.ts');
  const args = [main, 'sources', 'raw', name, '--bytes', String(SAMPLES_PER_RESTART)];
  const options = { env: { ...env }, encoding: 'buffer', signal } as const;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error === null && stdout.length === SAMPLES_PER_RESTART) return resolve(stdout);
      wipe(stdout);
      reject(new CommandError(`a restart of "${name}" failed: ${String(stderr).trim()}`, 1));
    });
  });
}
