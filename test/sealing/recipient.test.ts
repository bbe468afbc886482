/** Files of recipients, and base64url. The tests of the log's formats compare both ways to base64. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeBase64Url,
  encodeBase64Url,
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  parseRecipient,
  parseRecipientKey,
  SEAL_SUITES,
} from '#sealing';
import { FormatError } from '#tlog';
import { bytesOf } from '../../packages/sealing/src/base64url.ts';

describe('base64url', () => {
  it('is that of Node, and has one encoding for each byte string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        const text = encodeBase64Url(bytes);
        assert.equal(text, Buffer.from(bytes).toString('base64url'));
        assert.deepEqual(decodeBase64Url(text), bytes);
      }),
    );
  });

  it('refuses padding, other alphabets and unused bits', () => {
    for (const wrong of ['A', 'AA=', 'AA==', 'AB', 'A A', '+/8', 'AAA\n', 'é']) {
      assert.throws(() => decodeBase64Url(wrong), FormatError, wrong);
    }
  });

  it('takes exactly the lengths of a member, and names them otherwise', () => {
    for (const [min, max] of [
      [0, 0],
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 4],
      [32, 32],
      [33, 1_120],
    ] as const) {
      for (const length of [0, 1, 2, 3, 4, 5, 31, 32, 33, 34, max - 1, max, max + 1, 2 * max + 1]) {
        if (length < 0) continue;
        const bytes = Buffer.alloc(length, 0xfb);
        const read = () => bytesOf('enc', encodeBase64Url(bytes), min, max);
        if (length >= min && length <= max) assert.deepEqual(Buffer.from(read()), bytes);
        else assert.throws(read, FormatError, `${length} bytes of ${min} to ${max}`);
      }
    }
    assert.throws(() => bytesOf('enc', 'AAAA', 1, 2), {
      message:
        'enc: expected base64url without padding (RFC 4648 §5) of 1 to 2 bytes, got 4 characters',
    });
  });
});

describe('the file of a recipient', () => {
  for (const { name, publicKeyBytes, privateKeyBytes } of SEAL_SUITES) {
    it(`holds public and private key: ${name}`, async () => {
      const key = await newRecipient(name);
      assert.equal(key.publicKey.length, publicKeyBytes);
      assert.equal(key.privateKey.length, privateKeyBytes);
      const { privateKey, ...recipient } = key;
      const file = formatRecipient(key);
      assert.match(
        file,
        /^\{"type":"phm-recipient\/v1","suite":"[^"]+","public_key":"[\w-]+"\}\n$/,
      );
      assert.deepEqual(parseRecipient(file), recipient);
      assert.ok(!file.includes(encodeBase64Url(privateKey)));
      const secret = formatRecipientKey(key);
      assert.match(secret, /^\{"type":"phm-recipient-key\/v1",.*,"private_key":"[\w-]+"\}\n$/);
      assert.deepEqual(parseRecipientKey(secret), key);
    });
  }

  it('is refused in any other form, and the private key is never quoted', async () => {
    const key = await newRecipient();
    const good = JSON.parse(formatRecipientKey(key));
    const { type: _, ...untyped } = good;
    for (const [wrong, message] of [
      ['', /the recipient key: expected a JSON object, got other text/],
      [`{${good.private_key}`, /expected a JSON object, got other text/],
      ['null', /the recipient key: expected a JSON object/],
      [JSON.stringify(untyped), /unknown member|no member "type"/],
      [formatRecipient(key), /type: expected "phm-recipient-key\/v1"|no member "private_key"/],
      [
        JSON.stringify({ ...good, private_key: `${good.private_key}=` }),
        /^private_key: expected base64url/,
      ],
      [
        JSON.stringify({ ...good, private_key: encodeBase64Url(new Uint8Array(33)) }),
        /^private_key: expected 32 bytes/,
      ],
      [
        JSON.stringify({ ...good, suite: 'ML-KEM-1024' }),
        /^public_key: A public key of ML-KEM-1024/,
      ],
      [JSON.stringify({ ...good, public_key: good.private_key }), /^public_key: A public key of/],
    ] as const) {
      assert.throws(
        () => parseRecipientKey(wrong),
        (error) => {
          assert.ok(error instanceof FormatError);
          assert.match(error.message, message);
          assert.ok(!error.message.includes(good.private_key.slice(0, 8)), error.message);
          return true;
        },
      );
    }
    assert.throws(() => parseRecipient(formatRecipientKey(key)), FormatError);
  });
});
