/** Signed notes and verifier keys: https://c2sp.org/signed-note. */
import { decodeBase64, encodeBase64 } from './base64.ts';
import { assertInteger, concat, isLine, utf8 } from './bytes.ts';
import { FormatError, quoted, received } from './format-error.ts';

/** Signature types of c2sp.org/signed-note, "Signature types". */
export const ED25519 = 0x01;
export const ED25519_COSIGNATURE = 0x04;
export const ML_DSA_44_COSIGNATURE = 0x06;

/** Largest note in UTF-16 code units, and most signature lines: verifiers should limit both. */
export const MAX_NOTE_LENGTH = 2 ** 20;
const MAX_SIGNATURES = 64;

export interface NoteSignature {
  /** Name of the key: not empty, without spaces and plus signs. */
  readonly name: string;
  readonly keyId: number;
  /** At least one byte, without the key ID. */
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** The signed text, with its final newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface VerifierKey {
  readonly name: string;
  readonly keyId: number;
  /** One of `ED25519`, `ED25519_COSIGNATURE` and `ML_DSA_44_COSIGNATURE`. */
  readonly type: number;
  /** 32 bytes (Ed25519) or 1,312 bytes (ML-DSA-44). */
  readonly publicKey: Uint8Array;
  /** The verifier key as it was written. */
  readonly text: string;
}

/** Bytes of the public key for each known signature type. */
const PUBLIC_KEY_BYTES: Readonly<Record<number, number>> = {
  [ED25519]: 32,
  [ED25519_COSIGNATURE]: 32,
  // FIPS 204 Table 2.
  [ML_DSA_44_COSIGNATURE]: 1312,
};

const KEY_ID_BYTES = 4;
const SIGNATURE_LINE = /^— (\S+) (\S+)$/u;

/** Parses a signed note. Throws `FormatError`. It verifies no signature. */
export function parseNote(note: string): SignedNote {
  assertText(note);
  // "The text is separated from the signatures by the last empty line in the note."
  const end = note.lastIndexOf('\n\n');
  if (end === -1) throw new FormatError('a signed note needs an empty line before its signatures');
  return { text: note.slice(0, end + 1), signatures: parseSignatureLines(note.slice(end + 2)) };
}

/** Formats a signed note. Throws `TypeError` on a text or name that a note cannot hold. */
export function formatNote({ text, signatures }: SignedNote): string {
  if (!text.endsWith('\n')) throw new TypeError('"text" expected a final newline');
  if (signatures.length === 0) throw new TypeError('"signatures" expected at least one');
  return `${text}\n${signatures.map(formatSignatureLine).join('')}`;
}

/** Parses one or more signature lines, as a note ends with or a witness answers. Throws `FormatError`. */
export function parseSignatureLines(text: string): NoteSignature[] {
  assertText(text);
  if (!text.endsWith('\n')) throw new FormatError('the last signature line needs a final newline');
  const lines = text.slice(0, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) {
    throw new FormatError(
      `expected at most ${MAX_SIGNATURES} signature lines, got ${lines.length}`,
    );
  }
  return lines.map(parseSignatureLine);
}

function parseSignatureLine(line: string, index: number): NoteSignature {
  const where = `signature line ${index + 1}`;
  const [, name = '', base64 = ''] = SIGNATURE_LINE.exec(line) ?? [];
  if (!isKeyName(name)) {
    throw new FormatError(`${where}: expected "— <key name> <base64>", got ${received(line)}`);
  }
  const bytes = decodeBase64At(where, base64);
  if (bytes.length <= KEY_ID_BYTES) {
    throw new FormatError(`${where}: expected a key ID and a signature, got ${bytes.length} bytes`);
  }
  return { name, keyId: readKeyId(bytes), signature: bytes.slice(KEY_ID_BYTES) };
}

/** Formats one signature line, with its newline. */
export function formatSignatureLine({ name, keyId, signature }: NoteSignature): string {
  assertKeyName(name);
  return `— ${name} ${encodeBase64(concat(writeKeyId(keyId), signature))}\n`;
}

/**
 * Parses a verifier key: `<name>+<key ID in hexadecimal>+<base64 of type and public key>`. Throws
 * `FormatError`, also for a type that is none of the three above.
 *
 * The caller MUST compare `keyId` with the hash of `keyIdMessage`.
 */
export function parseVerifierKey(vkey: string): VerifierKey {
  const [, name = '', keyId = '', base64 = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/u.exec(vkey) ?? [];
  if (!isKeyName(name)) {
    throw new FormatError(
      `expected a verifier key "<name>+<8 hexadecimal digits>+<base64>", got ${received(vkey)}`,
    );
  }
  const [type = -1, ...publicKey] = decodeBase64At(`verifier key ${name}`, base64);
  const length = PUBLIC_KEY_BYTES[type];
  if (length === undefined) {
    throw new FormatError(
      `verifier key ${name}: expected signature type 1, 4 or 6, got ${type === -1 ? 'none' : type}`,
    );
  }
  if (publicKey.length !== length) {
    throw new FormatError(
      `verifier key ${name}: expected ${length} bytes for signature type ${type}, got ${publicKey.length}`,
    );
  }
  return {
    name,
    keyId: Number.parseInt(keyId, 16),
    type,
    publicKey: Uint8Array.from(publicKey),
    text: vkey,
  };
}

export function formatVerifierKey(key: Omit<VerifierKey, 'text'>): string {
  assertKeyName(key.name);
  const keyId = key.keyId.toString(16).padStart(2 * KEY_ID_BYTES, '0');
  return `${key.name}+${keyId}+${encodeBase64(concat(Uint8Array.of(key.type), key.publicKey))}`;
}

/** Returns the bytes whose SHA-256 begins with the key ID, big-endian. */
export function keyIdMessage(name: string, type: number, publicKey: Uint8Array): Uint8Array {
  return concat(utf8(`${name}\n`), Uint8Array.of(type), publicKey);
}

/** Returns the key ID in the first four bytes of `bytes`, such as the hash of `keyIdMessage`. */
export function readKeyId(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0);
}

function writeKeyId(keyId: number): Uint8Array {
  assertInteger('keyId', keyId, 0, 2 ** 32 - 1);
  const bytes = new Uint8Array(KEY_ID_BYTES);
  new DataView(bytes.buffer).setUint32(0, keyId);
  return bytes;
}

/** Reports whether a key may have this name: no Unicode space, plus sign or control character. */
export function isKeyName(name: string): boolean {
  return /^[^\p{White_Space}\p{Cc}\p{Surrogate}+]+$/u.test(name);
}

function assertKeyName(name: string): void {
  if (!isKeyName(name)) {
    throw new TypeError(`"name" expected a key name without spaces and "+", got ${quoted(name)}`);
  }
}

/** Throws `FormatError` on control characters other than newline, on lone surrogates, and above the limit. */
function assertText(text: string): void {
  if (text.length > MAX_NOTE_LENGTH) {
    throw new FormatError(`expected a note of at most 1 MiB, got ${text.length} characters`);
  }
  const line = text.split('\n').findIndex((one) => !isLine(one));
  if (line !== -1) {
    throw new FormatError(`line ${line + 1}: expected Unicode text without control characters`);
  }
}

function decodeBase64At(where: string, text: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch (error) {
    throw new FormatError(`${where}: ${(error as Error).message}`);
  }
}
