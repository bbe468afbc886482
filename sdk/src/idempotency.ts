/** Values of the header `Idempotency-Key`, with which the service recognises a repeated call. */

/** A visible ASCII text. A quotation mark at its start would make it the quoted form of another value. */
const VALUE = /^(?!")[\x21-\x7e]{1,255}$/;

/**
 * Returns the value for a call: the given text, or a new one for `true`. Undefined for `false`: the call is then sent
 * without the header. Throws `TypeError` for anything else, without quoting it.
 */
export function idempotencyKeyFor(given: unknown, byDefault: boolean): string | undefined {
  const wanted = given ?? byDefault;
  if (wanted === false) return undefined;
  if (wanted === true) return newUuid(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
  if (typeof wanted === 'string' && VALUE.test(wanted)) return wanted;
  throw new TypeError(
    'idempotencyKey must be true, false or 1 to 255 visible ASCII characters, not starting with a quotation mark',
  );
}

/**
 * Returns a UUIDv7 (RFC 9562 §5.7): 48 bits of the time `nowMs`, and 74 bits of `random`, 16 bytes that it overwrites.
 */
export function newUuid(nowMs: number, random: Uint8Array): string {
  const view = new DataView(random.buffer, random.byteOffset, 16);
  view.setUint16(0, Math.floor(nowMs / 2 ** 32));
  view.setUint32(2, nowMs % 2 ** 32);
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70);
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80);
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
