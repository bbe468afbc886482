/**
 * A character device or FIFO that delivers raw noise: `/dev/hwrng`, a card, or a program that
 * writes its measurements.
 *
 * The device is opened in non-blocking mode and polled. A read that blocks in the thread pool
 * cannot be cancelled, so the process could not exit before the device delivers.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { wipe } from '../../bytes.ts';
import { monotonicMs } from '../../clock.ts';
import { CONDITIONED_INPUT_BITS } from '../conditioning.ts';
import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../noise.ts';

/**
 * Least claim accepted. Below H = 60/511 (0.117), even a whole window of 512 equal samples is likelier
 * than 2^-60, so the adaptive proportion test cannot keep to that probability. 1/8 is above that limit.
 */
const LEAST_ENTROPY_PER_BYTE = 1 / 8;

const DEFAULT_TIMEOUT_MS = 10_000;
const POLL_MS = 5;

export interface DeviceOptions {
  readonly path: string;
  /** Min-entropy in bits per byte, 1/8…8, from the assessment of the device. */
  readonly minEntropyPerByte: number;
  /** Timeout of one batch. */
  readonly timeoutMs?: number;
  /** Allows recorded noise. A file repeats its bytes after every restart, so it is not a source. */
  readonly allowRegularFile?: boolean;
}

/**
 * Opens the source. `read` reports problems of the device and opens it anew after each failure.
 * Throws `RangeError` on an invalid entropy or timeout.
 */
export function openDevice(options: DeviceOptions): NoiseReader {
  return new DeviceReader(options);
}

class DeviceReader implements NoiseReader {
  readonly bitsPerSample = 8;
  readonly minEntropyPerSample: number;
  readonly bytesPerDraw: number;
  readonly #path: string;
  readonly #timeoutMs: number;
  readonly #allowRegularFile: boolean;
  #handle: FileHandle | null = null;
  #closed = false;

  constructor(options: DeviceOptions) {
    const { path, minEntropyPerByte: H, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    if (!(H >= LEAST_ENTROPY_PER_BYTE && H <= 8)) {
      throw new RangeError(`"minEntropyPerByte" expected a number from 1/8 to 8, got ${H}`);
    }
    if (!(timeoutMs > 0 && timeoutMs < Infinity)) {
      throw new RangeError(`"timeoutMs" expected a number above 0, got ${timeoutMs}`);
    }
    this.minEntropyPerSample = H;
    this.bytesPerDraw = Math.ceil(CONDITIONED_INPUT_BITS / H);
    this.#path = path;
    this.#timeoutMs = timeoutMs;
    this.#allowRegularFile = options.allowRegularFile ?? false;
  }

  async read(signal: AbortSignal): Promise<NoiseBatch> {
    const samples = new Uint8Array(new ArrayBuffer(this.bytesPerDraw));
    try {
      signal.throwIfAborted();
      await this.#fill(await this.#opened(), samples, signal);
      return { samples, jobId: null };
    } catch (error) {
      wipe(samples);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#release();
  }

  async #opened(): Promise<FileHandle> {
    if (!this.#closed) this.#handle ??= await this.#open();
    // `close` may have been called while the device was being opened.
    if (this.#closed) await this.#release();
    if (this.#handle === null) throw new NoiseFailure('The device source is closed.');
    return this.#handle;
  }

  async #open(): Promise<FileHandle> {
    let handle: FileHandle | null = null;
    try {
      handle = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await handle.stat();
      if (stats.isCharacterDevice() || stats.isFIFO()) return handle;
      if (stats.isFile() && this.#allowRegularFile) return handle;
    } catch (cause) {
      await handle?.close();
      throw this.#failure(openingProblem(cause), cause);
    }
    await handle.close();
    throw this.#failure(
      'is neither a character device nor a FIFO. A file would give the same bytes again',
    );
  }

  async #fill(handle: FileHandle, samples: Uint8Array, signal: AbortSignal): Promise<void> {
    const deadlineMs = monotonicMs() + this.#timeoutMs;
    let got = 0;
    while (got < samples.length) {
      const count = await this.#readSome(handle, samples, got);
      got += count;
      if (count > 0) {
        signal.throwIfAborted();
        continue;
      }
      if (monotonicMs() >= deadlineMs) {
        const seconds = this.#timeoutMs / 1000;
        throw this.#failure(`delivered ${got} of ${samples.length} bytes in ${seconds} s`);
      }
      await setTimeout(POLL_MS, undefined, { signal });
    }
  }

  /**
   * Reads available bytes into `samples` from `offset` on. Returns their number, 0 if there are
   * none yet.
   */
  async #readSome(handle: FileHandle, samples: Uint8Array, offset: number): Promise<number> {
    try {
      const { bytesRead } = await handle.read(samples, offset, samples.length - offset, null);
      if (bytesRead > 0) return bytesRead;
    } catch (cause) {
      if (errorCode(cause) === 'EAGAIN') return 0;
      await this.#release();
      throw this.#failure(`could not be read (${errorCode(cause)})`, cause);
    }
    // A file stays open at its end, because it must not deliver its bytes twice.
    if (!this.#allowRegularFile) await this.#release();
    throw this.#failure(`ended after ${offset} of ${samples.length} bytes`);
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    // The device may be gone, and then the close fails too.
    await handle?.close().catch(() => {});
  }

  #failure(problem: string, cause?: unknown): NoiseFailure {
    return new NoiseFailure(`${this.#path} (PHM_DEVICE_PATH) ${problem}.`, { cause });
  }
}

function openingProblem(cause: unknown): string {
  switch (errorCode(cause)) {
    case 'ENOENT':
      return 'does not exist. Set it to the path of the device, and check that its driver is loaded';
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read by this user. Give the user, or one of its groups, read permission';
    default:
      return `could not be opened (${errorCode(cause)})`;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
