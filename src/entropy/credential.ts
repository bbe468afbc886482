/** Credentials of remote sources: from the environment, or from a file read at start. */
import { readFileSync } from 'node:fs';
import type { Credential } from '../config/index.ts';
import { SetupError } from '../errors.ts';

const MAX_LENGTH = 4_096;

/**
 * The text of a credential. Throws `SetupError` when its file cannot be read or when it is not one
 * line of printable ASCII; the message names the file and never quotes the text.
 */
export function readCredential(credential: Credential): string {
  const text = 'text' in credential ? credential.text : readText(credential.file);
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= MAX_LENGTH) return text;
  const place = 'file' in credential ? credential.file : 'the environment';
  throw new SetupError(
    `the credential in ${place} is not one line of printable ASCII of at most ${MAX_LENGTH} characters`,
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim();
  } catch (cause) {
    throw new SetupError(`the credential cannot be read: ${(cause as Error).message}`, { cause });
  }
}
