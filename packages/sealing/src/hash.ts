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

/** Reports whether a commitment is to this key under this opening, in constant time (docs/receipts.md). */
export async function isCommitment(
  commitment: Uint8Array,
  { opening, key, keyId }: { opening: Uint8Array; key: Uint8Array; keyId: string },
): Promise<boolean> {
  const message = keyCommitmentMessage(key.length * 8, keyId, key);
  try {
    const secret = await crypto.subtle.importKey(
      'raw',
      joined([opening]),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    return await crypto.subtle.verify('HMAC', secret, joined([commitment]), joined([message]));
  } finally {
    message.fill(0);
  }
}
