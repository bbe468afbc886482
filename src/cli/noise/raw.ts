/** `phm sources raw` and `phm sources restarts`: write samples for assessment with other tools. */
import { RESTARTS } from '#sp800-90b';
import { wipe } from '../../bytes.ts';
import { collectSamples, samplesAfterRestart } from '../../entropy/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import type { OpenedSource } from './open.ts';

/** Samples collected before they are written. */
const PART_SAMPLES = 65_536;

/** SP 800-90B §3.1.4.1: as many samples after each restart as there are restarts. */
const SAMPLES_PER_RESTART = RESTARTS;

/** Writes `count` raw samples, one symbol per byte. */
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

/** Writes the matrix row by row. Each row has the first samples after a restart in a separate process. */
export async function writeRestarts(
  context: CliContext,
  { name, reader }: OpenedSource,
  signal: AbortSignal,
): Promise<void> {
  await reader.close();
  const { sourceSettings } = requireConfig(context);
  const progress = context.status;
  try {
    for (let row = 0; row < RESTARTS; row++) {
      const samples = await samplesAfterRestart(name, sourceSettings, SAMPLES_PER_RESTART, signal);
      await context.outBytes(samples);
      wipe(samples);
      progress.show(`${row + 1} of ${RESTARTS} restarts`);
      signal.throwIfAborted();
    }
  } finally {
    progress.clear();
  }
}
