/**
 * Base64 of RFC 4648 §4: padded and canonical. Each byte string has exactly one encoding.
 *
 * `atob` alone accepts white space, missing padding and unused bits that are not zero.
 */
import { FormatError, received } from './format-error.ts';

/** The methods of ECMAScript 2026, which older platforms lack. They take a twentieth of the time of `btoa` and `atob`. */
interface NativeEncoder {
  toBase64?(): string;
}
interface NativeDecoder {
  fromBase64?(text: string): Uint8Array;
}

/** Bytes per call of `String.fromCharCode`, which takes a limited number of arguments. */
const CHUNK_BYTES = 8192;

export function encodeBase64(bytes: Uint8Array & NativeEncoder): string {
  return bytes.toBase64?.() ?? encodeByBtoa(bytes);
}

/** Returns the same text without the method of ECMAScript 2026. */
export function encodeByBtoa(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  }
  return btoa(binary);
}

/** Throws `FormatError` unless `text` is the encoding that `encodeBase64` returns for some bytes. */
export function decodeBase64(text: string): Uint8Array {
  const bytes = decodeLoosely(text);
  if (bytes === null || encodeBase64(bytes) !== text) {
    throw new FormatError(`expected padded base64 (RFC 4648 §4), got ${received(text)}`);
  }
  return bytes;
}

function decodeLoosely(text: string): Uint8Array | null {
  try {
    return (Uint8Array as NativeDecoder).fromBase64?.(text) ?? decodeByAtob(text);
  } catch {
    return null;
  }
}

/** Returns the same bytes without it. Throws unless the text is base64, of any form. */
export function decodeByAtob(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Decodes base64 of exactly `length` bytes. `name` says in the `FormatError` what was expected. */
export function decodeBase64Of(length: number, name: string, text: string): Uint8Array {
  const bytes = decodeLoosely(text);
  if (bytes?.length !== length || encodeBase64(bytes) !== text) {
    throw new FormatError(
      `${name}: expected base64 (RFC 4648 §4) of ${length} bytes, got ${received(text)}`,
    );
  }
  return bytes;
}
