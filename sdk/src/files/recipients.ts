/** The recipients that a caller names, and the sealed key of a file for one of them. */
import { assertObject } from '../options.ts';
import { plainText } from '../receipt/text.ts';
import { FormatError } from '../receipt/tlog.ts';
import { type Recipient, type RecipientKey, type SealedKey, seal } from '../sealing/formats.ts';
import { withKems } from '../sealing/kems.ts';
import type { OpenedSealedKey } from '../sealing/open.ts';
import { parseRecipient, parseRecipientKey } from '../sealing/recipient.ts';

/** Reads `to`: a recipient, with its private key or without, or the text of one of its files. Throws `TypeError`. */
export function readTo(to: Recipient | RecipientKey | string): Recipient | RecipientKey {
  if (typeof to === 'string') {
    // Both files name their type.
    const isSecret = plainText(to).includes('"phm-recipient-key/');
    return readable('to', () => (isSecret ? parseRecipientKey(to) : parseRecipient(to)));
  }
  assertObject('to', to, 'the result of newRecipient or parseRecipient');
  if (to.publicKey instanceof Uint8Array) return to;
  throw new TypeError('to must have its publicKey, as the result of parseRecipient has');
}

/** Reads the private key of a recipient, or the text of its file. Throws `TypeError`, which does not quote it. */
export function readRecipientKey(given: RecipientKey | string): RecipientKey {
  if (typeof given === 'string') return readable('recipientKey', () => parseRecipientKey(given));
  assertObject('recipientKey', given, 'the result of newRecipient or parseRecipientKey');
  if (hasPrivateKey(given) && given.publicKey instanceof Uint8Array) return given;
  throw new TypeError('recipientKey must have its private key, as the result of newRecipient has');
}

export function hasPrivateKey(recipient: Recipient): recipient is RecipientKey {
  return (recipient as Partial<RecipientKey>).privateKey instanceof Uint8Array;
}

/** Seals an opened key to another recipient. What its header states of the key stays. */
export async function sealAgain(
  { key, opening, hashProof, header }: OpenedSealedKey,
  { suite, publicKey }: Recipient,
): Promise<SealedKey> {
  const { service, key_id, security_level, time, key_commitment } = header;
  const facts = { service, key_id, security_level, time, key_commitment };
  const order = { suite, publicKey, key, opening, hashProof, header: facts };
  return (await withKems((kems) => seal(order, kems))).sealedKey;
}

function readable<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new TypeError(`${name} is text, but not of the file of a recipient: ${cause.message}`, {
      cause,
    });
  }
}
