/** Reads a receipt with its proof and checkpoint. Nothing is verified here. */
import { parseReceiptText } from './json.ts';
import type { SignedCheckpoint } from './signatures.ts';
import {
  FormatError,
  inclusionSides,
  type KeyStatement,
  parseCheckpoint,
  parseNote,
  parseProof,
  parseReceipt,
  type TlogProof,
} from './tlog.ts';
import { count } from './verdict.ts';

export interface ReadReceipt {
  readonly statement: KeyStatement;
  readonly proof: TlogProof;
  readonly signed: SignedCheckpoint;
}

/** A receipt that cannot be read. The message is one sentence for the verdict. */
export class UnreadableError extends Error {}

/** Reads a parsed receipt or its JSON text. Throws `UnreadableError`. */
export function readReceipt(receipt: unknown): ReadReceipt {
  const { statement, proof: text } = parsed('This is not a receipt', () =>
    parseReceipt(typeof receipt === 'string' ? parseReceiptText(receipt) : receipt),
  );
  const proof = parsed('The proof cannot be read', () => parseProof(text));
  const signed = parsed('The checkpoint cannot be read', () => {
    const note = parseNote(proof.checkpoint);
    return { note, checkpoint: parseCheckpoint(note.text) };
  });
  assertFits(proof, signed.checkpoint.size);
  return { statement, proof, signed };
}

/** Returns the result of `parse`. Throws `UnreadableError` with `what` and the parser's reason. */
export function parsed<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof FormatError) throw new UnreadableError(`${what}: ${error.message}.`);
    throw error;
  }
}

/** RFC 6962 §2.1.1: index and size fix the number of hashes. */
function assertFits({ index, hashes }: TlogProof, size: number): void {
  const entries = count(size, 'entry', 'entries');
  if (index >= size) {
    throw new UnreadableError(
      `The proof is for entry ${index}, counted from 0, but its checkpoint covers only ${entries}.`,
    );
  }
  const expected = inclusionSides(index, size).length;
  if (hashes.length !== expected) {
    throw new UnreadableError(
      `The proof has ${count(hashes.length, 'hash', 'hashes')}, but entry ${index} of ${entries} needs ${expected}: it was cut, or it is for another index.`,
    );
  }
}
