/** Text and integers as bytes, in Node and browsers. */
import { FormatError, received } from './format-error.ts';

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Reports whether a text is Unicode without control characters below U+0020, so also without newlines. */
export function isLine(text: string): boolean {
  return /^[ -\uD7FF\uE000-\u{10FFFF}]*$/u.test(text);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Encodes a safe integer as 64 bits, big-endian. */
export function u64be(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(value / 2 ** 32));
  view.setUint32(4, value % 2 ** 32);
  return bytes;
}

/** Parses a decimal number without leading zeros, from 0 to 2^53 − 1. `name` begins the `FormatError`. */
export function parseDecimal(name: string, text: string): number {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new FormatError(
      `${name}: expected a decimal number below 2^53 without leading zeros, got ${received(text)}`,
    );
  }
  return value;
}

/** Throws `RangeError` unless `value` is an integer from `min` to `max`. */
export function assertInteger(
  name: string,
  value: number,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new RangeError(`"${name}" expected an integer from ${min} to ${max}, got ${value}`);
  }
}

/** Throws `TypeError` unless `bytes` is a `Uint8Array` of exactly `length` bytes. */
export function assertBytes(name: string, bytes: Uint8Array, length: number): void {
  if (!(bytes instanceof Uint8Array) || bytes.length !== length) {
    const got = bytes instanceof Uint8Array ? `length=${bytes.length}` : typeof bytes;
    throw new TypeError(`"${name}" expected Uint8Array of length ${length}, got ${got}`);
  }
}
