/** Lists of key IDs: on the command line, in a file or on standard input. */
import { CommandError } from '#platform/commands';
import { parseKeyId } from '../keys/terms.ts';
import type { CliContext } from './context.ts';
import { readInputText, readText } from './read-bounded.ts';

/** Maximum number of key IDs in one run: several times what a server logs after a latch. */
export const MAX_KEY_IDS = 100_000;

/** Enough for `MAX_KEY_IDS` key IDs, each with quotes, a comma and a line end. */
const MAX_BYTES = 50 * MAX_KEY_IDS;

const WHAT = 'the list of key IDs';

/** Reads the text with the key IDs from exactly one of arguments, file or standard input. */
export async function readKeyIdText(
  { err }: CliContext,
  given: readonly string[],
  file: string | undefined,
): Promise<string> {
  if (given.length > 0 === (file !== undefined) || (given.includes('-') && given.length > 1)) {
    throw new CommandError('give exactly one of: key IDs, - for standard input, --file FILE', 2);
  }
  if (file !== undefined) return readText(file, WHAT, MAX_BYTES);
  if (given[0] !== '-') return given.join(' ');
  if (process.stdin.isTTY) err('Paste the key IDs, then press Enter and Ctrl-D.\n');
  return readInputText(WHAT, MAX_BYTES);
}

/**
 * Returns each key ID once, in the given order, with its bytes. The message does not quote an invalid word, which may
 * be a key.
 */
export function parseKeyIds(text: string): Map<string, Uint8Array> {
  const keyIds = new Map<string, Uint8Array>();
  const words = text.split(/[\s,"'[\]]+/).filter((word) => word !== '');
  for (const [i, word] of words.entries()) {
    const bytes = parseKeyId(word);
    if (!bytes) {
      throw new CommandError(
        `word ${i + 1} of ${words.length} is not a key ID: a key ID is phm_ and a number`,
        2,
      );
    }
    keyIds.set(word, bytes);
  }
  if (keyIds.size === 0) throw new CommandError('the input contains no key IDs', 2);
  if (keyIds.size > MAX_KEY_IDS) {
    throw new CommandError(`give at most ${MAX_KEY_IDS} key IDs at a time`, 2);
  }
  return keyIds;
}
