/** The key container of ETSI GS QKD 014 V1.1.1 (clause 6.3). */
import type { HandedKey } from '../keys/stock.ts';
import { type Answer, bytesAnswer } from '../listeners/answer.ts';

/** Wipes the keys. */
export function keysAnswer(keys: readonly HandedKey[]): Answer {
  const parts = keys.flatMap(({ id, key }, i) => [
    Buffer.from(`${i > 0 ? ',' : ''}{"key_ID":"${id}","key":"`),
    base64Bytes(key),
    Buffer.from('"}'),
  ]);
  for (const { key } of keys) key.fill(0);
  return bytesAnswer([Buffer.from('{"keys":['), ...parts, Buffer.from(']}')]);
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
