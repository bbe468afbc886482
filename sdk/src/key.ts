/** A generated key as what other code takes: bytes, or a key of the Web Crypto API. */

/** What is read of an answer of `generate`. */
export interface HexKey {
  /** 128, 256 or 384 bits in hexadecimal. */
  readonly key: string;
}

/** The platform's `CryptoKey`, by a name that Node's types and the browser's types both have. */
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

/** Bits of a key, and the hash of the same strength or the next one up (FIPS 180-4). */
const HASHES: Readonly<Record<number, string>> = { 128: 'SHA-256', 256: 'SHA-256', 384: 'SHA-384' };

/**
 * The key's 16, 32 or 48 bytes. Throws `TypeError` when `answer.key` is not 32, 64 or 96 hexadecimal digits;
 * the message never quotes it.
 */
export function keyBytes(answer: HexKey): Uint8Array<ArrayBuffer> {
  if (typeof answer !== 'object' || answer === null) {
    const got = answer === null ? 'null' : typeof answer;
    throw new TypeError(`"answer" expected an answer of generate, with its "key", got ${got}`);
  }
  const key: unknown = answer.key;
  if (typeof key !== 'string') {
    throw new TypeError(`"answer.key" expected a string of hexadecimal digits, got ${typeof key}`);
  }
  if (HASHES[key.length * 4] === undefined) {
    throw new TypeError(
      `"answer.key" expected 32, 64 or 96 hexadecimal digits, got length=${key.length}`,
    );
  }
  if (!/^[0-9a-f]+$/i.test(key)) {
    throw new TypeError('"answer.key" expected hexadecimal digits alone, got other characters');
  }
  const bytes = new Uint8Array(key.length / 2);
  for (let i = 0; i < bytes.length; i += 1) {
    bytes[i] = Number.parseInt(key.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}

/**
 * The key as a `CryptoKey` that cannot be exported. `algorithm` is `AES-GCM` for 128 and 256 bits and `HMAC`
 * for 384, which AES does not take, unless you name one. HMAC uses SHA-256, with a key of 384 bits SHA-384.
 * Rejects with `TypeError` for a key, an algorithm or usages that do not fit together.
 */
export async function toCryptoKey(
  answer: HexKey,
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
      'AES-GCM takes keys of 128 or 256 bits, and this key has 384: generate one with security_level 256, or name HMAC or HKDF',
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

function findSubtle(): (typeof globalThis)['crypto']['subtle'] {
  const subtle = globalThis.crypto?.subtle;
  if (subtle !== undefined) return subtle;
  throw new TypeError('there is no Web Crypto API here: a page needs https:, or http://localhost');
}
