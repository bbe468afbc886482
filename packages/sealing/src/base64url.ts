/** Base64url of RFC 4648 §5 without padding, and canonical: each byte string has exactly one encoding. */
import { type Check, decodeBase64, encodeBase64, FormatError } from '../../tlog/src/index.ts';

/** Returns base64url without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * Throws `FormatError` unless `text` is the encoding that `encodeBase64Url` returns for some bytes. The message does not
 * quote the text, which may be a private key.
 */
export function decodeBase64Url(text: string): Uint8Array {
  if (/^[\w-]*$/.test(text)) {
    const padding = '='.repeat(-text.length & 3);
    try {
      return decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
    }
  }
  throw new FormatError('expected base64url without padding (RFC 4648 §5), got other text');
}

/** Decodes base64url of `min` to `max` bytes. The `FormatError` names the member and does not quote the text. */
export function bytesOf(name: string, value: unknown, min: number, max: number): Uint8Array {
  const bytes = typeof value === 'string' ? decodeOrNull(value, max) : null;
  if (bytes && bytes.length >= min) return bytes;
  const length = min === max ? `${min}` : `${min} to ${max}`;
  const got = typeof value === 'string' ? `${value.length} characters` : typeof value;
  throw new FormatError(
    `${name}: expected base64url without padding (RFC 4648 §5) of ${length} bytes, got ${got}`,
  );
}

/** Accepts base64url of `min` to `max` bytes. */
export function base64Url(min: number, max: number): Check<string> {
  return (name, value) => {
    bytesOf(name, value, min, max);
    return value as string;
  };
}

/** Returns null for other text, and for more than `maxBytes`: the length of the text tells, so a long one costs nothing. */
function decodeOrNull(text: string, maxBytes: number): Uint8Array | null {
  if (text.length > Math.ceil((maxBytes * 4) / 3)) return null;
  try {
    return decodeBase64Url(text);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
