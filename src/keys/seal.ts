/** Seals a generated key to its recipient, in the thread that generated it: the key itself goes no further. */
import { timingSafeEqual } from 'node:crypto';
import {
  type Recipient,
  readPlaintext,
  type SealedContent,
  type SealedKey,
  Sealer,
} from '#sealing';
import { encodeBase64 } from '#tlog';
import { formatTimestamp } from '../clock.ts';
import { NODE_PRIMITIVES } from './hpke-node.ts';
import { keyCommitment, wipeKey } from './key-receipt.ts';
import type { Answered, GeneratedKey, SecurityLevel } from './order.ts';

/** A sealed key, and what is recorded and answered about it. It holds no secret. */
interface SealedMaterial extends Omit<GeneratedKey, Answered> {
  readonly sealedKey: SealedKey;
  /** SHA-256 of the recipient's raw public key, 32 bytes: `sealed_to` of the statement. */
  readonly sealedTo: Uint8Array;
  /** SHA-256(enc ‖ ciphertext), 32 bytes: `sealed_digest` of the statement. */
  readonly sealedDigest: Uint8Array;
}

/** What the header states beside the key's own values. */
interface SealingFacts {
  /** Origin of the log, or null without a log. */
  readonly service: string | null;
  /** The row's time: when the request was accepted, in ms. */
  readonly createdMs: number;
  readonly securityLevel: SecurityLevel;
}

/**
 * Returns the sealer of a recipient. Rejects with `SealError` if the public key is refused.
 */
export function sealerTo(recipient: Recipient): Promise<Sealer> {
  return Sealer.to(recipient, NODE_PRIMITIVES);
}

/**
 * Seals a key, and always wipes it and its opening. Rejects with `SealError` if the KEM refuses the recipient's public key,
 * with `AlteredKeyError` if the plaintext is not what was committed to, and with `TypeError` for a key without opening and
 * commitment.
 */
export async function sealKey(
  generated: GeneratedKey,
  sealer: Sealer,
  { service, createdMs, securityLevel }: SealingFacts,
): Promise<SealedMaterial> {
  const { key, opening, hashProof, answerDigest: _, ...rest } = generated;
  try {
    if (opening === null || rest.receipt === null) {
      throw new TypeError(
        '"generated" expected a key with opening and commitment, got one without',
      );
    }
    const header = {
      service,
      key_id: rest.keyIdText,
      security_level: securityLevel,
      time: formatTimestamp(createdMs),
      key_commitment: encodeBase64(rest.receipt.keyCommitment),
    };
    const { keyCommitment: committed } = rest.receipt;
    const inspect = (plaintext: Uint8Array) => {
      const content = readPlaintext(plaintext, securityLevel / 8);
      const fits = content !== null && fitsCommitment(content, rest.keyIdText, committed);
      if (!fits || content.hashProof !== hashProof) throw new AlteredKeyError();
    };
    const sealed = await sealer.seal({ header, key, opening, hashProof, inspect });
    return {
      ...rest,
      sealedKey: sealed.sealedKey,
      sealedTo: sealed.thumbprint,
      sealedDigest: sealed.digest,
    };
  } finally {
    wipeKey({ key, opening });
  }
}

/** What would be sealed is not what was committed to. The process MUST latch. */
export class AlteredKeyError extends Error {
  override readonly name = 'AlteredKeyError';
}

/** Reports whether key and opening are those of a commitment, in constant time, and wipes them. */
function fitsCommitment(content: SealedContent, keyIdText: string, committed: Uint8Array): boolean {
  try {
    return timingSafeEqual(keyCommitment(content.opening, keyIdText, content.key), committed);
  } finally {
    wipeKey(content);
  }
}
