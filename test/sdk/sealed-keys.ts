/** Sealed keys with their answers and receipts, as a service gives them. */
import { randomBytes } from 'node:crypto';
import { seal, thumbprintOf } from '#sealing';
import { encodeBase64 } from '#tlog';
import type {
  Delivery,
  KeyStatementV2,
  Receipt,
  Recipient,
  SealedKey,
} from '../../sdk/src/index.ts';
import { type Changes, issue } from './receipts.ts';

export const HASH_PROOF: string = `phm_v1.${'0a'.repeat(32)}`;

export interface SealedAnswer {
  readonly key_id: string;
  readonly security_level: number;
  readonly sealed_key: SealedKey;
  readonly receipt: Receipt;
}

/** Returns an answer that is right in every part, and its secrets. `statement` changes the receipt alone. */
export async function sealedAnswer(
  { suite, publicKey }: Recipient,
  { bits = 256, statement: changes = {} }: { bits?: number; statement?: Changes } = {},
): Promise<{ readonly answer: SealedAnswer; readonly key: Buffer; readonly opening: Buffer }> {
  const secrets = { key: randomBytes(bits / 8), opening: randomBytes(32) };
  const { statement } = issue(secrets).receipt;
  const { service, key_id, security_level, time, key_commitment } = statement;
  const sealed = await seal({
    suite,
    publicKey,
    ...secrets,
    hashProof: HASH_PROOF,
    header: { service, key_id, security_level, time, key_commitment },
  });
  const { receipt } = issue({
    ...secrets,
    statement: {
      sealed_to: encodeBase64(sealed.thumbprint),
      sealed_digest: encodeBase64(sealed.digest),
      ...changes,
    },
  });
  const answer = { key_id, security_level, sealed_key: sealed.sealedKey, receipt };
  return { answer, ...secrets };
}

export interface SeveralAnswer extends Omit<SealedAnswer, 'sealed_key' | 'receipt'> {
  readonly sealed_keys: readonly SealedKey[];
  readonly receipt: Receipt & { readonly statement: KeyStatementV2 };
}

/** Returns an answer that is right in every part, with a copy for each recipient. `changes` changes the receipt alone. */
export async function severalAnswer(
  recipients: readonly Recipient[],
  { delivery = null, changes = {} }: { delivery?: Delivery | null; changes?: object } = {},
): Promise<{ readonly answer: SeveralAnswer; readonly key: Buffer; readonly opening: Buffer }> {
  const secrets = { key: randomBytes(32), opening: randomBytes(32) };
  const { statement } = issue(secrets).receipt;
  const { service, key_id, security_level, time, key_commitment } = statement;
  const thumbprints = await Promise.all(
    recipients.map(async ({ publicKey }) => encodeBase64(await thumbprintOf(publicKey))),
  );
  const copies = await Promise.all(
    recipients.map(({ suite, publicKey }) =>
      seal({
        suite,
        publicKey,
        ...secrets,
        hashProof: HASH_PROOF,
        header: { service, key_id, security_level, time, key_commitment },
        copies: { recipients: thumbprints, delivery },
      }),
    ),
  );
  const sealed = copies.map(({ digest }, i) => ({
    to: thumbprints[i] as string,
    digest: encodeBase64(digest),
  }));
  const { receipt } = issue({ ...secrets, statement: { sealed, delivery, ...changes } });
  const sealedKeys = copies.map(({ sealedKey }) => sealedKey);
  const answer = { key_id, security_level, sealed_keys: sealedKeys, receipt };
  return { answer: answer as SeveralAnswer, ...secrets };
}
