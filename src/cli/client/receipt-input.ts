/** Files with receipts, as the commands that verify them read them. */
import { CommandError } from '#platform/commands';
import { parseReceiptText } from '../../../sdk/src/index.ts';
import { commandLine } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import { readBounded, readInputText, readText, reasonOf } from '../read-bounded.ts';

/** Largest file in bytes: a receipt has some kilobytes, an answer with its report 30 kB. */
const MAX_BYTES = 2 ** 22;

/** Reads the text of a file; `-` is standard input. Throws `CommandError`. */
export async function readReceiptText(path: string): Promise<string> {
  return path === '-' ? readInputText('the receipt', MAX_BYTES) : readInput(path, 'the receipt');
}

/** Reads the text of a file. `what` says what it should be. Throws `CommandError`. */
export function readInput(path: string, what: string): string {
  return readText(path, what, MAX_BYTES);
}

/** Reads a file that may hold a key as bytes. Throws `CommandError`. */
export function readKeyBytes(path: string): Buffer {
  let bytes: Buffer | null;
  try {
    bytes = readBounded(path, MAX_BYTES);
  } catch (error) {
    throw new CommandError(`the key cannot be read: ${path}: ${reasonOf(error)}`, 2);
  }
  if (bytes !== null) return bytes;
  throw new CommandError(`${path} is longer than the 4 MiB that it may have`, 2);
}

/** Parts of a file that has a receipt, perhaps within an answer of the service. */
export interface Given {
  /** The receipt, or text that the verification refuses with a reason. */
  readonly receipt: unknown;
  readonly key?: string;
  readonly opening?: string;
}

export function unwrap(context: CliContext, text: string): Given {
  const json = parseObject(text);
  if (json === null || !('receipt' in json)) return { receipt: text };
  const { receipt, key, opening } = json;
  if (receipt === null) {
    const id = typeof json.key_id === 'string' ? json.key_id : 'KEY_ID';
    throw new CommandError(
      'the file has no receipt: the log did not have the entry of the key in time. To get it: ' +
        commandLine(context, `receipt get ${id}`),
      1,
    );
  }
  return {
    receipt,
    ...(typeof key === 'string' && { key }),
    ...(typeof opening === 'string' && { opening }),
  };
}

export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const json = parseReceiptText(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
