/** The forms in which systems read a key. They are written as bytes, because texts cannot be wiped. */

export const FORMATS = ['wireguard', 'strongswan-ppk', 'hex'] as const;

export type Format = (typeof FORMATS)[number];

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const HEX = '0123456789abcdef';

/** Returns a key as a system reads it. The caller wipes the bytes. `id` is the delivery's. */
export function formatKey(format: Format, key: Uint8Array, id: string): Uint8Array {
  if (format === 'hex') return joined([hexOf(key), '\n']);
  if (format === 'wireguard') return joined([base64Of(key), '\n']);
  // RFC 8784 §5.1: both ends name the key by the same PPK_ID.
  const secret = hexOf(key);
  const head = `secrets {\n  ppk-${id} {\n    id = ${ppkIdOf(id)}\n    secret = 0x`;
  return joined([head, secret, '\n  }\n}\n']);
}

/** Returns the PPK_ID of a key. */
export function ppkIdOf(id: string): string {
  return `phm-${id}`;
}

/** Wipes the parts that are bytes. */
function joined(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const pieces = parts.map((one) => (typeof one === 'string' ? Buffer.from(one) : one));
  const whole = Buffer.concat(pieces);
  for (const one of pieces) one.fill(0);
  return whole;
}

function hexOf(bytes: Uint8Array): Uint8Array {
  const digits = [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);
  return written(digits, HEX);
}

function base64Of(bytes: Uint8Array): Uint8Array {
  const sextets: number[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    sextets.push(a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63);
  }
  const text = written(sextets, BASE64);
  const padding = (3 - (bytes.length % 3)) % 3;
  text.fill('='.charCodeAt(0), text.length - padding);
  return text;
}

/** Writes digits, and forgets them. */
function written(digits: number[], alphabet: string): Uint8Array {
  const text = Uint8Array.from(digits, (digit) => alphabet.charCodeAt(digit));
  digits.fill(0);
  return text;
}
