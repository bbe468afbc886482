/** Reads what a reader drops or pastes: a receipt, or a file that contains one. */

import { type EvidenceReport, parseReceiptText } from '../api.ts';

/** The parts of such a file. Texts go into the form, where the reader can change them. */
export interface ReceiptFile {
  /** The receipt as text. */
  readonly receipt: string;
  readonly opening: string | undefined;
  readonly key: string | undefined;
  /** Its form is not checked. */
  readonly report: EvidenceReport | undefined;
}

/** Largest file that is read. A receipt has about 10 kB, with many witnesses some 100. */
const LARGEST_BYTES = 4 * 2 ** 20;

/** Returns the text of a file, or null if it is too large. */
export async function readText(file: Blob): Promise<string | null> {
  return file.size > LARGEST_BYTES ? null : await file.text();
}

/** Reports whether a text has a receipt within it, and is not one itself. */
export function hasReceipt(text: string): boolean {
  const { receipt, statement } = parse(text);
  return typeof receipt === 'object' && receipt !== null && statement === undefined;
}

/**
 * Returns the parts of a text. `phm generate --receipt`, this page and the API write `{ receipt, opening, … }` around a
 * receipt. Any other text is taken as the receipt itself.
 */
export function partsOf(text: string): ReceiptFile {
  const { receipt, opening, key, nist_report: report } = parse(text);
  const whole = { receipt: text, opening: undefined, key: undefined, report: undefined };
  if (typeof receipt !== 'object' || receipt === null) return whole;
  return {
    receipt: JSON.stringify(receipt, undefined, 2),
    opening: typeof opening === 'string' ? opening : undefined,
    key: typeof key === 'string' ? key : undefined,
    report: typeof report === 'object' && report !== null ? (report as EvidenceReport) : undefined,
  };
}

/** Returns the key ID of a receipt, or undefined. */
export function keyIdOf(receipt: string): unknown {
  return parse(receipt).statement?.key_id;
}

interface Parsed {
  readonly statement?: { readonly key_id?: unknown };
  readonly receipt?: unknown;
  readonly opening?: unknown;
  readonly key?: unknown;
  readonly nist_report?: unknown;
}

function parse(text: string): Parsed {
  try {
    return (parseReceiptText(text) as Parsed | null) ?? {};
  } catch {
    return {};
  }
}
