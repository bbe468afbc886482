/**
 * Answers of ETSI GS QKD 014 V1.1.1 (clause 6): JSON in UTF-8. Answers with keys are built as bytes, never as text, because
 * text cannot be wiped.
 */
import type { HandedKey } from '../keys/stock.ts';

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that gets an error. The message is for the caller, and quotes only what the caller sent. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  /** Pairs of names and values. */
  readonly details: readonly Readonly<Record<string, string>>[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: {
      readonly details?: readonly Readonly<Record<string, string>>[];
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

export function jsonAnswer(value: object): Answer {
  return { status: 200, body: Buffer.from(JSON.stringify(value)) };
}

/** Clause 6.5: `message`, and `details` if there are any. */
export function errorAnswer({ status, message, details, headers }: RequestError): Answer {
  const body = details.length > 0 ? { message, details } : { message };
  return { status, body: Buffer.from(JSON.stringify(body)), headers };
}

/** Clause 6.3, the key container. Wipes the keys. */
export function keysAnswer(keys: readonly HandedKey[]): Answer {
  const parts = keys.flatMap(({ id, key }, i) => [
    Buffer.from(`${i > 0 ? ',' : ''}{"key_ID":"${id}","key":"`),
    base64Bytes(key),
    Buffer.from('"}'),
  ]);
  const body = Buffer.concat([Buffer.from('{"keys":['), ...parts, Buffer.from(']}')]);
  for (const part of parts) part.fill(0);
  for (const { key } of keys) key.fill(0);
  return { status: 200, body };
}

const DIGITS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 0x3d;

/** Returns base64 with padding (RFC 4648 §4) as bytes. Node's own encoder gives text. */
function base64Bytes(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  for (let i = 0, at = 0; i < bytes.length; i += 3, at += 4) {
    const length = Math.min(3, bytes.length - i);
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const bits = (a << 16) | (b << 8) | c;
    for (let k = 0; k <= length; k += 1) text[at + k] = DIGITS[(bits >> (18 - 6 * k)) & 63] ?? 0;
  }
  return text;
}
