/** Cuts an input into the sequences to test, or ends with the reason why it cannot. */

import {
  grouped,
  minimumBits,
  resolveParameters,
  type SupplementName,
  supplementMinimumBits,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
import { AssessError } from '../assess/errors.ts';
import { HintCollector } from './hints.ts';
import { type InputSequence, type SequenceReader, skipBits } from './reader.ts';
import { type Recognition, refuseForm } from './recognising.ts';

/** The longest sequence: 8 MiB of binary data. Counts and sums of squares are exact up to here. */
export const MAXIMUM_BITS = 2 ** 26;

export interface Cut {
  readonly offset: number;
  /** Null: the whole input is one sequence. */
  readonly bits: number | null;
  /** Null: as many as the input has. */
  readonly sequences: number | null;
  readonly tests: readonly TestName[];
  readonly supplements: readonly SupplementName[];
  /** Whether long streams of all sequences are tested too. Default: no. */
  readonly thorough?: boolean;
  readonly parameters: TestParameters;
  /** Whether a first sequence is refused that looks like another form than bits. */
  readonly recognises: boolean;
}

export class SequenceCutter {
  readonly #reader: SequenceReader;
  readonly #cut: Cut;
  /** Bytes of the input before the first sequence. */
  #skippedBytes = 0;
  #taken = 0;
  readonly #hints = new HintCollector();

  constructor(reader: SequenceReader, cut: Cut) {
    this.#reader = reader;
    this.#cut = cut;
  }

  /** Total number of sequences, known or estimated from those taken. */
  get expected(): number | undefined {
    const { bits, sequences } = this.#cut;
    if (bits === null) return 1;
    const { sizeBytes, takenBytes } = this.#reader;
    if (sequences !== null) return sequences;
    if (sizeBytes === undefined || this.#taken === 0) return undefined;
    // One chunk may hold all that was skipped, and more.
    if (takenBytes <= this.#skippedBytes) return undefined;
    const usableBytes = sizeBytes - this.#skippedBytes;
    const estimate = (this.#taken * usableBytes) / (takenBytes - this.#skippedBytes);
    return Math.max(this.#taken, Math.floor(estimate));
  }

  /** Signs at the start of what was cut that it is no stream of bits. May be called once. */
  hints(): string[] {
    return this.#hints.end(this.#cut.offset, this.#reader.format);
  }

  /** Returns the next sequence, or `null` after the last one. */
  async next(): Promise<InputSequence | null> {
    const { bits, sequences, offset, recognises } = this.#cut;
    if (this.#taken === (bits === null ? 1 : sequences)) {
      await this.#reader.finish?.();
      return null;
    }
    if (this.#taken === 0) {
      await this.#reader.prepare?.();
      this.#refuseTooFewInFile();
      await skipBits(this.#reader, offset);
      this.#skippedBytes = this.#reader.takenBytes;
    }
    const sequence = await this.#reader.readSequence(bits ?? MAXIMUM_BITS + 1);
    if (this.#taken === 0 && recognises) refuseFirst(sequence, this.#reader.format);
    if (!this.#isUsable(sequence)) {
      sequence.bytes.fill(0);
      return null;
    }
    this.#taken++;
    this.#hints.add(sequence);
    return sequence;
  }

  #isUsable({ bits: length }: InputSequence): boolean {
    if (this.#taken === 0) this.#assertFirst(length);
    const { bits, sequences } = this.#cut;
    if (bits === null || length === bits) return true;
    if (sequences === null) return false;
    throw this.#tooFewSequences(this.#taken);
  }

  /** Throws before any work if a binary file is too small for the requested sequences. */
  #refuseTooFewInFile(): void {
    const { bits, sequences, offset } = this.#cut;
    const { sizeBits } = this.#reader;
    if (sizeBits === undefined || bits === null || sequences === null) return;
    const held = Math.floor((sizeBits - offset) / bits);
    if (held > 0 && held < sequences) throw this.#tooFewSequences(held);
  }

  #tooFewSequences(got: number): AssessError {
    const { bits, sequences } = this.#cut;
    const text = `expected ${sequences} sequences of ${grouped(bits ?? 0)} bits, got ${got}`;
    return new AssessError('too-few-sequences', text, { expected: sequences ?? 0, got });
  }

  #assertFirst(length: number): void {
    const { bits, offset, tests, supplements, parameters } = this.#cut;
    if (length === 0) throw emptyInput(offset);
    if (bits === null && length > MAXIMUM_BITS) {
      throw new AssessError(
        'too-many-bits',
        `expected at most ${grouped(MAXIMUM_BITS)} bits in one sequence, got more: give "bits"`,
      );
    }
    const resolved = resolveParameters(length, parameters);
    const minimum = Math.min(
      ...tests.map((test) => minimumBits(test, resolved)),
      ...supplements.map(supplementMinimumBits),
    );
    const needed = Math.max(minimum, bits ?? 0);
    if (length >= needed) return;
    throw new AssessError(
      'too-few-bits',
      `expected at least ${grouped(needed)} bits, got ${grouped(length)}`,
      { expected: needed, got: length },
    );
  }
}

function emptyInput(offset: number): AssessError {
  const text =
    offset === 0
      ? 'expected bits, got an empty input'
      : `expected bits after the ${grouped(offset)} that are skipped, got none`;
  return new AssessError('empty', text);
}

/** Refuses what follows the skipped bits: the start of the input alone may be a header. Wipes it if so. */
function refuseFirst({ bytes, bits }: InputSequence, format: string): void {
  try {
    refuseForm(bytes.subarray(0, bits >>> 3), { within: format });
  } catch (error) {
    bytes.fill(0);
    throw error;
  }
}

/** A stream is not waited for beyond the first sequence, which has so many bytes at least in any format. */
export function recognitionOf({ offset, bits }: Pick<Cut, 'offset' | 'bits'>): Recognition {
  return bits === null ? {} : { neededBytes: Math.ceil((offset + bits) / 8) };
}
