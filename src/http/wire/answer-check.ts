/**
 * The last look at an answer with keys: the text that goes to `response.end` is parsed, and each key in it, with its ID,
 * proof and opening, must fit the digest that the thread computed that generated it (`keys/answer-digest.ts`).
 */
import { timingSafeEqual } from 'node:crypto';
import { newBytes } from '../../bytes.ts';
import { answerDigest, type KeyOrder } from '../../keys/index.ts';

/** What an answer must fit. */
export interface AnsweredOrder {
  readonly order: Pick<KeyOrder, 'acceptedMs' | 'securityLevel'>;
  readonly isBatch: boolean;
  /** `answerDigest` of each key, in order. */
  readonly digests: readonly Uint8Array[];
}

/** The members of a key that are checked. A text that has others in their place does not fit. */
interface KeyMembers {
  readonly key_id: unknown;
  readonly key: unknown;
  readonly hash_proof: unknown;
  readonly opening?: unknown;
}

/** Reports whether a text is the answer to this order with these keys. */
export function fitsKeys(text: unknown, answered: AnsweredOrder): boolean {
  try {
    if (typeof text !== 'string') return false;
    const answer = JSON.parse(text);
    const keys: readonly KeyMembers[] = answered.isBatch ? answer.keys : [answer];
    const { digests } = answered;
    return (
      keys.length === digests.length && keys.every((one, i) => fits(one, answered, digests[i]))
    );
  } catch {
    // Not JSON, or without keys.
    return false;
  }
}

function fits(members: KeyMembers, { order }: AnsweredOrder, digest: Uint8Array): boolean {
  const { key_id: keyId, key: digits, hash_proof: hashProof, opening: base64 } = members;
  if (typeof keyId !== 'string' || typeof digits !== 'string') return false;
  if (typeof hashProof !== 'string' || digits.length !== order.securityLevel / 4) return false;
  const key = keyMemory.subarray(0, order.securityLevel / 8);
  const opening = typeof base64 === 'string' ? openingMemory : null;
  try {
    // A digit that is not hexadecimal ends the bytes written.
    if (key.write(digits, 'hex') !== key.length) return false;
    // `write` ends with the memory, and skips what is not base64.
    if (opening && !isOpening(base64 as string, opening)) return false;
    return timingSafeEqual(answerDigest({ key, keyId, hashProof, opening }, order), digest);
  } finally {
    key.fill(0);
    opening?.fill(0);
  }
}

/** Reads an opening. Returns false unless the text is base64 of 32 bytes and nothing else. */
function isOpening(base64: string, opening: Buffer): boolean {
  return OPENING.test(base64) && opening.write(base64, 'base64') === opening.length;
}

const OPENING = /^[A-Za-z0-9+/]{43}=$/;

const keyMemory: Buffer = newBytes(48);
const openingMemory: Buffer = newBytes(32);
