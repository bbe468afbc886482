/** A key to seal, for the tests of this folder. */
import { createHmac } from 'node:crypto';
import type { SealOrder } from '#sealing';
import { encodeBase64, keyCommitmentMessage } from '#tlog';

const KEY_ID = 'phm_2073893518270000000000000000000000000';
const HASH_PROOF = `phm_v1.${'0a'.repeat(32)}`;

/** Returns key, opening and header of a fixed key of this length. */
export function contentOf(
  bits: 128 | 256 | 384 = 256,
): Pick<SealOrder, 'header' | 'key' | 'opening' | 'hashProof'> {
  const key = Uint8Array.from({ length: bits / 8 }, (_, i) => 255 - 5 * i);
  const opening = Uint8Array.from({ length: 32 }, (_, i) => 7 * i);
  return {
    key,
    opening,
    hashProof: HASH_PROOF,
    header: {
      service: 'keys.example.com/log',
      key_id: KEY_ID,
      security_level: bits,
      time: '2026-11-23T01:40:01.558+00:00',
      key_commitment: encodeBase64(commitment(opening, key)),
    },
  };
}

function commitment(opening: Uint8Array, key: Uint8Array): Uint8Array {
  return createHmac('sha256', opening)
    .update(keyCommitmentMessage(key.length * 8, KEY_ID, key))
    .digest();
}
