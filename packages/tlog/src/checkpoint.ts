/** Checkpoints: https://c2sp.org/tlog-checkpoint. */
import { decodeBase64Of, encodeBase64 } from './base64.ts';
import { assertBytes, assertInteger, isLine, parseDecimal } from './bytes.ts';
import { FormatError, quoted } from './format-error.ts';

export const HASH_BYTES = 32;

export interface Checkpoint {
  /** Name of the log. Not empty. */
  readonly origin: string;
  /** Number of entries. */
  readonly size: number;
  /** Root hash of the tree, 32 bytes. */
  readonly root: Uint8Array;
  /** Further lines, none of them empty. Their use is not recommended. */
  readonly extensions: readonly string[];
}

/** Parses the text of a note, with its final newline. Throws `FormatError`. */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new FormatError('a checkpoint needs a final newline');
  const [origin, size, root, ...extensions] = lines;
  if (origin === undefined || size === undefined || root === undefined) {
    throw new FormatError(`expected origin, size and root hash, got ${lines.length} lines`);
  }
  const empty = lines.indexOf('');
  if (empty !== -1) throw new FormatError(`line ${empty + 1} of a checkpoint must not be empty`);
  return {
    origin,
    size: parseDecimal('line 2, tree size', size),
    root: decodeBase64Of(HASH_BYTES, 'line 3, root hash', root),
    extensions,
  };
}

/** Returns the text to sign. Throws `TypeError` or `RangeError` on values that a checkpoint cannot hold. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  assertInteger('size', size, 0);
  assertBytes('root', root, HASH_BYTES);
  for (const line of [origin, ...extensions]) {
    if (line === '' || !isLine(line)) {
      throw new TypeError(`"origin" and "extensions" expected lines of text, got ${quoted(line)}`);
    }
  }
  return [origin, size, encodeBase64(root), ...extensions, ''].join('\n');
}
