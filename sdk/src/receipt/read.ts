/** Reads a receipt with its proof and checkpoint. Nothing is verified here. */
import type { EvidenceReport } from './evidence.ts';
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
import { UnreadableError } from './unreadable.ts';
import { count } from './verdict.ts';

export interface ReadReceipt {
  readonly statement: KeyStatement;
  readonly proof: TlogProof;
  readonly signed: SignedCheckpoint;
}

/** What a file has around its receipt. Forms are not checked. */
export interface ReceiptFile {
  readonly receipt: unknown;
  readonly key?: string;
  readonly opening?: string;
  readonly nistReport?: EvidenceReport;
  /** What the file itself says of the key, by members of the statement. */
  readonly said: Readonly<Partial<Record<SaidMember, unknown>>>;
}

/** Members that a file or an answer has beside its receipt, and that the statement has too. */
const SAID = ['key_id', 'security_level', 'sealed_to'] as const;
type SaidMember = (typeof SAID)[number];

/**
 * Returns the parts of a receipt, or of what has one within it: the file of `phm generate --receipt`, the download of the
 * dashboard, an answer of the service. Takes parsed JSON or its text. Throws `UnreadableError`.
 */
export function openReceiptFile(given: unknown): ReceiptFile {
  const value = parsed(NO_RECEIPT, () =>
    typeof given === 'string' ? parseReceiptText(given) : given,
  );
  if (!isObject(value) || !('receipt' in value) || 'statement' in value) {
    return { receipt: value, said: {} };
  }
  const { receipt, key, opening, nist_report: nistReport } = value;
  if (receipt === null) {
    throw new UnreadableError(
      'The file has no receipt: the log did not have the entry of the key in time. Get it by the key_id, and verify that.',
    );
  }
  return {
    receipt,
    ...(typeof key === 'string' && { key }),
    ...(typeof opening === 'string' && { opening }),
    ...(isObject(nistReport) && { nistReport: nistReport as unknown as EvidenceReport }),
    said: Object.fromEntries(
      SAID.flatMap((name) => (value[name] == null ? [] : [[name, value[name]]])),
    ),
  };
}

const NO_RECEIPT = 'This is not a receipt';

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a receipt, without what a file has around it. Throws `UnreadableError`. */
export function readReceipt(receipt: unknown): ReadReceipt {
  const { statement, proof: text } = parsed(NO_RECEIPT, () => parseReceipt(receipt));
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
    if (!(error instanceof FormatError)) throw error;
    throw new UnreadableError(`${what}: ${error.message.replace(/\.$/, '')}.`);
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
