/**
 * The common part of sources that each generator reads directly: failures, the continuous test,
 * status.
 *
 * A failed read is counted and thrown, and the next draw tries again. A draw that fails the
 * continuous test latches the source: every later draw throws until the process is restarted.
 */
import { newBytes, wipe } from '../bytes.ts';
import { AppError } from '../errors.ts';
import { ContinuousTest } from './health/continuous.ts';
import type {
  DirectName,
  Draw,
  EntropySource,
  SourceKind,
  SourceState,
  SourceStatus,
} from './source.ts';

/** Length of one draw in bytes. It fills the seed of the generator: seedlen = 384 bits. */
export const DRAW_BYTES = 48;

/** The part of a source that is its own. */
interface SourceReader {
  readonly name: DirectName;
  readonly kind: SourceKind;
  /** Min-entropy claimed for 48 bytes, in bits. */
  readonly creditBitsPerDraw: number;
  /** Fills all of `target` with fresh output, or throws. */
  readonly read: (target: Buffer) => void;
  readonly release: () => void;
}

export class MonitoredSource implements EntropySource {
  readonly name: DirectName;
  readonly kind: SourceKind;
  readonly #reader: SourceReader;
  readonly #test = new ContinuousTest();
  #started = false;
  #closed = false;
  #readFailure: string | null = null;
  #draws = 0;
  #failures = 0;

  /** Reads one draw for comparison with the next. It never throws; `status` reports failures. */
  constructor(reader: SourceReader) {
    this.name = reader.name;
    this.kind = reader.kind;
    this.#reader = reader;
    try {
      this.#start();
    } catch (error) {
      // Counted and kept for `status`; the first draw tries again.
      if (!(error instanceof AppError)) throw error;
    }
  }

  draw(): Draw {
    if (this.#closed || this.#test.failure !== null) throw this.#unavailable();
    if (!this.#started) this.#start();
    const bytes = this.#readTested();
    this.#draws += 1;
    const { creditBitsPerDraw: creditBits } = this.#reader;
    // The source reads this machine while it runs.
    return { bytes, creditBits, isSeparate: false, jobId: null };
  }

  status(): SourceStatus {
    const detail = this.#problem();
    return {
      name: this.name,
      kind: this.kind,
      state: this.#state(),
      healthy: detail === null,
      creditBitsPerDraw: this.#reader.creditBitsPerDraw,
      draws: this.#draws,
      failures: this.#failures,
      ...(detail !== null && { detail }),
    };
  }

  /** Draws once and drops the bytes, unless the source is healthy, latched or closed. */
  probe(): void {
    if (this.#problem() === null || this.#closed || this.#test.failure !== null) return;
    try {
      wipe(this.draw().bytes);
    } catch (error) {
      // `status` reports the failure.
      if (!(error instanceof AppError)) throw error;
    }
  }

  close(): void {
    if (!this.#closed) this.#reader.release();
    this.#closed = true;
  }

  #start(): void {
    wipe(this.#readTested());
    this.#started = true;
  }

  #readTested(): Buffer {
    const bytes = newBytes(DRAW_BYTES);
    try {
      this.#reader.read(bytes);
      this.#readFailure = null;
    } catch (cause) {
      wipe(bytes);
      this.#failures += 1;
      this.#readFailure = 'the last read failed';
      throw this.#unavailable(cause);
    }
    this.#test.check(bytes);
    if (this.#test.failure === null) return bytes;
    wipe(bytes);
    this.#failures += 1;
    throw this.#unavailable();
  }

  #state(): SourceState {
    if (this.#closed) return 'closed';
    if (this.#test.failure !== null) return 'latched';
    return this.#readFailure === null ? 'delivering' : 'failing';
  }

  #problem(): string | null {
    if (this.#closed) return 'the source is closed';
    return this.#test.failure ?? this.#readFailure;
  }

  #unavailable(cause?: unknown): AppError {
    const detail = `Entropy source "${this.name}": ${this.#problem()}.`;
    return new AppError('entropy_unavailable', { detail, cause });
  }
}
