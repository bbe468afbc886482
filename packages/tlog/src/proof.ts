/** Proofs that an entry is in a log: https://c2sp.org/tlog-proof. */
import { decodeBase64, decodeBase64Of, encodeBase64 } from './base64.ts';
import { assertBytes, assertInteger, parseDecimal } from './bytes.ts';
import { HASH_BYTES } from './checkpoint.ts';
import { FormatError, received } from './format-error.ts';
import { MAX_NOTE_LENGTH, parseNote } from './note.ts';

export interface TlogProof {
  /** Bytes of the application, which nothing authenticates; null if the proof has none. */
  readonly extra: Uint8Array | null;
  /** Index of the entry, from 0. */
  readonly index: number;
  /** Inclusion proof, the leaf's sibling first: at most 63 hashes of 32 bytes. */
  readonly hashes: readonly Uint8Array[];
  /** The checkpoint as a signed note. */
  readonly checkpoint: string;
}

const HEADER = 'c2sp.org/tlog-proof@v1';
const MAX_HASHES = 63;
/** Longest head in UTF-16 code units: header, extra data and hashes. */
const MAX_HEAD_LENGTH = MAX_NOTE_LENGTH;

/** Parses a proof. Throws `FormatError`. It checks the form of the checkpoint's note, and no signature. */
export function parseProof(text: string): TlogProof {
  const end = text.indexOf('\n\n');
  if (end === -1 || end > MAX_HEAD_LENGTH) {
    throw new FormatError('a proof needs an empty line before its checkpoint');
  }
  const checkpoint = text.slice(end + 2);
  const lines = text.slice(0, end).split('\n');
  if (lines[0] !== HEADER) {
    throw new FormatError(
      `line 1 of a proof: expected "${HEADER}", got ${received(lines[0] ?? '')}`,
    );
  }
  const hasExtra = lines[1]?.startsWith('extra ') === true;
  const extra = hasExtra ? decodeExtra(lines[1] as string) : null;
  const indexAt = hasExtra ? 2 : 1;
  const index = parseIndex(lines[indexAt] ?? '', indexAt + 1);
  const hashes = parseHashes(lines.slice(indexAt + 1), indexAt + 2);
  if (!/\n\n[^\n]/.test(checkpoint)) throw new FormatError('the checkpoint has no signature line');
  parseNote(checkpoint);
  return { extra, index, hashes, checkpoint };
}

function decodeExtra(line: string): Uint8Array {
  try {
    return decodeBase64(line.slice('extra '.length));
  } catch (error) {
    throw new FormatError(`line 2 of a proof, extra data: ${(error as Error).message}`);
  }
}

function parseIndex(line: string, number: number): number {
  if (!line.startsWith('index ')) {
    throw new FormatError(
      `line ${number} of a proof: expected "index <number>", got ${received(line)}`,
    );
  }
  return parseDecimal(`line ${number} of a proof, index`, line.slice('index '.length));
}

function parseHashes(lines: readonly string[], firstNumber: number): Uint8Array[] {
  if (lines.length > MAX_HASHES) {
    throw new FormatError(`expected at most ${MAX_HASHES} hashes in a proof, got ${lines.length}`);
  }
  return lines.map((line, i) =>
    decodeBase64Of(HASH_BYTES, `line ${firstNumber + i} of a proof, hash`, line),
  );
}

/** Formats a proof. Throws `RangeError` or `TypeError` on values that a proof cannot hold. */
export function formatProof({ extra, index, hashes, checkpoint }: TlogProof): string {
  assertInteger('index', index, 0);
  assertInteger('hashes.length', hashes.length, 0, MAX_HASHES);
  for (const hash of hashes) assertBytes('hash', hash, HASH_BYTES);
  const head = [
    HEADER,
    ...(extra === null ? [] : [`extra ${encodeBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(encodeBase64),
  ];
  return `${head.join('\n')}\n\n${checkpoint}`;
}
