/** Answers of SKIP hold keys in hexadecimal, and the keys are wiped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entropyAnswer, keyAnswer } from '../../src/skip/answer.ts';

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
const jsonOf = (body: Uint8Array): unknown => JSON.parse(Buffer.from(body).toString());

describe('an answer of SKIP', () => {
  it('has the key of draft-cisco-skip-02, Figure 6', () => {
    const hex = 'ad229dfb8a276e74c1f3b6c09349a69fb2fed73c541270663f0e5cbbfb031670';
    const key = bytesOf(hex);
    const id = '1726e9ae-7623-4fb1-9d12-83d4dca1911e';
    const { status, body } = keyAnswer({ id, key, reader: 'r', isLast: true, expiresAtMs: 0 });
    assert.equal(status, 200);
    assert.deepEqual(jsonOf(body), { keyId: '1726e9ae76234fb19d1283d4dca1911e', key: hex });
    assert.ok(key.every((byte) => byte === 0));
  });

  it('has random bytes with their length in bits', () => {
    const bytes = bytesOf('00ff10');
    const { body } = entropyAnswer(bytes);
    assert.deepEqual(jsonOf(body), { randomStr: '00ff10', minentropy: 24 });
    assert.ok(bytes.every((byte) => byte === 0));
  });
});
