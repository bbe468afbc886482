/** Checks a key and its opening against the commitment of a statement. */
import { findSubtle } from '../web-crypto.ts';
import type { Bytes } from './hash.ts';
import {
  decodeBase64,
  FormatError,
  type KeyStatement,
  keyCommitmentMessage,
  OPENING_BYTES,
} from './tlog.ts';
import type { Findings } from './verdict.ts';

/** A secret as bytes, or as the service returns it. */
export type Secret = string | Uint8Array;

/** Adds what key and opening show. No sentence quotes either. */
export async function checkPossession(
  { problems, shown, notShown }: Findings,
  statement: KeyStatement,
  key: Secret | undefined,
  opening: Secret | undefined,
): Promise<void> {
  if (key === undefined && opening === undefined) {
    notShown.push('That you hold the key of this receipt: no key with its opening was given.');
    return;
  }
  if (key === undefined || opening === undefined) {
    problems.push(
      `Only the ${key === undefined ? 'opening' : 'key'} was given: the commitment can be checked with the key and its opening together.`,
    );
    return;
  }
  // Own copies, which are wiped below. `slice` of the bytes of Node would share them.
  const keyBytes = readKey(key, statement.security_level);
  const openingBytes = readOpening(opening);
  try {
    if (keyBytes === null) {
      const digits = statement.security_level / 4;
      problems.push(
        `The key has the wrong form: the receipt is for a key of ${statement.security_level} bits, which is ${digits} hexadecimal digits.`,
      );
    } else if (openingBytes === null) {
      problems.push(
        `The opening has the wrong form: an opening is base64 of exactly ${OPENING_BYTES} bytes.`,
      );
    } else if (await opens(statement, keyBytes, openingBytes)) {
      shown.push(
        'The given key is the key of this receipt: with its opening it fits the commitment.',
      );
    } else {
      problems.push(
        'The given key is not the key of this receipt, or the opening belongs to another key: they do not fit the commitment.',
      );
    }
  } finally {
    keyBytes?.fill(0);
    openingBytes?.fill(0);
  }
}

/** Compares in constant time: `verify` of the Web Crypto API does. */
async function opens(statement: KeyStatement, key: Uint8Array, opening: Bytes): Promise<boolean> {
  const { security_level: bits, key_id: keyId, key_commitment: commitment } = statement;
  const subtle = findSubtle();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const message = keyCommitmentMessage(bits, keyId, key) as Bytes;
  try {
    const imported = await subtle.importKey('raw', opening, hmac, false, ['verify']);
    return await subtle.verify(hmac, imported, decodeBase64(commitment) as Bytes, message);
  } finally {
    message.fill(0);
  }
}

function readKey(key: Secret, bits: number): Uint8Array | null {
  if (typeof key !== 'string') return key.length * 8 === bits ? new Uint8Array(key) : null;
  if (key.length * 4 !== bits || !/^(?:[0-9a-f]{2})+$/i.test(key)) return null;
  return Uint8Array.from({ length: key.length / 2 }, (_, i) =>
    Number.parseInt(key.slice(2 * i, 2 * i + 2), 16),
  );
}

/** HMAC pads short keys with zeros: an opening of another length could open a commitment twice. */
function readOpening(opening: Secret): Bytes | null {
  const bytes = typeof opening === 'string' ? decodeOrNull(opening) : new Uint8Array(opening);
  return bytes?.length === OPENING_BYTES ? (bytes as Bytes) : null;
}

function decodeOrNull(base64: string): Uint8Array | null {
  try {
    return decodeBase64(base64);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
