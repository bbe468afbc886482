/** Signing and verifying checkpoints: https://c2sp.org/tlog-checkpoint, https://c2sp.org/tlog-cosignature. */
import { sign, verify } from 'node:crypto';
import {
  type Checkpoint,
  ED25519,
  ED25519_COSIGNATURE,
  ed25519CosignatureMessage,
  FormatError,
  formatCheckpoint,
  formatNote,
  formatTimestampedSignature,
  mlDsa44CosignatureMessage,
  type NoteSignature,
  parseCheckpoint,
  parseNote,
  parseTimestampedSignature,
  type SignedNote,
  type VerifierKey,
} from '#tlog';
import { EMPTY_ROOT } from './hash.ts';
import { type LogKeys, publicKeyOf } from './keys.ts';

interface TreeHead {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/**
 * Returns the signed checkpoint of a tree: an Ed25519 signature, and an ML-DSA-44 cosignature by the log
 * itself at `nowSeconds` since the epoch. The caller MUST sign only heads that extend all earlier ones.
 */
export function signCheckpoint(keys: LogKeys, head: TreeHead, nowSeconds: number): string {
  const { origin, ed25519, mlDsa44 } = keys;
  const text = formatCheckpoint({ origin, ...head, extensions: [] });
  const message = mlDsa44CosignatureMessage({
    cosigner: mlDsa44.name,
    timestamp: nowSeconds,
    origin,
    ...head,
  });
  const cosignature = formatTimestampedSignature({
    timestamp: nowSeconds,
    signature: sign(null, message, mlDsa44.privateKey),
  });
  const { name, keyId, privateKey } = ed25519;
  return formatNote({
    text,
    signatures: [
      { name, keyId, signature: sign(null, Buffer.from(text), privateKey) },
      { name: mlDsa44.name, keyId: mlDsa44.keyId, signature: cosignature },
    ],
  });
}

interface SignatureVerdict {
  readonly valid: boolean;
  /** Seconds since the epoch; null for a signature without a time, or an invalid one. */
  readonly timestamp: number | null;
}

const INVALID: SignatureVerdict = { valid: false, timestamp: null };

/** Verifies one signature of a note that holds a checkpoint. A signature by another key is invalid. */
export function verifySignature(
  key: VerifierKey,
  note: SignedNote,
  signature: NoteSignature,
): SignatureVerdict {
  if (!isBy(key, signature)) return INVALID;
  try {
    const { message, bytes, timestamp } = signedMessage(key, note, signature);
    const valid = verify(null, message, publicKeyOf(key), bytes);
    return valid ? { valid, timestamp } : INVALID;
  } catch (error) {
    // Bytes that are no public key: Node throws an error with a code.
    if (error instanceof FormatError || (error as NodeJS.ErrnoException).code !== undefined) {
      return INVALID;
    }
    throw error;
  }
}

interface SignedMessage {
  readonly message: Uint8Array;
  /** The signature proper. */
  readonly bytes: Uint8Array;
  readonly timestamp: number | null;
}

/** Returns what a signature signs. Throws `FormatError` if the note or the signature has the wrong form. */
function signedMessage(
  key: VerifierKey,
  { text }: SignedNote,
  { signature }: NoteSignature,
): SignedMessage {
  if (key.type === ED25519) {
    return { message: Buffer.from(text), bytes: signature, timestamp: null };
  }
  const { timestamp, signature: bytes } = parseTimestampedSignature(signature, key.type);
  if (key.type === ED25519_COSIGNATURE) {
    return { message: ed25519CosignatureMessage(timestamp, text), bytes, timestamp };
  }
  const { origin, size, root } = parseCheckpoint(text);
  const tree = { cosigner: key.name, timestamp, origin, size, root };
  return { message: mlDsa44CosignatureMessage(tree), bytes, timestamp };
}

function isBy(key: VerifierKey, { name, keyId }: NoteSignature): boolean {
  return key.name === name && key.keyId === keyId;
}

/** A key whose signature on a note is valid. */
interface Signer extends VerifierKey {
  /** Seconds since the epoch; null for a signature without a time. */
  readonly timestamp: number | null;
}

interface OpenedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly note: SignedNote;
  /** At least one key of the log; each key once. */
  readonly signedBy: readonly Signer[];
}

/**
 * Parses and verifies a checkpoint. Signatures by keys other than `keys` are ignored. Throws `FormatError`
 * if the signature of one of `keys` is wrong, or if no key named as its origin has signed.
 */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): OpenedCheckpoint {
  const parsed = parseNote(note);
  const checkpoint = parseCheckpoint(parsed.text);
  const { origin, size, root } = checkpoint;
  const signedBy = keys.flatMap((key) => signerOf(key, parsed) ?? []);
  // c2sp.org/tlog-policy: the name of a log's key is the origin of its checkpoints.
  if (!signedBy.some(({ name }) => name === origin)) {
    throw new FormatError(`no known key of ${origin} has signed this checkpoint`);
  }
  if (size === 0 && !EMPTY_ROOT.equals(root)) {
    throw new FormatError('the checkpoint of an empty log has the wrong root');
  }
  return { checkpoint, note: parsed, signedBy };
}

/** Returns the key with its time if it has signed the note. Throws `FormatError` on a wrong signature. */
function signerOf(key: VerifierKey, note: SignedNote): Signer | null {
  const verdicts = note.signatures
    .filter((signature) => isBy(key, signature))
    .map((signature) => verifySignature(key, note, signature));
  if (verdicts.some(({ valid }) => !valid)) {
    throw new FormatError(
      `the signature of ${key.name} (type ${key.type}) on the checkpoint is wrong`,
    );
  }
  const [first] = verdicts;
  return first === undefined ? null : { ...key, timestamp: first.timestamp };
}
