/** Canonical JSON (RFC 8785) and base64 (RFC 4648 §4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, decodeBase64, encodeBase64, FormatError, type JsonValue } from '#tlog';
import { decodeByAtob, encodeByBtoa } from '../../packages/tlog/src/base64.ts';
import { CODE_POINTS } from '../support/texts/code-points.ts';
import { RFC_8785 } from './vectors.ts';

const text = fc.string({ unit: CODE_POINTS, maxLength: 8 });
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(text, tie('json'), { maxKeys: 4 }),
  ),
}));

describe('canonicalJson', () => {
  it('writes the numbers of RFC 8785, Appendix B', () => {
    for (const { ieee754, json } of RFC_8785.numbers.samples) {
      const value = Buffer.from(ieee754, 'hex').readDoubleBE();
      if (json === null) assert.throws(() => canonicalJson(value), TypeError, ieee754);
      else assert.equal(canonicalJson(value), json, ieee754);
    }
  });

  it('writes the object of RFC 8785 §3.2.4', () => {
    const { json, canonical_utf8 } = RFC_8785.object;
    assert.equal(Buffer.from(canonicalJson(JSON.parse(json))).toString('hex'), canonical_utf8);
  });

  it('sorts the names of RFC 8785 §3.2.3 by UTF-16 code units', () => {
    const { json, values } = RFC_8785.sorting;
    const canonical = canonicalJson(JSON.parse(json));
    assert.deepEqual(Object.values(JSON.parse(`{${canonical.slice(1, -1)}}`)).length, 7);
    const order = [...canonical.matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
    assert.deepEqual(order, values);
  });

  it('is JSON of the same value, and the same text for every order of members', () => {
    fc.assert(
      fc.property(json, (value) => {
        const canonical = canonicalJson(value);
        assert.equal(canonicalJson(JSON.parse(canonical)), canonical);
        assert.equal(canonicalJson(reversed(value)), canonical);
      }),
    );
  });

  it('refuses what JSON cannot express', () => {
    const values = ['\ud800', 'a\udc00', Number.NaN, Number.POSITIVE_INFINITY, undefined, 1n];
    for (const value of values) {
      assert.throws(() => canonicalJson(value as JsonValue), TypeError);
      assert.throws(() => canonicalJson({ a: [value as JsonValue] }), TypeError);
    }
    assert.throws(() => canonicalJson({ '\udc00': 1 }), TypeError);
    assert.throws(() => canonicalJson([undefined as unknown as JsonValue]), TypeError);
    // A hole would be written as nothing.
    assert.throws(() => canonicalJson(new Array(1)), TypeError);
  });
});

/** Returns the value with its members in reverse order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, reversed(one)]);
  return Object.fromEntries(entries.reverse()) as JsonValue;
}

describe('base64', () => {
  it('encodes as Node does, and decodes what it encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const encoded = encodeBase64(bytes);
        assert.equal(encoded, Buffer.from(bytes).toString('base64'));
        assert.deepEqual(decodeBase64(encoded), bytes);
        // Platforms without the methods of ECMAScript 2026.
        assert.equal(encodeByBtoa(bytes), encoded);
        assert.deepEqual(decodeByAtob(encoded), bytes);
      }),
    );
    const large = Buffer.alloc(100_000, 0xa5);
    assert.equal(encodeBase64(large), large.toString('base64'));
  });

  it('refuses every other text for the same bytes', () => {
    for (const wrong of ['Zg', 'Zg=', 'Zh==', ' Zg==', 'Zg==\n', 'Z g=', 'Zg==Zg==', '-_-_', 'é']) {
      assert.throws(() => decodeBase64(wrong), FormatError, wrong);
    }
    fc.assert(
      fc.property(
        fc.base64String(),
        fc.nat(),
        fc.string({ maxLength: 1 }),
        (valid, at, inserted) => {
          const cut = at % (valid.length + 1);
          const other = valid.slice(0, cut) + inserted + valid.slice(cut);
          try {
            assert.equal(encodeBase64(decodeBase64(other)), other);
          } catch (error) {
            assert.ok(error instanceof FormatError);
          }
        },
      ),
    );
  });
});
