import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HmacKey } from '../../src/proof/hmac.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

/** RFC 4231 §4.2 to §4.6: the cases with a key of at most one block. Case 5 has 128 bits of the MAC. */
const CASES: readonly { name: string; key: Buffer; data: Buffer; mac: string }[] = [
  {
    name: 'test case 1',
    key: Buffer.alloc(20, 0x0b),
    data: Buffer.from('Hi There'),
    mac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  },
  {
    name: 'test case 2',
    key: Buffer.from('Jefe'),
    data: Buffer.from('what do ya want for nothing?'),
    mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    name: 'test case 3',
    key: Buffer.alloc(20, 0xaa),
    data: Buffer.alloc(50, 0xdd),
    mac: '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  },
  {
    name: 'test case 4',
    key: hex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    data: Buffer.alloc(50, 0xcd),
    mac: '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  },
  {
    name: 'test case 5',
    key: Buffer.alloc(20, 0x0c),
    data: Buffer.from('Test With Truncation'),
    mac: 'a3b6167473100ee06e0c796c2955552b',
  },
];

describe('HMAC-SHA-256', () => {
  for (const { name, key, data, mac } of CASES) {
    it(`gives RFC 4231 ${name}`, () => {
      assert.equal(new HmacKey(key).macHex(data).slice(0, mac.length), mac);
    });
  }

  it('equals createHmac for every length of key and text, in parts, as bytes and as text', () => {
    const part = fc.uint8Array({ maxLength: 150 });
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 64 }),
        fc.array(fc.array(part, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        (key, texts) => {
          const one = new HmacKey(key);
          // One after another: no text leaves anything for the next.
          for (const parts of texts) {
            const expected = createHmac('sha256', key).update(Buffer.concat(parts)).digest();
            assert.deepEqual(one.mac(...parts), expected);
            assert.equal(one.macHex(...parts), expected.toString('hex'));
          }
        },
      ),
    );
  });

  it('forgets the previous key, also a longer one', () => {
    const one = new HmacKey(Buffer.alloc(64, 1));
    one.setKey(Buffer.alloc(20, 0x0b));
    assert.equal(one.macHex(Buffer.from('Hi There')), CASES[0].mac);
  });

  it('returns memory of its own, and keeps no reference to the key', () => {
    const key = Buffer.alloc(32, 7);
    const one = new HmacKey(key);
    key.fill(0);
    const expected = createHmac('sha256', Buffer.alloc(32, 7)).update('a').digest();
    const mac = one.mac(Buffer.from('a'));
    assert.equal(mac.buffer.byteLength, 32);
    one.mac(Buffer.from('b'));
    assert.deepEqual(mac, expected);
  });

  it('rejects a key of more than one block', () => {
    assert.throws(() => new HmacKey(Buffer.alloc(65)), {
      name: 'RangeError',
      message: '"key" expected at most 64 bytes, got 65',
    });
  });
});
