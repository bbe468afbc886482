/**
 * A bounded pool of draws in shared memory. One thread fills it, several take from it.
 *
 * Each draw is taken once: a taker advances `HEAD` by compare-and-exchange before it reads, and
 * overwrites the slot with zeros before the filler may reuse it. Nothing is ever written elsewhere.
 * Layout: `HEADER_WORDS` 32-bit words, then the slots. A slot is a state word, the length of the
 * job ID, the draw and the job ID.
 */
import { newBytes, wipe } from '../bytes.ts';
import { AppError } from '../errors.ts';
import { POOLED_DRAW_BYTES } from './conditioning.ts';
import {
  type Draw,
  type EntropySource,
  SOURCE_STATES,
  type SourceKind,
  type SourceName,
  type SourceState,
  type SourceStatus,
} from './source.ts';

/** Longest job ID that a slot can hold, in ASCII characters. */
const MAX_JOB_ID_LENGTH = 64;

const PROBLEMS: Readonly<Record<SourceState, string | null>> = {
  starting: 'the startup tests are still running',
  delivering: null,
  failing: 'it delivers nothing at present',
  latched: 'it failed permanently',
  closed: 'the source is closed',
};

/** All that a thread needs to take draws from a pool. It may be posted to workers. */
export interface Pool {
  readonly name: SourceName;
  readonly kind: SourceKind;
  readonly creditBitsPerDraw: number;
  /** See `Draw.isSeparate`. */
  readonly isSeparate: boolean;
  readonly memory: SharedArrayBuffer;
}

// Words of the header. HEAD and TAIL count the draws taken and put, modulo 2^32.
const HEAD = 0;
const TAIL = 1;
const STATE = 2;
const RETRY_AFTER_SECONDS = 3;
const FAILURES = 4;
const HEADER_WORDS = 8;

/** `Retry-After` of a latched source, in seconds. An operator must restart the process first. */
const LATCHED_RETRY_SECONDS = 60;

const SLOT_BYTES = 8 + POOLED_DRAW_BYTES + MAX_JOB_ID_LENGTH;

// Values of the first word of a slot.
const EMPTY = 0;
const FULL = 1;

/** Allocates a pool of `draws` draws. Throws `RangeError` unless that is a power of two. */
export function allocatePool(draws: number): SharedArrayBuffer {
  if (!Number.isInteger(draws) || draws < 2 || (draws & (draws - 1)) !== 0) {
    throw new RangeError(`"draws" expected a power of two, got ${draws}`);
  }
  return new SharedArrayBuffer(HEADER_WORDS * 4 + draws * SLOT_BYTES);
}

/** The shared words and slots, as the filler and the takers see them. */
class PoolMemory {
  readonly header: Int32Array;
  readonly slots: number;
  readonly #memory: SharedArrayBuffer;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.header = new Int32Array(memory, 0, HEADER_WORDS);
    this.slots = (memory.byteLength - HEADER_WORDS * 4) / SLOT_BYTES;
  }

  /**
   * Draws in the pool. Other threads may put and take between the two loads, so the difference can
   * be negative.
   */
  get waiting(): number {
    const tail = Atomics.load(this.header, TAIL);
    return Math.max(0, (tail - Atomics.load(this.header, HEAD)) | 0);
  }

  get state(): SourceState {
    // The word in shared memory is the index in the list of states.
    return SOURCE_STATES[Atomics.load(this.header, STATE)];
  }

  /** State word and job ID length in the slot of draw number `index`. */
  words(index: number): Int32Array {
    return new Int32Array(this.#memory, this.#offset(index), 2);
  }

  bytes(index: number): Uint8Array {
    const length = POOLED_DRAW_BYTES + MAX_JOB_ID_LENGTH;
    return new Uint8Array(this.#memory, this.#offset(index) + 8, length);
  }

  /** Takes the oldest draw, or returns null if the pool is empty. The caller owns the bytes. */
  take(): { bytes: Buffer; jobId: string | null } | null {
    for (;;) {
      const head = Atomics.load(this.header, HEAD);
      if (head === Atomics.load(this.header, TAIL)) return null;
      if (Atomics.compareExchange(this.header, HEAD, head, (head + 1) | 0) !== head) continue;
      const words = this.words(head);
      const slot = this.bytes(head);
      const bytes = newBytes(POOLED_DRAW_BYTES);
      bytes.set(slot.subarray(0, POOLED_DRAW_BYTES));
      const jobIdBytes = slot.slice(POOLED_DRAW_BYTES, POOLED_DRAW_BYTES + words[1]);
      wipe(slot);
      words[1] = 0;
      Atomics.store(words, 0, EMPTY);
      Atomics.notify(this.header, HEAD);
      const jobId = jobIdBytes.length > 0 ? String.fromCharCode(...jobIdBytes) : null;
      return { bytes, jobId };
    }
  }

  #offset(index: number): number {
    return HEADER_WORDS * 4 + (index & (this.slots - 1)) * SLOT_BYTES;
  }
}

/** The filling side. A pool MUST have only one filler. */
export class PoolFiller {
  readonly #memory: PoolMemory;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new PoolMemory(memory);
  }

  get capacity(): number {
    return this.#memory.slots;
  }

  get waiting(): number {
    return this.#memory.waiting;
  }

  /**
   * Copies a draw into the pool. Returns false if the pool is full. Throws `RangeError` on a draw
   * of another length, or on a job ID that is not 1 to 64 ASCII characters.
   */
  put(draw: Uint8Array, jobId: string | null): boolean {
    if (draw.length !== POOLED_DRAW_BYTES) {
      throw new RangeError(`"draw" expected ${POOLED_DRAW_BYTES} bytes, got ${draw.length}`);
    }
    if (jobId !== null && !/^[\x21-\x7e]{1,64}$/.test(jobId)) {
      throw new RangeError('"jobId" expected 1 to 64 printable ASCII characters');
    }
    const { header } = this.#memory;
    const tail = Atomics.load(header, TAIL);
    const words = this.#memory.words(tail);
    // A taker that has advanced HEAD may still be reading the slot.
    if (Atomics.load(words, 0) !== EMPTY) return false;
    const slot = this.#memory.bytes(tail);
    slot.set(draw);
    words[1] = jobId?.length ?? 0;
    for (let i = 0; i < words[1]; i++) slot[POOLED_DRAW_BYTES + i] = jobId?.charCodeAt(i) ?? 0;
    Atomics.store(words, 0, FULL);
    Atomics.store(header, TAIL, (tail + 1) | 0);
    return true;
  }

  /** Sets the state that takers see. `retryAfterSeconds` is for callers who find the pool empty. */
  setState(state: SourceState, retryAfterSeconds = 1): void {
    const { header } = this.#memory;
    Atomics.store(header, RETRY_AFTER_SECONDS, retryAfterSeconds);
    Atomics.store(header, STATE, SOURCE_STATES.indexOf(state));
  }

  countFailure(): void {
    Atomics.add(this.#memory.header, FAILURES, 1);
  }

  /** Resolves when a draw has been taken since the call, or after `timeoutMs`. */
  async taken(timeoutMs: number): Promise<void> {
    const { header } = this.#memory;
    const seen = Atomics.load(header, HEAD);
    await Atomics.waitAsync(header, HEAD, seen, timeoutMs).value;
  }

  /** Ends the pool: later takers get nothing, and waiting draws are wiped. */
  end(state: 'latched' | 'closed'): void {
    // Set the state first, because a taker checks it after taking.
    if (state === 'latched') {
      this.countFailure();
      this.setState(state, LATCHED_RETRY_SECONDS);
    } else {
      this.setState(state);
    }
    this.drain();
  }

  /** Takes and wipes every waiting draw. */
  drain(): void {
    for (let draw = this.#memory.take(); draw !== null; draw = this.#memory.take()) {
      wipe(draw.bytes);
    }
  }
}

/** The taking side: a pool as an entropy source. */
export class PooledSource implements EntropySource {
  readonly name: SourceName;
  readonly kind: SourceKind;
  readonly #creditBitsPerDraw: number;
  readonly #isSeparate: boolean;
  readonly #memory: PoolMemory;
  #closed = false;

  constructor({ name, kind, creditBitsPerDraw, isSeparate, memory }: Pool) {
    this.name = name;
    this.kind = kind;
    this.#creditBitsPerDraw = creditBitsPerDraw;
    this.#isSeparate = isSeparate;
    this.#memory = new PoolMemory(memory);
  }

  /**
   * Takes a draw. Throws `AppError('entropy_unavailable')` with the seconds to wait if the pool is
   * empty.
   */
  draw(): Draw {
    // The filler puts the first draw before it sets `delivering`. Until then the draw stays in the
    // pool.
    const isReady = !this.#closed && this.#memory.state !== 'starting';
    const taken = isReady ? this.#memory.take() : null;
    // The state is read after taking, because a filler that latches sets the state first and then
    // drains. It is read only once: between two reads the source could begin to deliver and match
    // neither case.
    const { state } = this.#memory;
    const isGood = state === 'delivering' || state === 'failing';
    if (taken !== null && isGood) {
      return { ...taken, creditBits: this.#creditBitsPerDraw, isSeparate: this.#isSeparate };
    }
    if (taken !== null) wipe(taken.bytes);
    throw this.#unavailable();
  }

  /** A source is healthy while it delivers, or while draws wait in the pool. */
  status(): SourceStatus {
    const { header, state, waiting, slots } = this.#memory;
    const healthy = state === 'delivering' || (state === 'failing' && waiting > 0);
    return {
      name: this.name,
      kind: this.kind,
      state,
      healthy,
      creditBitsPerDraw: this.#creditBitsPerDraw,
      draws: Atomics.load(header, HEAD) >>> 0,
      failures: Atomics.load(header, FAILURES),
      pool: { waiting, capacity: slots },
      ...(PROBLEMS[state] !== null && { detail: PROBLEMS[state] }),
    };
  }

  /** Does nothing: a pool refills by itself. */
  probe(): void {}

  close(): void {
    this.#closed = true;
  }

  #unavailable(): AppError {
    const { header, state } = this.#memory;
    const problem = (this.#closed ? PROBLEMS.closed : PROBLEMS[state]) ?? 'its pool is empty';
    return new AppError('entropy_unavailable', {
      detail: `Entropy source "${this.name}": ${problem}.`,
      retryAfterSeconds: Math.max(1, Atomics.load(header, RETRY_AFTER_SECONDS)),
    });
  }
}
