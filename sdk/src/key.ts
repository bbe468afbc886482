/** Converts a generated key for other code: to bytes, or to a key of the Web Crypto API. */
import { findSubtle } from './web-crypto.ts';

/** What has a key: an answer of `generate`, a key of a batch, or an opened sealed key. */
export interface KeyHolder {
  /** 128, 256 or 384 bits, in hexadecimal or as bytes. */
  readonly key: string | Uint8Array;
}

/** An answer of `generate`, or a key of a batch. */
export interface HexKey extends KeyHolder {
  /** 128, 256 or 384 bits in hexadecimal. */
  readonly key: string;
}

/** The platform's `CryptoKey`, derived from names that exist in the types of Node and of browsers. */
export type WebCryptoKey = Awaited<
  ReturnType<(typeof globalThis)['crypto']['subtle']['importKey']>
>;

export type KeyAlgorithm = 'AES-GCM' | 'HMAC' | 'HKDF';

export type KeyUsage =
  | 'encrypt'
  | 'decrypt'
  | 'wrapKey'
  | 'unwrapKey'
  | 'sign'
  | 'verify'
  | 'deriveKey'
  | 'deriveBits';

const USAGES: Readonly<Record<KeyAlgorithm, readonly KeyUsage[]>> = {
  'AES-GCM': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
  HMAC: ['sign', 'verify'],
  HKDF: ['deriveKey', 'deriveBits'],
};

/** The hash for each key length in bits: of the same strength or the next higher one (FIPS 180-4). */
const HASHES: Readonly<Record<number, string>> = { 128: 'SHA-256', 256: 'SHA-256', 384: 'SHA-384' };

/**
 * Returns a copy of the 16, 32 or 48 bytes of the key. Throws `TypeError` if `answer.key` is neither 32, 64 or 96
 * hexadecimal digits nor so many bytes; the message never quotes it.
 */
export function keyBytes(answer: KeyHolder): Uint8Array<ArrayBuffer> {
  if (typeof answer !== 'object' || answer === null) {
    const got = answer === null ? 'null' : typeof answer;
    throw new TypeError(`"answer" expected a response of generate with its "key", got ${got}`);
  }
  const key: unknown = answer.key;
  return key instanceof Uint8Array ? ofBytes(key) : ofDigits(key);
}

function ofBytes(key: Uint8Array): Uint8Array<ArrayBuffer> {
  if (HASHES[key.length * 8] !== undefined) return new Uint8Array(key);
  throw new TypeError(`"answer.key" expected 16, 32 or 48 bytes, got length=${key.length}`);
}

function ofDigits(key: unknown): Uint8Array<ArrayBuffer> {
  if (typeof key !== 'string') {
    throw new TypeError(
      `"answer.key" expected a string of hexadecimal digits, or bytes, got ${typeof key}`,
    );
  }
  if (HASHES[key.length * 4] === undefined) {
    throw new TypeError(
      `"answer.key" expected 32, 64 or 96 hexadecimal digits, got length=${key.length}`,
    );
  }
  if (!/^[0-9a-f]+$/i.test(key)) {
    throw new TypeError('"answer.key" expected only hexadecimal digits, got other characters');
  }
  const bytes = new Uint8Array(key.length / 2);
  for (let i = 0; i < bytes.length; i += 1) {
    bytes[i] = Number.parseInt(key.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}

/**
 * Returns the key as a `CryptoKey` that cannot be exported. `algorithm` defaults to `AES-GCM` for 128 and 256 bits, and to
 * `HMAC` for 384 bits, which AES does not support. HMAC uses SHA-256, and SHA-384 for 384 bits.
 * Rejects with `TypeError` if the key, the algorithm and the usages do not fit together.
 */
export async function toCryptoKey(
  answer: KeyHolder,
  usages: readonly KeyUsage[],
  algorithm?: KeyAlgorithm,
): Promise<WebCryptoKey> {
  const bytes = keyBytes(answer);
  try {
    const bits = bytes.length * 8;
    const name = algorithm ?? (bits === 384 ? 'HMAC' : 'AES-GCM');
    assertFits(name, bits, usages);
    const subtle = findSubtle();
    const hash = HASHES[bits] ?? '';
    const how = name === 'HMAC' ? { name, hash } : { name };
    return await subtle.importKey('raw', bytes, how, false, [...usages]);
  } finally {
    bytes.fill(0);
  }
}

function assertFits(name: KeyAlgorithm, bits: number, usages: readonly KeyUsage[]): void {
  const fitting = Object.hasOwn(USAGES, name) ? USAGES[name] : undefined;
  if (fitting === undefined) {
    const names = Object.keys(USAGES).join(', ');
    throw new TypeError(`"algorithm" expected one of ${names}, got ${typeof name}`);
  }
  if (name === 'AES-GCM' && bits === 384) {
    throw new TypeError(
      'AES-GCM needs a key of 128 or 256 bits, and this key has 384: generate one with security_level 256, or name HMAC or HKDF',
    );
  }
  if (!Array.isArray(usages) || usages.length === 0) {
    throw new TypeError(`"usages" expected some of ${fitting.join(', ')}, got none`);
  }
  const wrong = usages.find((usage) => !fitting.includes(usage));
  if (wrong === undefined) return;
  const algorithms = Object.entries(USAGES)
    .filter(([, all]) => all.includes(wrong))
    .map(([other]) => other);
  const hint = algorithms.length === 0 ? '' : `; "${wrong}" needs ${algorithms.join(', ')}`;
  throw new TypeError(
    `"usages" of a ${bits}-bit ${name} key expected some of ${fitting.join(', ')}${hint}`,
  );
}
