/** Verifies signatures of checkpoints: c2sp.org/signed-note and c2sp.org/tlog-cosignature. */
import { findSubtle } from '../web-crypto.ts';
import { type Bytes, sha256, utf8 } from './hash.ts';
import { verifyMlDsa44 } from './ml-dsa-44.ts';
import {
  type Checkpoint,
  ED25519,
  ed25519CosignatureMessage,
  FormatError,
  keyIdMessage,
  ML_DSA_44_COSIGNATURE,
  mlDsa44CosignatureMessage,
  type NoteSignature,
  parseTimestampedSignature,
  readKeyId,
  type SignedNote,
  type VerifierKey,
} from './tlog.ts';

/** A checkpoint with its signatures. */
export interface SignedCheckpoint {
  readonly note: SignedNote;
  readonly checkpoint: Checkpoint;
}

interface VerifiedSignature {
  /** Seconds since the epoch; null for a type without a time, and for the time 0, which states none. */
  readonly timestamp: number | null;
}

/** The platform cannot verify a signature. The message says which platforms can. */
export class UnsupportedError extends Error {}

/** Returns the signatures that name this key. c2sp.org/signed-note: name and key ID identify it. */
export function signaturesOf(key: VerifierKey, note: SignedNote): readonly NoteSignature[] {
  return note.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);
}

/** Reports whether the key ID belongs to the name and public key (c2sp.org/signed-note, "Signatures"). */
export async function hasOwnKeyId({ name, type, publicKey, keyId }: VerifierKey): Promise<boolean> {
  return readKeyId(await sha256(keyIdMessage(name, type, publicKey))) === keyId;
}

/** Returns null for a wrong signature. Throws `UnsupportedError` on a platform that cannot tell. */
export async function verifySignature(
  key: VerifierKey,
  { note, checkpoint }: SignedCheckpoint,
  { signature }: NoteSignature,
): Promise<VerifiedSignature | null> {
  if (key.type === ED25519) {
    const isRight = await verifyEd25519(key.publicKey, utf8(note.text), signature);
    return isRight ? { timestamp: null } : null;
  }
  const timed = parseOrNull(signature, key.type);
  if (timed === null) return null;
  const isRight =
    key.type === ML_DSA_44_COSIGNATURE
      ? await verifyMlDsa44(
          key.publicKey,
          mlDsa44CosignatureMessage({
            ...checkpoint,
            cosigner: key.name,
            timestamp: timed.timestamp,
          }),
          timed.signature,
        )
      : await verifyEd25519(
          key.publicKey,
          ed25519CosignatureMessage(timed.timestamp, note.text),
          timed.signature,
        );
  return isRight ? { timestamp: timed.timestamp || null } : null;
}

function parseOrNull(
  signature: Uint8Array,
  type: number,
): ReturnType<typeof parseTimestampedSignature> | null {
  try {
    return parseTimestampedSignature(signature, type);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const subtle = findSubtle();
  try {
    const key = await subtle.importKey('raw', publicKey as Bytes, 'Ed25519', false, ['verify']);
    return await subtle.verify('Ed25519', key, signature as Bytes, message as Bytes);
  } catch (error) {
    // Some platforms refuse bytes that are no point of the curve: then no signature can be right.
    if (error instanceof Error && error.name === 'DataError') return false;
    throw new UnsupportedError(
      'This platform cannot verify Ed25519 signatures: use Node 20 or newer, or a browser from 2025 or later.',
    );
  }
}
