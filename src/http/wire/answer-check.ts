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
    opening?.write(base64 as string, 'base64');
    return timingSafeEqual(answerDigest({ key, keyId, hashProof, opening }, order), digest);
  } finally {
    key.fill(0);
    opening?.fill(0);
  }
}

const keyMemory: Buffer = newBytes(48);
const openingMemory: Buffer = newBytes(32);
