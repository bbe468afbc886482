/** Key IDs as bytes and as text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatKeyId, newKeyId, parseKeyId } from '../../src/keys/key-id.ts';

describe('key IDs', () => {
  it('are UUIDs of version 7 (RFC 9562 §5.7) with the given time', () => {
    const lastMs = 2 ** 48 - 1;
    fc.assert(
      fc.property(fc.oneof(fc.nat(lastMs), fc.constantFrom(0, lastMs)), (atMs) => {
        const keyId = Buffer.from(newKeyId(atMs));
        assert.equal(keyId.length, 16);
        assert.equal(keyId.readUIntBE(0, 6), atMs);
        assert.equal(keyId[6] >>> 4, 7);
        assert.equal(keyId[8] >>> 6, 0b10);
      }),
    );
  });

  it('take the time of the clock', () => {
    const before = Date.now();
    const atMs = Buffer.from(newKeyId()).readUIntBE(0, 6);
    assert.ok(before <= atMs && atMs <= Date.now());
  });

  it('differ in one millisecond, and use all 74 random bits', () => {
    const ids = Array.from({ length: 1_000 }, () => Buffer.from(newKeyId(5)));
    assert.equal(new Set(ids.map((id) => id.toString('hex'))).size, ids.length);
    const [ones, zeros] = [Buffer.alloc(16), Buffer.alloc(16)];
    for (const id of ids) {
      for (let i = 0; i < 16; i++) {
        ones[i] |= id[i];
        zeros[i] |= ~id[i];
      }
    }
    const random = Buffer.from('0000000000000fff3fffffffffffffff', 'hex');
    const both = Buffer.from(random.map((_, i) => ones[i] & zeros[i]));
    assert.deepEqual(both, random, 'every random bit was 0 and 1, and no other bit was');
  });

  it('have memory of their own', () => {
    const [first, second] = [newKeyId(5), newKeyId(5)];
    const copy = Buffer.from(second);
    first.fill(0);
    assert.deepEqual(Buffer.from(second), copy);
    assert.equal(first.buffer.byteLength, 16);
  });

  it('come back from their text', () => {
    const idOf = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(idOf, (keyId) => {
        fc.pre(keyId.some((byte) => byte !== 0));
        assert.deepEqual(Buffer.from(parseKeyId(formatKeyId(keyId)) ?? ''), Buffer.from(keyId));
      }),
    );
  });
});
