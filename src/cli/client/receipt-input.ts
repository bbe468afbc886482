/** Files with receipts, as the commands that verify them read them. */
import { type EvidenceReport, parseReceiptText } from '../../../sdk/src/index.ts';
import { commandLine } from '../../launcher.ts';
import { CommandError } from '../command-error.ts';
import type { CliContext } from '../context.ts';
import { readBounded, readStreamBounded, reasonOf } from '../read-bounded.ts';

/** Largest file in bytes: a receipt has some kilobytes, an answer with its report 30 kB. */
const MAX_BYTES = 2 ** 22;

export function readInput(path: string, what: string): Buffer {
  try {
    return requireShort(path, readBounded(path, MAX_BYTES));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${what} cannot be read: ${path}: ${reasonOf(error)}`, 2);
  }
}

export async function readStandardInput(): Promise<Buffer> {
  return requireShort('standard input', await readStreamBounded(process.stdin, MAX_BYTES));
}

function requireShort(name: string, bytes: Buffer | null): Buffer {
  if (bytes !== null) return bytes;
  throw new CommandError(`${name} is longer than the 4 MiB that it may have`, 2);
}

/** Parts of a file that has a receipt, perhaps within an answer of the service. */
export interface Given {
  /** The receipt, or text that the verification refuses with a reason. */
  readonly receipt: unknown;
  readonly key?: string;
  readonly opening?: string;
  readonly nistReport?: EvidenceReport;
}

export function unwrap(context: CliContext, text: string): Given {
  const json = parseObject(text);
  if (json === null || !('receipt' in json)) return { receipt: text };
  const { receipt, key, opening, nist_report: nistReport } = json;
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
    ...(isObject(nistReport) && { nistReport: nistReport as unknown as EvidenceReport }),
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
