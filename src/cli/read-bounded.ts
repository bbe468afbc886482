/** Reads input of users in full, up to a limit. */

import { CommandError } from '#platform/commands';
import { readFailure, readTextFile, readTextStream } from '#platform/files';
import { visible } from '#platform/terminal';

export { readBounded, readFailure as reasonOf, readStreamBounded } from '#platform/files';

/**
 * Returns the text of a file that the command line names. `what` says in the message what it should be. Throws
 * `CommandError` with exit code 2: what cannot be read is wrong usage, and no verdict on it.
 */
export function readText(path: string, what: string, maxBytes?: number): string {
  try {
    return readTextFile(path, maxBytes);
  } catch (error) {
    throw new CommandError(`${what} cannot be read: ${visible(path)}: ${readFailure(error)}`, 2);
  }
}

/** Resolves with the text of standard input, as `readText` does with that of a file. */
export async function readInputText(what: string, maxBytes?: number): Promise<string> {
  try {
    return await readTextStream(process.stdin, maxBytes);
  } catch (error) {
    throw new CommandError(`${what} cannot be read: standard input: ${readFailure(error)}`, 2);
  }
}
