/** Keeps the bits of the worst sequence of a run, which is known only when its results come. */
import { compareResults, type SequenceResult } from './failing-sequences.ts';

/** `bits` bits that begin `offsetBits` after the first bit of `bytes`, the most significant first. */
export interface DrawnSequence {
  readonly bytes: Uint8Array;
  readonly offsetBits: number;
  readonly bits: number;
}

/** Bits that begin with their first byte. */
export type AlignedSequence = Omit<DrawnSequence, 'offsetBits'>;

/** Returns a copy. The caller MUST wipe it if the bits are secret. */
export function alignedCopy({ bytes, offsetBits, bits }: DrawnSequence): AlignedSequence {
  const from = offsetBits >>> 3;
  const shift = offsetBits & 7;
  // Not `slice`, which shares the memory of a Buffer.
  const copy = Uint8Array.from(bytes.subarray(from, from + Math.ceil(bits / 8)));
  if (shift === 0) return { bytes: copy, bits };
  for (let i = 0; i < copy.length; i++) {
    copy[i] = (bytes[from + i] << shift) | ((bytes[from + i + 1] ?? 0) >>> (8 - shift));
  }
  return { bytes: copy, bits };
}

/** At any time it has the sequences without results, and the worst of the others. */
export class WorstSequence {
  readonly #waiting = new Map<number, AlignedSequence>();
  #worst: { readonly result: SequenceResult; readonly sequence: AlignedSequence } | undefined;

  keep(index: number, sequence: DrawnSequence): void {
    this.#waiting.set(index, alignedCopy(sequence));
  }

  judge(result: SequenceResult): void {
    const sequence = this.#waiting.get(result.index);
    this.#waiting.delete(result.index);
    if (!sequence) return;
    if (this.#worst && compareResults(this.#worst.result, result) <= 0) {
      sequence.bytes.fill(0);
      return;
    }
    this.#worst?.sequence.bytes.fill(0);
    this.#worst = { result, sequence };
  }

  /** Hands the worst sequence to `draw`, if there is one, and wipes all bits. */
  end<T>(draw: (sequence: AlignedSequence, result: SequenceResult) => T): T | undefined {
    const drawn = this.#worst && draw(this.#worst.sequence, this.#worst.result);
    for (const { bytes } of this.#waiting.values()) bytes.fill(0);
    this.#worst?.sequence.bytes.fill(0);
    this.#waiting.clear();
    return drawn;
  }
}
