/** Copies of a key for several recipients: each opens for its own, and none can be exchanged. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Copies,
  decodeBase64Url,
  encodeBase64Url,
  headerRecipients,
  newRecipient,
  OpenError,
  open,
  parseRecipientKey,
  parseSealedKey,
  parseSealHeader,
  type RecipientKey,
  type SealedKey,
  type SealHeader,
  seal,
  sealHeaderBytes,
  sealHeaderOf,
  thumbprintOf,
} from '#sealing';
import { canonicalJson, encodeBase64, FormatError } from '#tlog';
import { contentOf } from './order.ts';

const DELIVERY = {
  id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60',
  context: encodeBase64(new Uint8Array(32)),
};

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/sealing/several.json', import.meta.url), 'utf8'),
);

const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

let keys: readonly [RecipientKey, RecipientKey];
let thumbprints: readonly string[];
let copies: readonly SealedKey[];

function sealedTo(recipient: RecipientKey, bound: Copies): Promise<SealedKey> {
  return seal({ ...recipient, ...contentOf(), copies: bound }).then(({ sealedKey }) => sealedKey);
}

before(async () => {
  keys = [await newRecipient(), await newRecipient('ML-KEM-1024')];
  thumbprints = await Promise.all(
    keys.map(async ({ publicKey }) => encodeBase64(await thumbprintOf(publicKey))),
  );
  const bound = { recipients: thumbprints, delivery: null };
  copies = await Promise.all(keys.map((recipient) => sealedTo(recipient, bound)));
});

describe('a sealed copy of a key', () => {
  it('opens for its recipient to the same content, and names all recipients', async () => {
    for (const [i, recipientKey] of keys.entries()) {
      const opened = await open({ sealedKey: copies[i] as SealedKey, recipientKey });
      assert.deepEqual(opened.key, contentOf().key);
      assert.deepEqual(opened.opening, contentOf().opening);
      assert.deepEqual(headerRecipients(opened.header), thumbprints);
    }
    await assert.rejects(open({ sealedKey: copies[1] as SealedKey, recipientKey: keys[0] }), {
      name: 'OpenError',
    });
  });

  it('states in its header who can open it', () => {
    const { header } = contentOf();
    assert.equal(
      utf8(decodeBase64Url(copies[0]?.header ?? '')),
      '{"aead_id":2,"delivery":null,"kdf_id":1,"kem_id":25722' +
        `,"key_commitment":"${header.key_commitment}","key_id":"${header.key_id}"` +
        `,"recipients":["${thumbprints[0]}","${thumbprints[1]}"]` +
        ',"security_level":256,"service":"keys.example.com/log"' +
        `,"thumbprint":"${thumbprints[0]}","time":"${header.time}"` +
        ',"type":"phm-sealed-key/v2"}',
    );
  });

  it('does not open under a header of the other type, or with another member', async () => {
    const [copy] = copies as [SealedKey];
    const header = sealHeaderOf(copy);
    const third = encodeBase64(createHash('sha256').update('third').digest());
    const { recipients: _, delivery: __, ...facts } = header as SealHeader & Copies;
    for (const other of [
      { ...facts, type: 'phm-sealed-key/v1' },
      { ...header, recipients: thumbprints.toReversed() },
      { ...header, recipients: [...thumbprints, third] },
      { ...header, recipients: [thumbprints[0], third] },
      { ...header, delivery: DELIVERY },
    ]) {
      const sealedKey = { ...copy, header: encodeBase64Url(sealHeaderBytes(other as SealHeader)) };
      await assert.rejects(
        open({ sealedKey, recipientKey: keys[0] }),
        (error) => error instanceof OpenError && /was altered/.test(error.message),
      );
    }
  });

  it('for one recipient needs a delivery', async () => {
    const recipients = thumbprints.slice(0, 1);
    const delivered = await sealedTo(keys[0], { recipients, delivery: DELIVERY });
    const opened = await open({ sealedKey: parseSealedKey(delivered), recipientKey: keys[0] });
    assert.deepEqual(opened.header, sealHeaderOf(delivered));
    const alone = await sealedTo(keys[0], { recipients, delivery: null });
    assert.throws(() => parseSealedKey(alone), {
      name: 'FormatError',
      message: 'the header names 1 recipient instead of 2 to 8',
    });
  });
});

describe('the header of a sealed copy', () => {
  const parse = (header: object) =>
    parseSealHeader(new Uint8Array(Buffer.from(canonicalJson(header as never))));

  it('is refused with too many or equal recipients, without the own one, or of another form', () => {
    const header = sealHeaderOf(copies[0] as SealedKey);
    const many = Array.from({ length: 9 }, (_, i) => encodeBase64(new Uint8Array(32).fill(i)));
    const [own, other] = thumbprints as [string, string];
    for (const [change, message] of [
      [{ recipients: [] }, 'the header names 0 recipients instead of 2 to 8'],
      [{ recipients: [own] }, 'the header names 1 recipient instead of 2 to 8'],
      [{ recipients: many }, 'recipients: expected a list of at most 8, got a list of 9'],
      [{ recipients: [own, other, own] }, 'the header names one recipient twice'],
      [{ recipients: [other, many[0]] }, 'the header does not name its own recipient among all'],
      [{ recipients: [own, 'AA=='] }, /^an item of recipients: expected base64/],
      [{ recipients: own }, /^recipients: expected a list of at most 8/],
      [{ delivery: {} }, 'delivery has no member "id"'],
      [{ delivery: { ...DELIVERY, id: DELIVERY.id.toUpperCase() } }, /^id: expected a UUID in/],
      [{ delivery: { ...DELIVERY, context: 'AA==' } }, /^context: expected base64/],
      [{ more: 1 }, 'the header has an unknown member "more"'],
      [
        { type: 'phm-sealed-key/v3' },
        'type: expected "phm-sealed-key/v1" or "phm-sealed-key/v2", got "phm-sealed-key/v3"',
      ],
      [{ type: null }, /^type: expected "phm-sealed-key\/v1" or .*, got null$/],
    ] as const) {
      assert.throws(() => parse({ ...header, ...change }), { name: 'FormatError', message });
    }
    for (const name of ['recipients', 'delivery'] as const) {
      const { [name]: _, ...rest } = header as SealHeader & Copies;
      assert.throws(() => parse(rest), { message: `the header has no member "${name}"` });
    }
  });

  it('of eight recipients with the longest origin is within the limit', async () => {
    const recipients = Array.from({ length: 8 }, (_, i) =>
      encodeBase64(new Uint8Array(32).fill(i)),
    );
    const header = {
      ...sealHeaderOf(copies[0] as SealedKey),
      // No character of UTF-16 takes more bytes in JSON.
      service: '\u4e00'.repeat(255),
      key_id: `phm_${'9'.repeat(39)}`,
      recipients,
      thumbprint: recipients[7],
      delivery: DELIVERY,
    };
    assert.deepEqual(parse(header), header);
    assert.equal(Buffer.byteLength(canonicalJson(header as never)), 1_588);
  });

  it('is read as it was written, whatever it names', () => {
    const thumbprint = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeBase64);
    const delivery = fc.option(
      fc.record({ id: fc.uuid(), context: fc.option(thumbprint) }, { noNullPrototype: true }),
    );
    const named = fc.tuple(
      fc.uniqueArray(thumbprint, { minLength: 1, maxLength: 8 }),
      delivery,
      fc.nat(),
    );
    const like = sealHeaderOf(copies[0] as SealedKey);
    fc.assert(
      fc.property(named, ([recipients, delivery, place]) => {
        const own = recipients[place % recipients.length];
        const header = { ...like, recipients, delivery, thumbprint: own } as SealHeader;
        if (recipients.length > 1 || delivery !== null) {
          assert.deepEqual(parseSealHeader(sealHeaderBytes(header)), header);
        } else assert.throws(() => parseSealHeader(sealHeaderBytes(header)), FormatError);
      }),
    );
  });
});

describe("copies that Go's crypto/hpke sealed", () => {
  for (const { content, recipients, delivery, copies: sealed } of VECTORS) {
    it(`open, for ${recipients.length} and ${delivery ? 'a' : 'no'} delivery`, async () => {
      for (const { recipient_key, sealed_key, sealed_digest } of sealed) {
        const recipientKey = parseRecipientKey(JSON.stringify(recipient_key));
        const opened = await open({ sealedKey: parseSealedKey(sealed_key), recipientKey });
        assert.equal(Buffer.from(opened.key).toString('hex'), content.key);
        assert.equal(encodeBase64(opened.opening), content.opening);
        assert.equal(opened.hashProof, content.hash_proof);
        assert.equal(encodeBase64(opened.digest), sealed_digest);
        assert.deepEqual(headerRecipients(opened.header), recipients);
        assert.deepEqual('delivery' in opened.header && opened.header.delivery, delivery);
      }
    });
  }
});
