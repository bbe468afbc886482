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
 * Opens the samples that the health tests of a source see. Rejects with `SetupError` if a
 * credential cannot be read, with `RangeError` on invalid settings, and with `TypeError` if the
 * source is not set up.
 */
export async function openRawReader(
  name: SourceName,
  settings: SourceSettings,
): Promise<NoiseReader> {
  return openPrepared(prepareRawReader(name, settings));
}

/**
 * The task of opening one source. It contains nothing about the others, so it may be passed to
 * another process.
 */
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

/**
 * True if samples come before any conditioning. The output of other sources looks perfect whatever
 * its origin.
 */
export function givesRawNoise(name: SourceName): boolean {
  return isBackground(name);
}

/**
 * Returns `count` samples in new memory, which the caller MUST wipe. Rejects as the reader does,
 * and when `signal` aborts.
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

/** A directly read source in the form of a reader. */
class DirectReader implements NoiseReader {
  readonly bitsPerSample = 8;
  /** Half the entropy of a sound generator: these tests look for gross faults. */
  readonly minEntropyPerSample = 4;
  readonly bytesPerDraw = DRAW_BYTES;
  readonly #source: ReturnType<typeof openSource>;

  constructor(name: DirectName) {
    this.#source = openSource(name);
  }

  async read(): Promise<NoiseBatch> {
    // Let signals be handled during a long collection.
    await nextTurn();
    return { samples: this.#source.draw().bytes, jobId: null };
  }

  async close(): Promise<void> {
    this.#source.close();
  }
}
