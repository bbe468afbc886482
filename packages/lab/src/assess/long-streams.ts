/** Joins the sequences of a run to long streams, and has each tested as soon as it is full. */
import {
  LONG_STREAM_MAXIMUM_BITS,
  LONG_STREAM_MINIMUM_BITS,
  type LongStreamReport,
} from '../../../sp800-22/src/index.ts';
import type { InputSequence } from '../input/reader.ts';
import { AssessError } from './errors.ts';

/** Tests a stream, and wipes it. */
type TestStream = (bytes: Uint8Array<ArrayBuffer>) => Promise<LongStreamReport>;

export class LongStreamTests {
  readonly #test: TestStream;
  /** Streams in memory, besides the one that is being filled. */
  readonly #limit: number;
  #stream = new Uint8Array(0);
  #bits = 0;
  readonly #reports: Promise<LongStreamReport>[] = [];
  readonly #running = new Set<Promise<unknown>>();

  constructor(test: TestStream, limit: number) {
    this.#test = test;
    this.#limit = limit;
  }

  /** Waits until another stream may be filled. Rejects if a test failed. */
  async room(): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
  }

  /** Copies the bits of a sequence. */
  take({ bytes, bits, offsetBits }: InputSequence): void {
    let from = offsetBits;
    for (let left = bits; left > 0; ) {
      if (this.#stream.length === 0) this.#stream = new Uint8Array(LONG_STREAM_MAXIMUM_BITS / 8);
      const count = Math.min(left, LONG_STREAM_MAXIMUM_BITS - this.#bits);
      copyBits(bytes, from, this.#stream, this.#bits, count);
      this.#bits += count;
      from += count;
      left -= count;
      if (this.#bits === LONG_STREAM_MAXIMUM_BITS) this.#submit();
    }
  }

  /** Tests what is left, if it is long enough, and resolves with the reports in order. */
  async end(): Promise<readonly LongStreamReport[]> {
    if (this.#bits >= LONG_STREAM_MINIMUM_BITS) this.#submit();
    this.wipe();
    return await Promise.all(this.#reports);
  }

  /** Wipes the stream that is being filled. */
  wipe(): void {
    this.#stream.fill(0);
    this.#stream = new Uint8Array(0);
    this.#bits = 0;
  }

  #submit(): void {
    const report = this.#test(this.#stream.subarray(0, this.#bits >>> 3)).catch((error: Error) => {
      throw new AssessError(
        'worker',
        `the tests on a long stream failed: ${error.message}`,
        {},
        error,
      );
    });
    this.#stream = new Uint8Array(0);
    this.#bits = 0;
    this.#reports.push(report);
    this.#running.add(report);
    report.then(
      () => this.#running.delete(report),
      // Stays, so that `room` and `end` reject.
      () => {},
    );
  }
}

/** Copies `count` bits from bit `from` of `source` to bit `to` of `target`, which has zeros from there on. */
export function copyBits(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  count: number,
): void {
  const shift = from & 7;
  const start = Math.floor(from / 8);
  const room = to & 7;
  let at = Math.floor(to / 8);
  const whole = count >>> 3;
  if (shift === 0 && room === 0) {
    target.set(source.subarray(start, start + whole), at);
    at += whole;
  } else {
    for (let i = start; i < start + whole; i++) {
      const byte = ((source[i] << shift) | ((source[i + 1] ?? 0) >>> (8 - shift))) & 255;
      target[at++] |= byte >>> room;
      if (room > 0) target[at] = byte << (8 - room);
    }
  }
  for (let i = 8 * whole; i < count; i++) {
    const bit = (source[(from + i) >>> 3] >>> (7 - ((from + i) & 7))) & 1;
    target[(to + i) >>> 3] |= bit << (7 - ((to + i) & 7));
  }
}
