/** What counts as bytes in memory. */
import { kindOf } from '../../../sp800-22/src/arguments.ts';

/** Bytes in memory. A `Buffer` of Node is a `Uint8Array`. */
export type Bytes =
  | Uint8Array
  | Uint8ClampedArray
  | Int8Array
  | DataView
  | ArrayBuffer
  | SharedArrayBuffer;

/**
 * Returns the bytes of a value, which are not copied; `undefined` if it holds none. Throws `TypeError` if its elements have
 * several bytes, whose order is the machine's, so that the same values would be other bits elsewhere.
 */
export function bytesOf(name: string, value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  // Not `instanceof`: the value may be of another realm, such as a frame.
  if (ArrayBuffer.isView(value)) {
    const { BYTES_PER_ELEMENT: width = 1 } = value as { BYTES_PER_ELEMENT?: number };
    if (width === 1) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    throw new TypeError(
      `"${name}" expected bytes, got ${kindOf(value)}, whose elements have ${width} bytes in the order of this machine: give "new Uint8Array(array.buffer, array.byteOffset, array.byteLength)" to take them as they are in memory, or write them in an order of your own with a DataView`,
    );
  }
  if (!/^\[object (?:Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value))) {
    return undefined;
  }
  try {
    return new Uint8Array(value as ArrayBuffer);
  } catch {
    throw new TypeError(`"${name}" expected bytes, got an ArrayBuffer that was transferred`);
  }
}
