/**
 * The plaintext of a sealed key, in canonical JSON (RFC 8785):
 *
 *   {"hash_proof":"…","key":"<hexadecimal>","opening":"<base64>"}
 *
 * Key and opening are written and read byte by byte: a string could not be wiped.
 */
import { OPENING_BYTES } from '../../tlog/src/index.ts';
import { utf8 } from './hash.ts';

/** What a sealed key contains. The owner of `key` and `opening` MUST wipe them. */
export interface SealedContent {
  /** 16, 32 or 48 bytes. */
  readonly key: Uint8Array;
  /** 32 bytes. */
  readonly opening: Uint8Array;
  readonly hashProof: string;
}

/** Longest key in bytes. */
const MAX_KEY_BYTES = 48;
const MAX_HASH_PROOF_LENGTH = 512;

/** Base64 with padding has 4 characters for each 3 bytes or fewer. */
const OPENING_LENGTH = 4 * Math.ceil(OPENING_BYTES / 3);

const [BEFORE_PROOF, BEFORE_KEY, BEFORE_OPENING, END] = [
  utf8('{"hash_proof":"'),
  utf8('","key":"'),
  utf8('","opening":"'),
  utf8('"}'),
];

const FRAME_BYTES =
  BEFORE_PROOF.length + BEFORE_KEY.length + BEFORE_OPENING.length + END.length + OPENING_LENGTH;

/** Longest plaintext in bytes. */
export const MAX_PLAINTEXT_BYTES: number = FRAME_BYTES + MAX_HASH_PROOF_LENGTH + 2 * MAX_KEY_BYTES;

const HEX = utf8('0123456789abcdef');
const BASE64 = utf8('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 0x3d;
const QUOTE = 0x22;

/** Characters that a JSON string holds as they are. */
const PLAIN_TEXT = /^[ !#-[\]-~]+$/;

/** Returns the plaintext. The caller MUST wipe it. */
export function writePlaintext({ key, opening, hashProof }: SealedContent): Uint8Array {
  if (!PLAIN_TEXT.test(hashProof) || hashProof.length > MAX_HASH_PROOF_LENGTH) {
    throw new TypeError(
      `"hashProof" expected up to ${MAX_HASH_PROOF_LENGTH} ASCII characters without quotes and backslashes`,
    );
  }
  if (opening.length !== OPENING_BYTES) {
    throw new TypeError(`"opening" expected ${OPENING_BYTES} bytes, got ${opening.length}`);
  }
  const plaintext = newBytes(FRAME_BYTES + hashProof.length + 2 * key.length);
  let at = 0;
  const put = (bytes: Uint8Array) => {
    plaintext.set(bytes, at);
    at += bytes.length;
  };
  put(BEFORE_PROOF);
  put(utf8(hashProof));
  put(BEFORE_KEY);
  at = writeHex(plaintext, at, key);
  put(BEFORE_OPENING);
  at = writeBase64(plaintext, at, opening);
  put(END);
  return plaintext;
}

/**
 * Returns the content of a plaintext, in memory of its own; null unless the plaintext has exactly this form with a key of
 * `keyBytes` bytes.
 */
export function readPlaintext(plaintext: Uint8Array, keyBytes: number): SealedContent | null {
  const proofAt = BEFORE_PROOF.length;
  const proofEnd = plaintext.indexOf(QUOTE, proofAt);
  const keyAt = proofEnd + BEFORE_KEY.length;
  const openingAt = keyAt + 2 * keyBytes + BEFORE_OPENING.length;
  const endAt = openingAt + OPENING_LENGTH;
  // Without ignoreBOM the decoder drops a byte order mark, which is no part of the form.
  const hashProof = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    plaintext.subarray(proofAt, Math.max(proofAt, proofEnd)),
  );
  const isFramed =
    hashProof.length <= MAX_HASH_PROOF_LENGTH &&
    PLAIN_TEXT.test(hashProof) &&
    hasAt(plaintext, 0, BEFORE_PROOF) &&
    hasAt(plaintext, proofEnd, BEFORE_KEY) &&
    hasAt(plaintext, openingAt - BEFORE_OPENING.length, BEFORE_OPENING) &&
    hasAt(plaintext, endAt, END) &&
    plaintext.length === endAt + END.length;
  if (!isFramed) return null;
  const key = newBytes(keyBytes);
  const opening = newBytes(OPENING_BYTES);
  if (readHex(plaintext, keyAt, key) && readBase64(plaintext, openingAt, opening)) {
    return { key, opening, hashProof };
  }
  key.fill(0);
  opening.fill(0);
  return null;
}

/**
 * Returns zeros in memory that never moves. V8 keeps up to 64 bytes of `new Uint8Array` in its heap: the garbage collector
 * moves them and leaves a copy behind, which no wipe reaches.
 */
function newBytes(length: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(length));
}

function hasAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  return part.every((byte, i) => bytes[at + i] === byte);
}

/** Writes lower-case digits. Returns the place after them. */
function writeHex(to: Uint8Array, at: number, bytes: Uint8Array): number {
  let place = at;
  for (const byte of bytes) {
    to[place++] = HEX[byte >> 4] as number;
    to[place++] = HEX[byte & 15] as number;
  }
  return place;
}

function readHex(from: Uint8Array, at: number, bytes: Uint8Array): boolean {
  let isHex = true;
  for (let i = 0; i < bytes.length; i++) {
    const high = HEX.indexOf(from[at + 2 * i] as number);
    const low = HEX.indexOf(from[at + 2 * i + 1] as number);
    isHex &&= high >= 0 && low >= 0;
    bytes[i] = (high << 4) | low;
  }
  return isHex;
}

/** Writes base64 with padding (RFC 4648 §4). Returns the place after it. */
function writeBase64(to: Uint8Array, at: number, bytes: Uint8Array): number {
  let place = at;
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    to[place++] = BASE64[a >> 2] as number;
    to[place++] = BASE64[((a & 3) << 4) | (b >> 4)] as number;
    to[place++] = i + 1 < bytes.length ? (BASE64[((b & 15) << 2) | (c >> 6)] as number) : PADDING;
    to[place++] = i + 2 < bytes.length ? (BASE64[c & 63] as number) : PADDING;
  }
  return place;
}

/** Reads base64 of exactly as many bytes as `bytes` has. Refuses any but the canonical form. */
function readBase64(from: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let i = 0, place = at; i < bytes.length; i += 3, place += 4) {
    const a = BASE64.indexOf(from[place] as number);
    const b = BASE64.indexOf(from[place + 1] as number);
    const c = BASE64.indexOf(from[place + 2] as number);
    const d = BASE64.indexOf(from[place + 3] as number);
    bytes[i] = (a << 2) | (b >> 4);
    if (i + 1 < bytes.length) bytes[i + 1] = (b << 4) | (c >> 2);
    if (i + 2 < bytes.length) bytes[i + 2] = (c << 6) | d;
  }
  const again = newBytes(OPENING_LENGTH);
  writeBase64(again, 0, bytes);
  const isCanonical = hasAt(from, at, again);
  again.fill(0);
  return isCanonical;
}
