/** SHA-256 and the key commitment by the Web Crypto API. */
import { keyCommitmentMessage } from '../../tlog/src/index.ts';

export async function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(parts)));
}

/** Joins parts into one array with memory of its own. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

/** Compares public values. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** For the Web Crypto API, which takes no shared memory. Not a copy: one of a secret would have to be wiped too. */
type Bytes = Uint8Array<ArrayBuffer>;

/** Reports whether a commitment is to this key under this opening, in constant time (docs/receipts.md). */
export async function isCommitment(
  commitment: Uint8Array,
  { opening, key, keyId }: { opening: Uint8Array; key: Uint8Array; keyId: string },
): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const message = keyCommitmentMessage(key.length * 8, keyId, key) as Bytes;
  try {
    const secret = await crypto.subtle.importKey('raw', opening as Bytes, hmac, false, ['verify']);
    return await crypto.subtle.verify(hmac, secret, commitment as Bytes, message);
  } finally {
    message.fill(0);
  }
}
