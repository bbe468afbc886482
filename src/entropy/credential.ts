/** Credentials of remote sources: from the environment, or from a file that is read at startup. */
import { readFailure, readTextFile } from '#platform/files';
import type { Credential } from '../config/index.ts';
import { SetupError } from '../errors.ts';

const MAX_LENGTH = 4_096;

/**
 * Returns the text of a credential; `variable` names it in messages. Throws `SetupError` if its
 * file cannot be read, or if it is not one line of printable ASCII. The message names the file and
 * never quotes the text.
 */
export function readCredential(variable: string, credential: Credential): string {
  const text = 'text' in credential ? credential.text : readText(variable, credential.file);
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= MAX_LENGTH) return text;
  const place =
    'file' in credential ? `the file of ${variable}_FILE, ${credential.file},` : variable;
  throw new SetupError(
    `${place} is not a credential: it must be one line of printable ASCII, ${MAX_LENGTH} characters at most`,
  );
}

function readText(variable: string, file: string): string {
  try {
    return readTextFile(file).trim();
  } catch (cause) {
    const reason = readFailure(cause);
    throw new SetupError(`the credential of ${variable}_FILE, ${file}, cannot be read: ${reason}`, {
      cause,
    });
  }
}
