/**
 * Verifies ML-DSA-44 signatures (FIPS 204) by the Web Crypto API where the platform has the algorithm: Node from 24.7 on,
 * Chromium from 2026 on. Elsewhere `@noble/post-quantum` verifies, which is loaded only then.
 */
import { findSubtle, type Subtle } from '../web-crypto.ts';
import type { Bytes } from './hash.ts';

const ALGORITHM = 'ML-DSA-44';

/** The public key has 1,312 bytes, the signature 2,420. The context of FIPS 204 is empty. */
export async function verifyMlDsa44(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return (
    (await verifyNatively(publicKey, message, signature)) ??
    (await verifyWithNoble(publicKey, message, signature))
  );
}

/** Returns null if the platform lacks the algorithm. Every public key of the right length is valid, so nothing else throws. */
async function verifyNatively(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | null> {
  const subtle = findSubtle();
  try {
    // The types of the Web Crypto API do not have this format yet.
    const format = 'raw-public' as Parameters<Subtle['importKey']>[0] & 'raw';
    const key = await subtle.importKey(format, publicKey as Bytes, ALGORITHM, false, ['verify']);
    return await subtle.verify(ALGORITHM, key, signature as Bytes, message as Bytes);
  } catch {
    return null;
  }
}

async function verifyWithNoble(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const { ml_dsa44: mlDsa44 } = await import('@noble/post-quantum/ml-dsa.js');
  return mlDsa44.verify(signature, message, publicKey);
}
