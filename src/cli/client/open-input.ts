/** The files that `phm open` reads: answers of the service with sealed keys, and receipts. */
import { CommandError } from '#platform/commands';
import { type EvidenceReport, parseReceiptText } from '../../../sdk/src/index.ts';
import { readInputText, readText } from '../read-bounded.ts';

type Json = Readonly<Record<string, unknown>>;

/** A sealed key and where it came from. */
export interface SealedInput {
  readonly path: string;
  /** Name of the file for messages. */
  readonly file: string;
  /** The answer with `sealed_key` or `sealed_keys`, or a sealed key alone. */
  readonly sealed: Json;
  /** The receipt in the answer: undefined if it was not asked for, null if it came too late. */
  readonly receipt: unknown;
  readonly nistReport: EvidenceReport | undefined;
}

/** Largest file in MiB. The answer to a batch of 1,000 keys has 4 MB. */
const MAX_MIB = 16;

/** Reads the sealed keys of a file: one answer, the answer to a batch, or only `sealed_key`. Throws `CommandError`. */
export async function readSealed(path: string): Promise<SealedInput[]> {
  const file = path === '-' ? 'standard input' : path;
  const json = parse(file, await readAnswer(path, 'the sealed key'));
  if (!isObject(json)) throw notSealed(file);
  const answers: readonly unknown[] = Array.isArray(json.keys) ? json.keys : [json];
  return answers.map((answer, i) => {
    const name = answers.length === 1 ? file : `key ${i + 1} of ${file}`;
    return toInput(path, name, answer);
  });
}

function toInput(path: string, file: string, answer: unknown): SealedInput {
  if (!isObject(answer)) throw notSealed(file);
  const { receipt, nist_report: report } = answer;
  // The client checks the members of the report.
  const nistReport = isObject(report) ? (report as unknown as EvidenceReport) : undefined;
  if ('sealed_key' in answer || 'sealed_keys' in answer) {
    return { path, file, sealed: answer, receipt, nistReport };
  }
  if ('ciphertext' in answer) return { path, file, sealed: answer, receipt: undefined, nistReport };
  throw notSealed(file);
}

function notSealed(file: string): CommandError {
  return new CommandError(
    `${file} has no sealed key: give the file of "phm generate --seal-to", or another answer of the service with sealed_key`,
    1,
  );
}

/** Reads a text file of at most 16 MiB; - is standard input. Throws `CommandError`. */
export async function readAnswer(path: string, what: string): Promise<string> {
  const maxBytes = MAX_MIB * 2 ** 20;
  return path === '-' ? readInputText(what, maxBytes) : readText(path, what, maxBytes);
}

function parse(file: string, text: string): unknown {
  try {
    return parseReceiptText(text);
  } catch (error) {
    throw new CommandError(`${file} has no sealed key: ${(error as Error).message}`, 1);
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
