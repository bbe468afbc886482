/**
 * The latch of the process: one word in shared memory that ends key generation in every thread.
 *
 * All threads run the same code, so a defect in one generator casts doubt on all of them. The first thread that
 * finds a defect sets the latch, and later reasons are ignored. Only a restart clears it. Threads read the word
 * before each DRBG request, each commit and each answer.
 */
import type { Gate } from '#sp800-22';
import { DRBG_SELF_TESTS } from '../drbg/index.ts';
import { MODULATION_SELF_TESTS } from '../modulation/index.ts';
import { ACCUMULATED_TESTS, type Accumulated } from './accumulated-evidence.ts';
import { ALTERED_KEY_TESTS } from './altered-key.ts';
import { KEY_TESTS, REPEATED_BLOCK } from './entropy-check.ts';
import { EVIDENCE_TESTS } from './evidence-suite.ts';
import { FailureTally } from './failure-tally.ts';
import { STREAM_NAMES, type StreamName } from './p-values.ts';
import { REPEATED_WORD } from './recent-words.ts';
import { SUITE_SELF_TEST } from './suite-self-test.ts';

/** Causes of a latch and the tests that each cause can name. Metrics take their labels from this table. */
export const LATCH_TESTS = {
  /** A known-answer test of DRBG, modulation or suite failed. */
  self_test: [...DRBG_SELF_TESTS, ...MODULATION_SELF_TESTS, SUITE_SELF_TEST],
  /**
   * The gate failed twice in a row, or three times within about 1,000 verdicts. Named is the weakest test of the last
   * failure.
   */
  gate: EVIDENCE_TESTS,
  /** The samples of a generator, each of which may pass, add up to a defect. */
  accumulated: ACCUMULATED_TESTS,
  /** A sample of 2^20 bits is biased (SP 800-90B §6.3.1). */
  screen: ['min_entropy'],
  /** A key failed one of the exact tests that every key must pass. */
  key_test: [...KEY_TESTS, REPEATED_BLOCK],
  /** The ledger already holds the commitment of a new key, or a word of it or its carrier is one of the last. */
  repeated_key: ['commitment', REPEATED_WORD],
  /**
   * A key is no longer what was generated: its modulation does not undo to its carrier, what goes into its seal is not what was
   * committed to, or the text of an answer is not of its keys.
   */
  altered_key: ALTERED_KEY_TESTS,
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type LatchCause = keyof typeof LATCH_TESTS;

/** Reason for a latch. It MUST NOT contain generator output. */
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

/** Words: slot number of the reason, or 0 while in service; number of slots taken; tally of failures. */
const STATE = 0;
const TAKEN = 1;
const TALLY = 2;
const IN_SERVICE = 0;
const HEADER_BYTES = 12;

export class Latch {
  /** Shared memory to pass to worker threads. */
  readonly memory: SharedArrayBuffer;
  /** Failures of the gate in the whole process. */
  readonly tally: FailureTally;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.tally = new FailureTally(this.#words.subarray(TALLY, TALLY + 1));
  }

  /** Returns a new latch, in service, with one slot for each thread that may set it. */
  static forThreads(threads: number): Latch {
    return new Latch(new SharedArrayBuffer(HEADER_BYTES + threads * SLOT_BYTES));
  }

  /** Returns the reason for the latch, or null while in service. */
  read(): Defect | null {
    const slot = Atomics.load(this.#words, STATE);
    if (slot === IN_SERVICE) return null;
    const bytes = Buffer.from(this.#slot(slot));
    return JSON.parse(bytes.toString('utf8', 0, bytes.indexOf(0)));
  }

  /**
   * Ends generation in all threads, unless the latch is already set. The reason is written to its own slot before
   * the word names that slot, so a reader never sees a partial reason.
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

/** Returns a defect as one line for the log. */
export function describeDefect({ cause, test, detail }: Defect): string {
  return `${cause}, ${test}: ${detail}`;
}

/** Origin of the bits that the gate judges. */
export type Judged =
  | 'streams of validated keys'
  | 'samples of the generator of plain keys'
  | 'streams of suite workers between keys';

/** What the log is told of a generator that still makes keys: a failure of the gate, or samples that begin to add up. */
export type EvidenceWarning =
  | { readonly failedVerdict: FailedVerdict }
  | { readonly accumulated: Accumulated };

/** A failure of the gate, for the log. */
interface FailedVerdict {
  readonly judged: Judged;
  readonly p: number;
  /** The weakest test and the stream it judged. */
  readonly test: string;
  readonly stream: StreamName;
}

export function failedVerdict({ p, weakest }: Gate, judged: Judged): FailedVerdict {
  return { judged, p, test: weakest.test, stream: STREAM_NAMES[weakest.report] };
}

/** Returns the defect of two failures in a row. Names the weakest test of the second one. */
export function gateDefect({ weakest }: Gate, judged: Judged): Defect {
  const second = isModulated(judged) ? `, the second one ${placeOf(weakest)}` : '';
  const detail = `two ${judged} in a row failed the gate${second}`;
  return { cause: 'gate', test: weakest.test, detail };
}

/** Returns the defect of a full tally. Names the weakest test of the third failure. */
export function tallyDefect({ weakest }: Gate, judged: Judged): Defect {
  const place = isModulated(judged) ? `, ${placeOf(weakest)}` : '';
  const detail = `third failure within about 1,000 verdicts of the gate: ${judged}${place}`;
  return { cause: 'gate', test: weakest.test, detail };
}

/** Returns the defect of samples that add up to one. */
export function accumulatedDefect({ test, samples, evidence }: Accumulated): Defect {
  const detail = `${samples} samples of one generator add up to evidence of ${evidence} against it`;
  return { cause: 'accumulated', test, detail };
}

/** Samples of the generator of plain keys have no modulation. */
function isModulated(judged: Judged): boolean {
  return judged !== 'samples of the generator of plain keys';
}

function placeOf({ report }: Gate['weakest']): string {
  return report === 0 ? 'before modulation' : 'after modulation';
}
