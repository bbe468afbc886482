/** Cosignatures of checkpoints: https://c2sp.org/tlog-cosignature. */
import { assertBytes, assertInteger, concat, u64be, utf8 } from './bytes.ts';
import { HASH_BYTES } from './checkpoint.ts';
import { FormatError } from './format-error.ts';
import { ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE } from './note.ts';

const TIMESTAMP_BYTES = 8;

/** Bytes of the signature proper for each type of cosignature. */
const SIGNATURE_BYTES: Readonly<Record<number, number>> = {
  [ED25519_COSIGNATURE]: 64,
  // FIPS 204 Table 2.
  [ML_DSA_44_COSIGNATURE]: 2420,
};

export interface TimestampedSignature {
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly signature: Uint8Array;
}

/** Parses the signature of a note signature of type 4 or 6. Throws `FormatError`. */
export function parseTimestampedSignature(bytes: Uint8Array, type: number): TimestampedSignature {
  const expected = TIMESTAMP_BYTES + (SIGNATURE_BYTES[type] ?? Number.NaN);
  if (bytes.length !== expected) {
    throw new FormatError(
      `expected ${expected} bytes of cosignature of type ${type}, got ${bytes.length}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const timestamp = view.getUint32(0) * 2 ** 32 + view.getUint32(4);
  if (!Number.isSafeInteger(timestamp)) {
    throw new FormatError(`expected a time below 2^53 seconds in a cosignature, got ${timestamp}`);
  }
  return { timestamp, signature: bytes.slice(TIMESTAMP_BYTES) };
}

export function formatTimestampedSignature({
  timestamp,
  signature,
}: TimestampedSignature): Uint8Array {
  assertInteger('timestamp', timestamp, 0);
  return concat(u64be(timestamp), signature);
}

/**
 * Returns the message that an Ed25519 cosignature signs ("Ed25519 signed message"). `checkpointText` is
 * the whole text of the note, with its final newline.
 */
export function ed25519CosignatureMessage(timestamp: number, checkpointText: string): Uint8Array {
  assertInteger('timestamp', timestamp, 0);
  return utf8(`cosignature/v1\ntime ${timestamp}\n${checkpointText}`);
}

export interface CosignedTree {
  readonly cosigner: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly origin: string;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/**
 * Returns the message that an ML-DSA-44 cosignature of a checkpoint signs ("ML-DSA-44 signed message").
 * Throws `FormatError` if a name has more than 255 bytes.
 */
export function mlDsa44CosignatureMessage(tree: CosignedTree): Uint8Array {
  assertInteger('timestamp', tree.timestamp, 0);
  assertInteger('size', tree.size, 0);
  assertBytes('root', tree.root, HASH_BYTES);
  return concat(
    utf8('subtree/v1\n\0'),
    shortText('the name of a cosigner', tree.cosigner),
    u64be(tree.timestamp),
    shortText('the origin of a log', tree.origin),
    // A checkpoint is the subtree that begins with entry 0.
    u64be(0),
    u64be(tree.size),
    tree.root,
  );
}

/** Encodes `opaque text<1..2^8-1>` (RFC 8446 §3.4): a length byte, then the text. */
function shortText(name: string, text: string): Uint8Array {
  const bytes = utf8(text);
  if (bytes.length < 1 || bytes.length > 255) {
    throw new FormatError(`expected ${name} with 1 to 255 bytes, got ${bytes.length}`);
  }
  return concat(Uint8Array.of(bytes.length), bytes);
}
