/**
 * The latch of the process: one word in shared memory that ends key generation in every thread.
 *
 * All threads run the same code, so a defect in one generator casts doubt on all of them. The first thread
 * that finds a defect sets the latch, and its reason stands. Only a restart clears it. The word is read before
 * each DRBG request, before each commit and before each answer.
 */
import { DRBG_SELF_TESTS } from '../drbg/index.ts';
import { MODULATION_SELF_TESTS } from '../modulation/index.ts';
import { type Gate, TEST_NAMES } from '../sts/index.ts';
import { KEY_TESTS } from './entropy-check.ts';

/** What can latch, and the tests that each cause names. Metrics take their labels from this table. */
export const LATCH_TESTS = {
  /** A known answer of the DRBG or of the modulation. */
  self_test: [...DRBG_SELF_TESTS, ...MODULATION_SELF_TESTS],
  /** Two streams in a row failed the statistical gate; the weakest test of the second one. */
  gate: TEST_NAMES,
  /** A sample of 2^20 bits is biased (SP 800-90B §6.3.1). */
  screen: ['min_entropy'],
  /** A key failed one of the exact tests that every key must pass. */
  key_test: KEY_TESTS,
  /** The ledger already holds the commitment of a new key. */
  repeated_key: ['commitment'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type LatchCause = keyof typeof LATCH_TESTS;

/** Why the process latched. It MUST NOT hold output of a generator. */
export interface Defect {
  readonly cause: LatchCause;
  readonly test: string;
  /** For the log, cut after 200 characters. */
  readonly detail: string;
}

const MAX_TEST_LENGTH = 64;
const MAX_DETAIL_LENGTH = 200;

/** Holds both texts as JSON, even if each character is escaped as six bytes. */
const SLOT_BYTES = 2_048;

/** Words: 0 while in service, else the number of the slot with the reason; slots taken so far. */
const STATE = 0;
const TAKEN = 1;
const IN_SERVICE = 0;
const HEADER_BYTES = 8;

export class Latch {
  /** To be handed to worker threads. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / 4);
  }

  /** A new latch, in service, with one slot for the reason of each thread that may set it. */
  static forThreads(threads: number): Latch {
    return new Latch(new SharedArrayBuffer(HEADER_BYTES + threads * SLOT_BYTES));
  }

  /** Why the process has latched; null while it is in service. */
  read(): Defect | null {
    const slot = Atomics.load(this.#words, STATE);
    if (slot === IN_SERVICE) return null;
    const bytes = Buffer.from(this.#slot(slot));
    return JSON.parse(bytes.toString('utf8', 0, bytes.indexOf(0)));
  }

  /**
   * Ends generation in all threads, unless another thread has done so. The reason is written to a slot of its
   * own before the word names the slot, so that every reason that can be read is whole.
   */
  set({ cause, test, detail }: Defect): void {
    if (Atomics.load(this.#words, STATE) !== IN_SERVICE) return;
    const slot = Atomics.add(this.#words, TAKEN, 1) + 1;
    const defect: Defect = {
      cause,
      test: test.slice(0, MAX_TEST_LENGTH),
      detail: detail.slice(0, MAX_DETAIL_LENGTH),
    };
    this.#slot(slot).set(Buffer.from(JSON.stringify(defect)));
    Atomics.compareExchange(this.#words, STATE, IN_SERVICE, slot);
    Atomics.notify(this.#words, STATE);
  }

  /** Resolves when the latch is set. It does not keep a thread alive. */
  async whenSet(): Promise<Defect> {
    for (;;) {
      const defect = this.read();
      if (defect) return defect;
      await Atomics.waitAsync(this.#words, STATE, IN_SERVICE).value;
    }
  }

  #slot(slot: number): Uint8Array<SharedArrayBuffer> {
    return new Uint8Array(this.memory, HEADER_BYTES + (slot - 1) * SLOT_BYTES, SLOT_BYTES);
  }
}

/** A defect as one line for the log. */
export function describeDefect({ cause, test, detail }: Defect): string {
  return `${cause}, ${test}: ${detail}`;
}

/** Two streams in a row failed the gate. `streams` says whose they were; the weakest test is the second one's. */
export function gateDefect({ weakest }: Gate, streams: string): Defect {
  const judged = weakest.report === 0 ? 'before' : 'after';
  const detail = `two ${streams} in a row failed the gate, the second one ${judged} modulation`;
  return { cause: 'gate', test: weakest.test, detail };
}
