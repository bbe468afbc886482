/** The files of `phm recipient new`: the public one that keys are sealed to, and the secret one that opens them. */

import { CommandError } from '#platform/commands';
import { fileProblem } from '#platform/files';
import {
  parseRecipient,
  parseRecipientKey,
  type Recipient,
  type RecipientKey,
  thumbprintOf,
} from '#sealing';
import { FormatError } from '#tlog';
import { readText } from '../read-bounded.ts';

export const PUBLIC_ENDING = '.recipient';
export const SECRET_ENDING = '.recipient-key';

/** Largest file in bytes. A file has 2 kB. */
const MAX_BYTES = 65_536;

/** Reads a public file. Throws `CommandError`. */
export function readRecipient(path: string): Recipient {
  const text = readText(path, 'the recipient', MAX_BYTES);
  if (isSecret(text)) {
    throw new CommandError(
      `${path} holds a private key, which only its owner may have: give the file that ends in ${PUBLIC_ENDING}`,
      1,
    );
  }
  return parse(path, () => parseRecipient(text));
}

/** Reads a secret file. The caller MUST wipe `privateKey`. Throws `CommandError`, which quotes no content. */
export function readRecipientKey(path: string): RecipientKey {
  const problem = fileProblem(path);
  if (problem !== null) throw new CommandError(problem, 1);
  const text = readText(path, 'the recipient key', MAX_BYTES);
  if (text.includes('"phm-recipient/v1"')) {
    throw new CommandError(
      `${path} holds only the public key: give the file that ends in ${SECRET_ENDING}`,
      1,
    );
  }
  return parse(path, () => parseRecipientKey(text));
}

/** Reads the public key of either file. Throws `CommandError`. */
export function readEither(path: string): Recipient {
  const text = readText(path, 'the recipient', MAX_BYTES);
  return parse(path, () => (isSecret(text) ? parseRecipientKey(text) : parseRecipient(text)));
}

const isSecret = (text: string): boolean => text.includes('"phm-recipient-key/v1"');

/** Returns the thumbprint of a public key as headers and receipts write it. */
export async function thumbprintText(publicKey: Uint8Array): Promise<string> {
  return Buffer.from(await thumbprintOf(publicKey)).toString('base64');
}

function parse<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${path} is not a file of phm recipient new: ${error.message}`, 1);
  }
}
