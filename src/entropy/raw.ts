/** Raw samples of any source, for tests and for assessment outside the service. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { wipe } from '../bytes.ts';
import type { SourceSettings } from '../config/index.ts';
import { DRAW_BYTES } from './monitored-source.ts';
import type { NoiseBatch, NoiseReader } from './noise.ts';
import { openReader } from './readers.ts';
import { backgroundRow, isBackground, openSource, type ReaderSettings } from './registry.ts';
import type { DirectName, SourceName } from './source.ts';

/**
 * Opens what the health tests of a source see. Rejects with `SetupError` on a credential that cannot
 * be read, `RangeError` on settings that cannot be used, `TypeError` on a source that is not set up.
 */
export async function openRawReader(
  name: SourceName,
  settings: SourceSettings,
): Promise<NoiseReader> {
  return openPrepared(prepareRawReader(name, settings));
}

/** What opens one source, and holds nothing of the others: it may be handed to another process. */
export type RawReaderTask = ReaderSettings | { readonly name: DirectName };

export function prepareRawReader(name: SourceName, settings: SourceSettings): RawReaderTask {
  return isBackground(name) ? backgroundRow(name).prepare(settings) : { name };
}

export async function openPrepared(task: RawReaderTask): Promise<NoiseReader> {
  return isDirectTask(task) ? new DirectReader(task.name) : openReader(task);
}

function isDirectTask(task: RawReaderTask): task is { readonly name: DirectName } {
  return !isBackground(task.name);
}

/** Whether samples come before any conditioning. The others look perfect whatever is behind them. */
export function givesRawNoise(name: SourceName): boolean {
  return isBackground(name);
}

/**
 * `count` samples, in memory of their own; the caller MUST wipe them. Rejects as the reader does, and
 * when `signal` aborts.
 */
export async function collectSamples(
  reader: NoiseReader,
  count: number,
  signal: AbortSignal,
  onProgress: (collected: number) => void = () => {},
): Promise<Uint8Array> {
  const collected = new Uint8Array(count);
  let length = 0;
  try {
    while (length < count) {
      const { samples } = await reader.read(signal);
      collected.set(samples.subarray(0, count - length), length);
      length = Math.min(count, length + samples.length);
      wipe(samples);
      signal.throwIfAborted();
      onProgress(length);
    }
    return collected;
  } catch (error) {
    wipe(collected);
    signal.throwIfAborted();
    throw error;
  }
}

/** The output of a source that is read at the moment of the draw, in the form of a reader. */
class DirectReader implements NoiseReader {
  readonly bitsPerSample = 8;
  /** Half of what a sound generator gives: the tests here are for gross faults. */
  readonly minEntropyPerSample = 4;
  readonly bytesPerDraw = DRAW_BYTES;
  readonly #source: ReturnType<typeof openSource>;

  constructor(name: DirectName) {
    this.#source = openSource(name);
  }

  async read(): Promise<NoiseBatch> {
    // A long collection must leave room for signals.
    await nextTurn();
    return { samples: this.#source.draw().bytes, jobId: null };
  }

  async close(): Promise<void> {
    this.#source.close();
  }
}
