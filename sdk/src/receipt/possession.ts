/** Checks a key and its opening against the commitment of a statement. */
import { findSubtle } from '../web-crypto.ts';
import type { Bytes } from './hash.ts';
import { parsed } from './read.ts';
import { plainText } from './text.ts';
import {
  decodeBase64,
  FormatError,
  type KeyStatement,
  keyCommitmentMessage,
  OPENING_BYTES,
} from './tlog.ts';
import { UnreadableError } from './unreadable.ts';
import type { Findings } from './verdict.ts';

/** A secret as bytes, or as the service returns it. */
export type Secret = string | Uint8Array;

/** Adds what key and opening show. No sentence quotes either. Throws `UnreadableError` for another form of them. */
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
  const openingBytes = readOpening(opening);
  try {
    const keyBytes = readKey(key);
    const problem = await keyProblem(statement, keyBytes, openingBytes).finally(() =>
      keyBytes.fill(0),
    );
    if (problem !== null) problems.push(problem);
    else {
      shown.push(
        'The given key is the key of this receipt: with its opening it fits the commitment.',
      );
    }
  } finally {
    openingBytes.fill(0);
  }
}

async function keyProblem(
  statement: KeyStatement,
  key: Uint8Array,
  opening: Bytes,
): Promise<string | null> {
  const { security_level: bits } = statement;
  if (key.length * 8 !== bits) {
    return `The key has the wrong form: the receipt is for a key of ${bits} bits, which is ${bits / 4} hexadecimal digits.`;
  }
  if (await opens(statement, key, opening)) return null;
  return 'The given key is not the key of this receipt, or the opening belongs to another key: they do not fit the commitment.';
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

function readKey(key: Secret): Uint8Array {
  if (typeof key !== 'string') return new Uint8Array(key);
  const digits = readable(KEY_FORM, key);
  if (!/^(?:[0-9a-f]{2})+$/i.test(digits)) throw new UnreadableError(`${KEY_FORM}.`);
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
    Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
  );
}

const KEY_FORM = 'The key has the wrong form: a key is hexadecimal digits';

const OPENING_FORM = `The opening has the wrong form: an opening is base64 of exactly ${OPENING_BYTES} bytes`;

/** HMAC pads short keys with zeros: an opening of another length could open a commitment twice. */
function readOpening(opening: Secret): Bytes {
  const bytes =
    typeof opening === 'string'
      ? decodeOrNull(readable(OPENING_FORM, opening))
      : new Uint8Array(opening);
  if (bytes?.length === OPENING_BYTES) return bytes as Bytes;
  throw new UnreadableError(`${OPENING_FORM}.`);
}

/** Returns the content of a file with one line. */
function readable(what: string, text: string): string {
  return parsed(what, () => plainText(text)).trim();
}

function decodeOrNull(base64: string): Uint8Array | null {
  try {
    return decodeBase64(base64);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
