/** A source whose first bytes are looked at before any is read: an input that holds its bits in another form is refused. */

import { AssessError } from '../assess/errors.ts';
import {
  HEAD_BYTES,
  type RecognisedForm,
  recogniseForm,
  recogniseNoDigits,
} from './input-format.ts';
import type { ByteSource } from './kinds.ts';

/** How an input is recognised that has no format, or that is said to be a text. */
export interface Recognition {
  /** Bytes that the caller needs in any case: a stream is not waited for beyond them. Default: as many as decide. */
  readonly neededBytes?: number | undefined;
  /** Returns whether a form is read as it is. Default: none is. */
  readonly accepts?: ((form: RecognisedForm) => boolean) | undefined;
}

/** Throws `AssessError` if the bytes that are to be read as they are look like another form. */
export function refuseForm(head: Uint8Array, { accepts }: Recognition = {}): void {
  refuse(recogniseForm(head), accepts);
}

/** Throws `AssessError` if the start of a text is no text of digits. */
export function refuseNoDigits(head: Uint8Array): void {
  refuse(recogniseNoDigits(head));
}

function refuse(form: RecognisedForm | null, accepts?: Recognition['accepts']): void {
  if (form === null || accepts?.(form)) return;
  throw new AssessError('other-form', `the input ${form.says}: ${remedyText(form)}`, { form });
}

function remedyText({ remedy }: RecognisedForm): string {
  switch (remedy.kind) {
    case 'format':
      return `give the format "${remedy.format}", or "binary" to read it as it is`;
    case 'command':
      return `give what "${remedy.command}" writes, in the format "${remedy.format}"; "binary" reads the input as it is`;
    default:
      return `${remedy.advice}; the format "binary" reads it as it is`;
  }
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
    const head = new Uint8Array(this.#headBytes);
    let length = 0;
    while (length < head.length) {
      const count = await this.#source.read(head.subarray(length));
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

  close(): Promise<void> {
    this.#ahead?.fill(0);
    return this.#source.close();
  }
}
