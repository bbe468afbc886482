/** Answers hold keys as base64, and the keys are wiped. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { keysAnswer } from '../../src/etsi014/answer.ts';
import { errorAnswer, RequestError } from '../../src/listeners/answer.ts';

const ID = '550e8400-e29b-41d4-a716-446655440000';

describe('an answer with keys', () => {
  it('is JSON with the base64 of each key, of every length', () => {
    for (const length of [0, 1, 2, 3, 16, 32, 48]) {
      const bytes = [randomBytes(length), randomBytes(length).fill(255)];
      const expected = bytes.map((one) => ({ key_ID: ID, key: one.toString('base64') }));
      const keys = bytes.map((key) => ({ id: ID, key, reader: 'r', isLast: true, expiresAtMs: 0 }));
      const { status, body } = keysAnswer(keys);
      assert.equal(status, 200);
      assert.deepEqual(JSON.parse(Buffer.from(body).toString()), { keys: expected });
      assert.ok(keys.every(({ key }) => key.every((byte) => byte === 0)));
    }
  });
});

describe('an answer with an error', () => {
  it('has a message, and details only if there are any', () => {
    const text = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).toString();
    assert.equal(text(errorAnswer(new RequestError(401, 'no'))), '{"message":"no"}');
    const details = [{ a: 'b' }];
    const { status, body } = errorAnswer(new RequestError(400, 'no', { details }));
    assert.equal(status, 400);
    assert.deepEqual(JSON.parse(text({ body })), { message: 'no', details });
  });
});
