/** Parsers of sealed keys refuse bad input with `FormatError`, and throw nothing else. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeBase64Url,
  OpenError,
  open,
  parseRecipient,
  parseRecipientKey,
  parseSealedKey,
  parseSealHeader,
} from '#sealing';
import { FormatError } from '#tlog';

const [VECTOR] = JSON.parse(
  readFileSync(new URL('../vectors/sealing/sealed-keys.json', import.meta.url), 'utf8'),
);

function assertRefusedWell(parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof FormatError, String(error));
    assert.ok(error.message.length < 400, error.message);
    assert.doesNotMatch(error.message, /\n/);
  }
}

/** An object with one member changed to any value, removed, or added. */
function changed(object: object): fc.Arbitrary<object> {
  return fc
    .tuple(fc.constantFrom(...Object.keys(object), 'more'), fc.option(fc.jsonValue()))
    .map(([name, value]) => ({ ...object, [name]: value ?? undefined }));
}

describe('parsers of sealed keys', () => {
  it('refuse any JSON with FormatError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), changed(VECTOR.sealed_key)), (json) =>
        assertRefusedWell(() => parseSealedKey(json)),
      ),
    );
  });

  it('refuse any bytes as a header', () => {
    const header = JSON.parse(Buffer.from(VECTOR.sealed_key.header, 'base64url').toString());
    const text = changed(header).map((json) => new Uint8Array(Buffer.from(JSON.stringify(json))));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), text), (bytes) =>
        assertRefusedWell(() => parseSealHeader(bytes)),
      ),
    );
  });

  it('refuse any text as a file of a recipient', () => {
    const file = changed(VECTOR.recipient_key).map((json) => JSON.stringify(json));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), file), (text) => {
        for (const parse of [parseRecipient, parseRecipientKey, decodeBase64Url]) {
          assertRefusedWell(() => parse(text));
        }
      }),
    );
  });
});

describe('open', () => {
  it('refuses one changed byte of any part with OpenError or FormatError', async () => {
    const recipientKey = parseRecipientKey(JSON.stringify(VECTOR.recipient_key));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('enc', 'ciphertext', 'header'),
        fc.nat(2000),
        fc.integer({ min: 1, max: 255 }),
        async (name, place, difference) => {
          const bytes = decodeBase64Url(VECTOR.sealed_key[name]);
          const at = place % bytes.length;
          bytes[at] = (bytes[at] as number) ^ difference;
          const altered = {
            ...VECTOR.sealed_key,
            [name]: Buffer.from(bytes).toString('base64url'),
          };
          await assert.rejects(
            async () => open({ sealedKey: parseSealedKey(altered), recipientKey }),
            (error) => error instanceof OpenError || error instanceof FormatError,
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
