/**
 * The latch of the process: one word in shared memory that ends key generation in every thread.
 *
 * All threads run the same code, so a defect in one generator casts doubt on all of them. The first thread
 * that finds a defect sets the latch, and its reason stands. Only a restart clears it. The word is read before
 * each DRBG request, before each commit and before each answer.
 */
import { type Gate, TEST_NAMES } from '#sp800-22';
import { DRBG_SELF_TESTS } from '../drbg/index.ts';
import { MODULATION_SELF_TESTS } from '../modulation/index.ts';
import { KEY_TESTS, REPEATED_BLOCK } from './entropy-check.ts';
import { FailureTally } from './failure-tally.ts';
import { STREAM_NAMES, type StreamName } from './p-values.ts';
import { SUITE_SELF_TEST } from './suite-self-test.ts';

/** What can latch, and the tests that each cause names. Metrics take their labels from this table. */
export const LATCH_TESTS = {
  /** A known answer of the DRBG, of the modulation or of the suite. */
  self_test: [...DRBG_SELF_TESTS, ...MODULATION_SELF_TESTS, SUITE_SELF_TEST],
  /** The statistical gate failed twice in a row, or three times within 1,000 verdicts; the weakest test of the last one. */
  gate: TEST_NAMES,
  /** A sample of 2^20 bits is biased (SP 800-90B §6.3.1). */
  screen: ['min_entropy'],
  /** A key failed one of the exact tests that every key must pass. */
  key_test: [...KEY_TESTS, REPEATED_BLOCK],
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

/** Words: 0 while in service, else the number of the slot with the reason; slots taken so far; the tally. */
const STATE = 0;
const TAKEN = 1;
const TALLY = 2;
const IN_SERVICE = 0;
const HEADER_BYTES = 12;

export class Latch {
  /** To be handed to worker threads. */
  readonly memory: SharedArrayBuffer;
  /** Failures of the gate in the whole process. */
  readonly tally: FailureTally;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.tally = new FailureTally(this.#words.subarray(TALLY, TALLY + 1));
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

/** Whose output the gate judges. */
export type Judged =
  | 'streams of validated keys'
  | 'samples of the generator of plain keys'
  | 'streams of suite workers between keys';

/** A failure of the gate, for the log. */
export interface FailedVerdict {
  readonly judged: Judged;
  readonly p: number;
  /** The weakest test, and the stream that it looked at. */
  readonly test: string;
  readonly stream: StreamName;
}

export function failedVerdict({ p, weakest }: Gate, judged: Judged): FailedVerdict {
  return { judged, p, test: weakest.test, stream: STREAM_NAMES[weakest.report] };
}

/** Two in a row failed the gate; the weakest test is the second one's. */
export function gateDefect({ weakest }: Gate, judged: Judged): Defect {
  const second = isModulated(judged) ? `, the second one ${placeOf(weakest)}` : '';
  const detail = `two ${judged} in a row failed the gate${second}`;
  return { cause: 'gate', test: weakest.test, detail };
}

/** The tally of failures is full; the weakest test is the third one's. */
export function tallyDefect({ weakest }: Gate, judged: Judged): Defect {
  const place = isModulated(judged) ? `, ${placeOf(weakest)}` : '';
  const detail = `third failure within 1,000 verdicts of the gate: ${judged}${place}`;
  return { cause: 'gate', test: weakest.test, detail };
}

/** Samples of the generator of plain keys are judged as they come. */
function isModulated(judged: Judged): boolean {
  return judged !== 'samples of the generator of plain keys';
}

function placeOf({ report }: Gate['weakest']): string {
  return report === 0 ? 'before modulation' : 'after modulation';
}
