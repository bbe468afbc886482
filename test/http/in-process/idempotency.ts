/** The header Idempotency-Key, and the hash that binds it to one request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AppError } from '../../../src/errors.ts';
import { HEADER_PARAMETERS } from '../../../src/http/openapi/headers.ts';
import { idempotencyKeyOf, requestHash } from '../../../src/http/wire/idempotency.ts';

const read = (value: string) => idempotencyKeyOf({ 'idempotency-key': value });

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const keys = fc.string({ unit: visible, minLength: 1, maxLength: 255 });

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

function refusal(value: string): AppError {
  try {
    read(value);
  } catch (error) {
    return error as AppError;
  }
  throw new Error('accepted');
}

describe('the header Idempotency-Key', () => {
  it('is optional', () => assert.equal(idempotencyKeyOf({}), null));

  it('names the same key in both forms', () => {
    const uuid = '0190b5c8-2d3e-7c4a-9f10-5a1b2c3d4e5f';
    assert.equal(read(uuid), uuid);
    assert.equal(read(`"${uuid}"`), uuid);
    fc.assert(
      fc.property(keys, (key) => {
        assert.equal(read(quote(key)), key);
        if (!key.startsWith('"')) assert.equal(read(key), key);
      }),
    );
  });

  it('has 1 to 255 visible characters', () => {
    assert.equal(read('x'.repeat(255)), 'x'.repeat(255));
    assert.equal(read(`"${'\\"'.repeat(255)}"`), '"'.repeat(255));
    for (const value of [
      '',
      ' ',
      '""',
      '"',
      '"a',
      '"a"b',
      '"a";p=1',
      '"a\\b"',
      '"a b"',
      'a b',
      'one, two',
      'é',
      'a\u0000',
      'x'.repeat(256),
      `"${'x'.repeat(256)}"`,
    ]) {
      assert.equal(refusal(value).code, 'invalid_request', value);
    }
  });

  it('is refused by a sentence that names it and repeats none of it', () => {
    const { details } = refusal(`SECRET ${'x'.repeat(300)}`);
    assert.equal(
      details.detail,
      'The header Idempotency-Key must have 1 to 255 visible ASCII characters, bare or in double quotes; got 307 characters, with spaces or characters outside ASCII.',
    );
    for (const [value, got] of [
      ['""', 'an empty value.'],
      ['"', '1 character, with a quote at the start but no quoted string.'],
      ['"abc', '4 characters, with a quote at the start but no quoted string.'],
      ['x'.repeat(256), '256 characters.'],
    ] as const) {
      assert.ok(refusal(value).details.detail?.includes(`double quotes; got ${got}`), value);
    }
  });

  it('is accepted or refused, whatever it holds, in linear time', () => {
    const unit = fc.constantFrom('"', '\\', ' ', 'a', '\u0001', 'é', ';');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (value) => {
        try {
          assert.match(read(value) ?? '', /^[!-~]{1,255}$/);
        } catch (error) {
          assert.equal((error as AppError).code, 'invalid_request');
        }
      }),
    );
    for (const text of ['"', '\\"', '"\\', ' ']) refusal(text.repeat(2 ** 18));
  });
});

describe('the pattern of the header in the document', () => {
  it('accepts what the service accepts', () => {
    const pattern = new RegExp(HEADER_PARAMETERS.IdempotencyKey.schema.pattern);
    const unit = fc.constantFrom('"', '\\', ' ', 'a', '~', '!', '[', ']', '#', '\u0001', 'é');
    const texts = fc.string({ unit, maxLength: 8 });
    const long = fc.tuple(fc.nat(3), texts).map(([n, text]) => 'x'.repeat(252 + n) + text);
    const quoted = fc.oneof(texts, long).map((text) => `"${text}"`);
    fc.assert(
      fc.property(fc.oneof(texts, long, quoted), (value) => {
        const isAccepted = pattern.test(value);
        if (isAccepted) assert.notEqual(read(value), null);
        else assert.equal(refusal(value).code, 'invalid_request');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the hash of a request', () => {
  const hex = (path: string, fields: Parameters<typeof requestHash>[1]) =>
    Buffer.from(requestHash(path, fields)).toString('hex');

  it('is SHA-256 of method, path and canonical fields', () => {
    // printf 'POST /api/v2/generate\n{"a":1,"b":["x"]}' | sha256sum
    assert.equal(
      hex('/api/v2/generate', { b: ['x'], a: 1 }),
      '4fa26361b2dae4c08de31d0857299dfc5be9ca8d560b8f9ea196e5fa15221595',
    );
  });

  it('depends on path and fields, not on their order', () => {
    const one = hex('/a', { x: 1, y: 2 });
    assert.equal(hex('/a', { y: 2, x: 1 }), one);
    for (const other of [hex('/b', { x: 1, y: 2 }), hex('/a', { x: 2, y: 2 }), hex('/a', { x: 1 })])
      assert.notEqual(other, one);
  });
});
