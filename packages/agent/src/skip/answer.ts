/** Answers of SKIP with bytes (draft-cisco-skip-02 §4.2 and §4.3): in hexadecimal, and wiped. */
import type { HandedKey } from '../keys/stock.ts';
import { type Answer, bytesAnswer } from '../listeners/answer.ts';

/** §4.2. Wipes the key. */
export function keyAnswer({ id, key }: HandedKey): Answer {
  const body = [Buffer.from(`{"keyId":"${keyIdOf(id)}","key":"`), hexBytes(key), Buffer.from('"}')];
  key.fill(0);
  return bytesAnswer(body);
}

/** §4.3. Wipes the bytes. `minentropy` is their length in bits (Table 8). */
export function entropyAnswer(bytes: Uint8Array): Answer {
  const end = Buffer.from(`","minentropy":${bytes.length * 8}}`);
  const body = [Buffer.from('{"randomStr":"'), hexBytes(bytes), end];
  bytes.fill(0);
  return bytesAnswer(body);
}

/** §4.2.1: 128 bits in hexadecimal. They are those of the delivery's UUID. */
const keyIdOf = (id: string): string => id.replaceAll('-', '');

const DIGITS = Buffer.from('0123456789abcdef');

function hexBytes(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(bytes.length * 2);
  for (const [i, byte] of bytes.entries()) {
    text[2 * i] = DIGITS[byte >> 4] ?? 0;
    text[2 * i + 1] = DIGITS[byte & 15] ?? 0;
  }
  return text;
}
