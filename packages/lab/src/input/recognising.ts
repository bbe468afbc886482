/** A source whose first bytes are looked at before any is read: an input that holds its bits in another form is refused. */

import { AssessError } from '../assess/errors.ts';
import {
  HEAD_BYTES,
  recogniseForm,
  recogniseNoBytes,
  recogniseNoDigits,
  recogniseWithinDigits,
} from './input-format.ts';
import type { ByteSource } from './kinds.ts';
import { parseFormat } from './readers/table.ts';
import type { RecognisedForm } from './recognised-form.ts';

/** How an input is recognised that has no format, or that is said to be a text, and what its samples are for. */
export interface Recognition {
  /** Bytes that the caller needs in any case: a stream is not waited for beyond them. Default: as many as decide. */
  readonly neededBytes?: number | undefined;
  /** Returns whether a form is read as it is. Default: none is. */
  readonly accepts?: ((form: RecognisedForm) => boolean) | undefined;
  /** True: each sample takes a byte of its own, in its low bits; one of more than 8 bits is an error. */
  readonly isSpread?: boolean | undefined;
}

/** The format in which the bytes were found; default: they are those of the input. */
export interface Within {
  readonly within?: string;
}

/** Throws `AssessError` if the bytes that are to be read as they are look like another form. */
export function refuseForm(head: Uint8Array, { accepts, within }: Recognition & Within = {}): void {
  const form = recogniseForm(head);
  if (form && !accepts?.(form)) refuse(form, within);
}

/** Throws `AssessError` if the start of a text is no text of digits. */
export function refuseNoDigits(head: Uint8Array): void {
  refuse(recogniseNoDigits(head));
}

/** Throws `AssessError` if a listing begins within a part of a text of hexadecimal digits. */
export function refuseListingWithin(part: Uint8Array): void {
  refuse(recogniseWithinDigits(part));
}

/** Throws `AssessError` if bytes that a form held are a container or a listing again. */
export function refuseNoBytes(head: Uint8Array, within: string): void {
  refuse(recogniseNoBytes(head), within);
}

function refuse(form: RecognisedForm | null, within = 'binary'): void {
  if (form === null) return;
  if (within === 'binary') {
    throw new AssessError('other-form', `the input ${form.says}: ${remedyText(form)}`, { form });
  }
  const format = formatWithin(form, within);
  const how = format ? `give the format "${format}"` : OF_ITS_OWN;
  const text = `the input is read as ${within}, and what it holds ${saysWithin(form, within)}: ${how}`;
  throw new AssessError('other-form', text, { form, within });
}

/** What to do with the content of a form for which there is no format. */
export const OF_ITS_OWN = 'write what it holds to a file of its own';

/** Returns the format that gives the bits of a form that was found within another one; null if there is none. */
export function formatWithin({ remedy }: RecognisedForm, within: string): string | null {
  const outer = within.replace(/:binary$/, '');
  const isGzip = outer === 'gzip';
  if (isGzip && (remedy.kind === 'format' || remedy.kind === 'bits')) {
    return remedy.format === 'gzip' ? null : `gzip:${remedy.format}`;
  }
  const chosen = remedy.kind === 'bits' ? `${outer}:${remedy.low}-${remedy.high}` : null;
  return chosen !== null && isFormat(chosen) ? chosen : null;
}

/** Returns what is said of a form within another one: samples have the order of their bytes no more. */
export function saysWithin({ says }: RecognisedForm, within: string): string {
  const reading = parseFormat(within.replace(/^gzip:/, ''));
  const isSamples = reading.kind === 'decoded' && reading.holds === 'samples';
  return isSamples ? says.replace(/ \((?:big|little)-endian\)/, '') : says;
}

function isFormat(format: string): boolean {
  try {
    parseFormat(format);
    return true;
  } catch {
    return false;
  }
}

function remedyText({ remedy }: RecognisedForm): string {
  switch (remedy.kind) {
    case 'bits':
    case 'format':
      return `give the format "${remedy.format}", or "binary" to read it as it is`;
    case 'command':
      return `give what "${remedy.command}" writes; "binary" reads the input as it is`;
    default:
      return `${remedy.advice}; the format "binary" reads it as it is`;
  }
}

/** Printable characters, white space and a byte order mark. */
function isTextByte(byte: number, i: number): boolean {
  return (byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13) || byte === [0xef, 0xbb, 0xbf][i];
}

export class RecognisingSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #headBytes: number;
  readonly #check: (head: Uint8Array) => void;
  /** The first bytes that are not yet taken; null before the first read. */
  #ahead: Uint8Array | null = null;

  /** `check` throws if it refuses the first bytes. */
  constructor(source: ByteSource, check: (head: Uint8Array) => void, neededBytes = HEAD_BYTES) {
    this.#source = source;
    this.#check = check;
    // The bytes of a file do not have to be waited for.
    this.#headBytes =
      source.sizeBytes === undefined ? Math.min(neededBytes, HEAD_BYTES) : HEAD_BYTES;
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  /** Returns the first bytes, which MUST NOT be changed. */
  async peek(): Promise<Uint8Array> {
    this.#ahead ??= await this.#readHead();
    return this.#ahead;
  }

  async read(into: Uint8Array): Promise<number> {
    this.#ahead ??= await this.#readHead();
    if (this.#ahead.length === 0) return this.#source.read(into);
    const part = this.#ahead.subarray(0, into.length);
    into.set(part);
    this.#ahead = this.#ahead.subarray(part.length);
    const { length } = part;
    part.fill(0);
    return length;
  }

  async #readHead(): Promise<Uint8Array> {
    const head = new Uint8Array(HEAD_BYTES);
    let length = 0;
    for (;;) {
      const end = this.#endOf(head, length);
      const count = end > length ? await this.#source.read(head.subarray(length, end)) : 0;
      if (count === 0) break;
      length += count;
    }
    try {
      this.#check(head.subarray(0, length));
    } catch (error) {
      head.fill(0);
      throw error;
    }
    return head.subarray(0, length);
  }

  /** Returns where the head ends: a text is waited for, because few characters do not show its form. */
  #endOf(head: Uint8Array, length: number): number {
    const isText = length > 0 && head.subarray(0, length).every(isTextByte);
    return isText ? HEAD_BYTES : this.#headBytes;
  }

  close(): Promise<void> {
    this.#ahead?.fill(0);
    return this.#source.close();
  }
}
