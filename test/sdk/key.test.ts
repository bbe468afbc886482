/** Converts a generated key to bytes and to a key of the Web Crypto API. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { format, inspect } from 'node:util';
import {
  formatRecipientKey,
  keyBytes,
  newRecipient,
  openSealedKey,
  parseRecipientKey,
  toCryptoKey,
} from '../../sdk/src/index.ts';
import { answers } from '../support/clients/scripted-server.ts';
import { sealedAnswer } from './sealed-keys.ts';
import { another, GENERATED, RECEIPTED, rejection, withClient } from './support.ts';

const keyOf = (bits: number) => ({ key: randomBytes(bits / 8).toString('hex') });

describe('keyBytes', () => {
  it('returns the bytes of each level', () => {
    for (const bits of [128, 256, 384]) {
      const answer = keyOf(bits);
      const bytes = keyBytes(answer);
      assert.equal(bytes.length, bits / 8);
      assert.equal(Buffer.from(bytes).toString('hex'), answer.key);
      assert.deepEqual(keyBytes({ key: answer.key.toUpperCase() }), bytes);
    }
  });

  it('returns a copy of the bytes of an opened sealed key', () => {
    for (const bits of [128, 256, 384]) {
      const key = new Uint8Array(randomBytes(bits / 8));
      const bytes = keyBytes({ key });
      assert.deepEqual(bytes, key);
      key.fill(0);
      assert.ok(bytes.some((byte) => byte !== 0));
    }
    for (const length of [0, 15, 17, 64]) {
      assert.throws(() => keyBytes({ key: new Uint8Array(length) }), {
        name: 'TypeError',
        message: `"answer.key" expected 16, 32 or 48 bytes, got length=${length}`,
      });
    }
  });

  it('rejects anything but a key, and never quotes it', () => {
    const { key } = keyOf(256);
    const wrong: unknown[] = [key.slice(1), `${key}00`, `0x${key.slice(2)}`, `${key.slice(1)}g`];
    wrong.push('', ' '.repeat(64), `${key.slice(1)}\n`, undefined, null, 256, [key]);
    for (const one of wrong) {
      assert.throws(
        () => keyBytes({ key: one } as never),
        (error: Error) => {
          assert.ok(error instanceof TypeError);
          assert.match(error.message, /^"answer\.key" expected /);
          assert.ok(!error.message.includes(key.slice(2, 10)));
          return true;
        },
      );
    }
    for (const [answer, got] of [
      [undefined, 'undefined'],
      [null, 'null'],
      [key, 'string'],
    ]) {
      const message = `"answer" expected a response of generate with its "key", got ${got}`;
      assert.throws(() => keyBytes(answer as never), { name: 'TypeError', message });
    }
  });
});

describe('an opened sealed key', () => {
  it('is a key for the Web Crypto API, by itself and with toCryptoKey', async () => {
    const recipient = await newRecipient();
    const { answer } = await sealedAnswer(recipient);
    const opened = await openSealedKey(answer, recipient);
    const raw = await crypto.subtle.importKey('raw', opened.key, 'AES-GCM', false, ['encrypt']);
    const key = await toCryptoKey(opened, ['encrypt', 'decrypt']);
    const how = { name: 'AES-GCM', iv: randomBytes(12) };
    const sealed = await crypto.subtle.encrypt(how, raw, new Uint8Array(5));
    assert.deepEqual(
      new Uint8Array(await crypto.subtle.decrypt(how, key, sealed)),
      new Uint8Array(5),
    );
    assert.ok(
      opened.key.some((byte) => byte !== 0),
      'it was wiped',
    );
  });
});

describe('what console.log shows', () => {
  const shown = (value: unknown) =>
    [
      inspect(value),
      inspect({ value: [value] }, { depth: 9 }),
      format('%o %O', value, value),
    ].join();

  it('of a key has not its bytes', async () => {
    const generated = { ...another(GENERATED), opening: RECEIPTED.opening };
    const keys = [another(GENERATED), another(GENERATED)];
    const batch = { timestamp: GENERATED.timestamp, count: 2, keys };
    await withClient([answers(generated), answers(batch)], async (phm) => {
      const one = await phm.generate({ security_level: 256 });
      assert.ok(!shown(one).includes(generated.key) && !shown(one).includes(generated.opening));
      assert.match(inspect(one), /key: \[hidden: 64 characters\],[\s\S]+opening: \[hidden: 44/);
      assert.match(inspect(one), new RegExp(generated.key_id));
      for await (const key of phm.generateBatch({ security_level: 256, count: 2 })) {
        assert.ok(!shown(key).includes(key.key));
        assert.match(inspect(key), /key: \[hidden: 64 characters\]/);
      }
      // It is as usual for everything else.
      assert.equal(one.key, generated.key);
      assert.equal(JSON.parse(JSON.stringify(one)).key, generated.key);
      assert.deepEqual(one, { success: true, ...generated });
      assert.deepEqual(structuredClone(one), { success: true, ...generated });
    });
  });

  it('of a recipient and of an opened key has not their secrets', async () => {
    const recipient = await newRecipient();
    const read = parseRecipientKey(formatRecipientKey(recipient));
    const { answer } = await sealedAnswer(recipient);
    const opened = await openSealedKey(answer, read);
    for (const [value, secrets] of [
      [recipient, [recipient.privateKey]],
      [read, [recipient.privateKey]],
      [opened, [opened.key, opened.opening]],
    ] as const) {
      for (const secret of secrets) {
        const bytes = inspect(secret).slice(-60, -4);
        assert.ok(!shown(value).includes(bytes), 'a secret is shown');
        assert.match(inspect(value), new RegExp(`\\[hidden: ${secret.length} bytes\\]`));
      }
    }
  });
});

describe('toCryptoKey', () => {
  it('encrypts and decrypts with AES-GCM by default', async () => {
    for (const bits of [128, 256]) {
      const key = await toCryptoKey(keyOf(bits), ['encrypt', 'decrypt']);
      assert.deepEqual(
        [key.algorithm, key.extractable],
        [{ name: 'AES-GCM', length: bits }, false],
      );
      const how = { name: 'AES-GCM', iv: randomBytes(12) };
      const text = new TextEncoder().encode('a secret');
      const sealed = await crypto.subtle.encrypt(how, key, text);
      const opened = await crypto.subtle.decrypt(how, key, sealed);
      assert.deepEqual(new Uint8Array(opened), text);
    }
  });

  it('signs with HMAC like other programs: SHA-384 for 384 bits, SHA-256 otherwise', async () => {
    const text = Buffer.from('a message');
    for (const [bits, hash] of [
      [128, 'sha256'],
      [256, 'sha256'],
      [384, 'sha384'],
    ] as const) {
      const answer = keyOf(bits);
      const key = await toCryptoKey(answer, ['sign'], bits === 384 ? undefined : 'HMAC');
      const signature = Buffer.from(await crypto.subtle.sign('HMAC', key, text));
      const expected = createHmac(hash, Buffer.from(answer.key, 'hex')).update(text).digest();
      assert.deepEqual(signature, expected);
    }
  });

  it('derives keys with HKDF', async () => {
    const key = await toCryptoKey(keyOf(384), ['deriveBits'], 'HKDF');
    const how = { name: 'HKDF', hash: 'SHA-384', salt: new Uint8Array(0), info: new Uint8Array(0) };
    assert.equal((await crypto.subtle.deriveBits(how, key, 256)).byteLength, 32);
  });

  it('names the fitting choice if key, algorithm and usages do not match', async () => {
    const cases: [Promise<unknown>, RegExp][] = [
      [toCryptoKey(keyOf(384), ['encrypt'], 'AES-GCM'), /^AES-GCM needs a key of 128 or 256 bits/],
      [
        toCryptoKey(keyOf(384), ['encrypt']),
        /384-bit HMAC key expected some of sign, verify; "encrypt" needs AES-GCM$/,
      ],
      [toCryptoKey(keyOf(256), ['encrypt', 'sign']), /; "sign" needs HMAC$/],
      [toCryptoKey(keyOf(256), ['eat'] as never), /expected some of encrypt, .+, unwrapKey$/],
      [toCryptoKey(keyOf(256), []), /^"usages" expected some of encrypt, .+, got none$/],
      [toCryptoKey(keyOf(256), 'sign' as never), /^"usages" expected some of/],
      [toCryptoKey(keyOf(256), ['sign'], 'DES' as never), /^"algorithm" expected one of AES-GCM, /],
      [toCryptoKey({ key: 'ff' }, ['encrypt']), /^"answer\.key" expected /],
    ];
    for (const [call, message] of cases) {
      const error = await rejection(call);
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
    }
  });
});
