/** Sealed keys as the service answers them, without a service. */
import { createHmac, randomBytes } from 'node:crypto';
import { parseRecipient, type SealedKey, seal } from '#sealing';
import { encodeBase64, keyCommitmentMessage } from '#tlog';

export interface SealedAnswer {
  readonly key_id: string;
  readonly sealed_key: SealedKey;
}

/** Seals a new key of 256 bits to the recipient in the text of a file of `phm recipient new`. */
export async function sealAnswer(
  recipient: string,
  keyId: string,
): Promise<{ answer: SealedAnswer; key: Buffer }> {
  const [key, opening] = [randomBytes(32), randomBytes(32)];
  const message = keyCommitmentMessage(256, keyId, key);
  const { sealedKey } = await seal({
    ...parseRecipient(recipient),
    header: {
      service: null,
      key_id: keyId,
      security_level: 256,
      time: '2026-11-23T05:00:00.000+00:00',
      key_commitment: encodeBase64(createHmac('sha256', opening).update(message).digest()),
    },
    key,
    opening,
    hashProof: 'proof_1',
  });
  return { answer: { key_id: keyId, sealed_key: sealedKey }, key };
}
