/** Sealed keys: what is sealed opens, and nothing else does. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import {
  AEAD_AES_256_GCM,
  CipherSuite,
  KDF_HKDF_SHA256,
  KEM_ML_KEM_1024,
  KEM_MLKEM768_X25519,
} from 'hpke';
import {
  decodeBase64Url,
  encodeBase64Url,
  newRecipient,
  OpenError,
  open,
  parseRecipientKey,
  parseSealedKey,
  parseSealHeader,
  type RecipientKey,
  SEAL_SUITES,
  type SealedKey,
  type SealSuiteName,
  seal,
  sealHeaderBytes,
  thumbprintOf,
} from '#sealing';
import { canonicalJson, encodeBase64, FormatError } from '#tlog';
import { contentOf } from './order.ts';
import { repeating } from './repeating-kem.ts';

const NAMES = SEAL_SUITES.map(({ name }) => name);
const DEFAULT: SealSuiteName = 'MLKEM768-X25519';

const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

/** Seals any plaintext to a recipient with the fixed header, as only a faulty or malicious service would. */
async function sealText(
  recipient: RecipientKey,
  plaintext: string,
  like: SealedKey,
): Promise<SealedKey> {
  const suite = new CipherSuite(KEM_MLKEM768_X25519, KDF_HKDF_SHA256, AEAD_AES_256_GCM);
  const aad = decodeBase64Url(like.header);
  const headerHash = createHash('sha256').update(aad).digest();
  const { encapsulatedSecret, ciphertext } = await suite.Seal(
    await suite.DeserializePublicKey(recipient.publicKey),
    new Uint8Array(Buffer.from(plaintext)),
    {
      info: new Uint8Array(Buffer.concat([Buffer.from('phm/seal/v1\0'), headerHash])),
      aad: new Uint8Array(aad),
    },
  );
  return {
    ...like,
    enc: encodeBase64Url(encapsulatedSecret),
    ciphertext: encodeBase64Url(ciphertext),
  };
}

describe('a sealed key', () => {
  const recipients = new Map<SealSuiteName, RecipientKey>();
  const recipientOf = (suite: SealSuiteName) => recipients.get(suite) as RecipientKey;

  before(async () => {
    for (const name of NAMES) recipients.set(name, await newRecipient(name));
  });

  for (const suite of NAMES) {
    for (const bits of [128, 256, 384] as const) {
      it(`opens to key, opening and proof: ${suite}, ${bits} bits`, async () => {
        const recipientKey = recipientOf(suite);
        const content = contentOf(bits);
        const { sealedKey, thumbprint, digest } = await seal({ ...recipientKey, ...content });
        const opened = await open({
          sealedKey: parseSealedKey(JSON.parse(JSON.stringify(sealedKey))),
          recipientKey,
        });
        assert.deepEqual(
          { key: opened.key, opening: opened.opening, hashProof: opened.hashProof },
          { key: content.key, opening: content.opening, hashProof: content.hashProof },
        );
        assert.deepEqual(opened.digest, digest);
        assert.deepEqual(thumbprint, await thumbprintOf(recipientKey.publicKey));
        const parts = [sealedKey.enc, sealedKey.ciphertext].map(decodeBase64Url);
        const hash = createHash('sha256').update(Buffer.concat(parts)).digest();
        assert.deepEqual(Buffer.from(digest), hash);
      });
    }

    it(`states in its header what it is: ${suite}`, async () => {
      const recipientKey = recipientOf(suite);
      const content = contentOf();
      const { sealedKey, thumbprint } = await seal({ ...recipientKey, ...content });
      const ids = suite === DEFAULT ? [25722, 1, 2] : [66, 3, 2];
      const [kem_id, kdf_id, aead_id] = ids;
      assert.deepEqual([sealedKey.kem_id, sealedKey.kdf_id, sealedKey.aead_id], ids);
      assert.equal(
        utf8(decodeBase64Url(sealedKey.header)),
        `{"aead_id":${aead_id},"kdf_id":${kdf_id},"kem_id":${kem_id}` +
          `,"key_commitment":"${content.header.key_commitment}","key_id":"${content.header.key_id}"` +
          `,"security_level":256,"service":"keys.example.com/log"` +
          `,"thumbprint":"${encodeBase64(thumbprint)}","time":"${content.header.time}"` +
          ',"type":"phm-sealed-key/v1"}',
      );
    });

    it(`does not open after any change: ${suite}`, async () => {
      const recipientKey = recipientOf(suite);
      const { sealedKey } = await seal({ ...recipientKey, ...contentOf() });
      const flip = (text: string, at: number) => {
        const bytes = decodeBase64Url(text);
        bytes[at < 0 ? bytes.length + at : at] = (bytes.at(at) as number) ^ 1;
        return encodeBase64Url(bytes);
      };
      const header = parseSealHeader(decodeBase64Url(sealedKey.header));
      const later = { ...header, time: header.time.replace('2026', '2027') };
      for (const change of [
        { enc: flip(sealedKey.enc, 0) },
        { enc: flip(sealedKey.enc, -1) },
        { ciphertext: flip(sealedKey.ciphertext, 0) },
        { ciphertext: flip(sealedKey.ciphertext, -1) },
        { header: encodeBase64Url(sealHeaderBytes(later)) },
      ]) {
        await assert.rejects(
          open({ sealedKey: { ...sealedKey, ...change }, recipientKey }),
          (error) => error instanceof OpenError && /was altered/.test(error.message),
        );
      }
    });
  }

  it('shares no key stream with another one, even if the platform repeats an encapsulation', async () => {
    const recipientKey = recipientOf(DEFAULT);
    const kems = {
      'MLKEM768-X25519': repeating(KEM_MLKEM768_X25519),
      'ML-KEM-1024': KEM_ML_KEM_1024,
    };
    const content = contentOf();
    const key_commitment = encodeBase64(new Uint8Array(32));
    const other = { ...content, header: { ...content.header, key_commitment } };
    const first = await seal({ ...recipientKey, ...content }, kems);
    const second = await seal({ ...recipientKey, ...other }, kems);
    assert.equal(first.sealedKey.enc, second.sealedKey.enc);
    // Both plaintexts are the same. Under one key and nonce, so are the ciphertexts without the tag.
    const [a, b] = [first, second].map(({ sealedKey }) => decodeBase64Url(sealedKey.ciphertext));
    assert.notDeepEqual(a?.subarray(0, -16), b?.subarray(0, -16));
  });

  it('is refused for another recipient, suite or private key, in one sentence each', async () => {
    const recipientKey = recipientOf(DEFAULT);
    const { sealedKey } = await seal({ ...recipientKey, ...contentOf() });
    const other = await newRecipient(DEFAULT);
    await assert.rejects(open({ sealedKey, recipientKey: other }), {
      name: 'OpenError',
      message:
        /^The key is sealed to another recipient: its thumbprint is \S+=, and yours is \S+=\.$/,
    });
    await assert.rejects(open({ sealedKey, recipientKey: recipientOf('ML-KEM-1024') }), {
      message: 'The key is sealed with MLKEM768-X25519, and this recipient key is for ML-KEM-1024.',
    });
    const mixed = { ...recipientKey, privateKey: other.privateKey };
    await assert.rejects(open({ sealedKey, recipientKey: mixed }), { message: /was altered, or/ });
    const short = { ...recipientKey, privateKey: other.privateKey.subarray(1) };
    await assert.rejects(open({ sealedKey, recipientKey: short }), { message: /was altered, or/ });
  });

  it('leaves no copy of its secrets when its commitment is checked', async (t) => {
    const recipientKey = recipientOf(DEFAULT);
    const { sealedKey } = await seal({ ...recipientKey, ...contentOf() });
    const importKey = t.mock.method(crypto.subtle, 'importKey');
    const verify = t.mock.method(crypto.subtle, 'verify');
    const { key, opening } = await open({ sealedKey, recipientKey });
    assert.deepEqual(opening, contentOf().opening);
    for (const secret of [key, opening]) secret.fill(0);
    const [hmacKey, message] = [
      importKey.mock.calls.at(-1)?.arguments[1],
      verify.mock.calls[0]?.arguments[3],
    ];
    for (const bytes of [hmacKey, message] as Uint8Array[]) {
      assert.ok(bytes.length >= 32 && bytes.every((byte) => byte === 0));
    }
  });

  it('is refused if its commitment is of another key', async () => {
    const recipientKey = recipientOf(DEFAULT);
    for (const change of [
      { key: Uint8Array.from({ length: 32 }, () => 1) },
      { opening: new Uint8Array(32) },
    ]) {
      const { sealedKey } = await seal({ ...recipientKey, ...contentOf(), ...change });
      await assert.rejects(open({ sealedKey, recipientKey }), {
        name: 'OpenError',
        message:
          'The key inside is not the one of the header: its key_commitment is of another key.',
      });
    }
  });

  it('is refused unless its plaintext has exactly the documented form', async () => {
    const recipientKey = recipientOf(DEFAULT);
    const content = contentOf();
    const { sealedKey } = await seal({ ...recipientKey, ...content });
    const key = Buffer.from(content.key).toString('hex');
    const opening = encodeBase64(content.opening);
    const good = canonicalJson({ hash_proof: content.hashProof, key, opening });
    const opened = await open({
      sealedKey: await sealText(recipientKey, good, sealedKey),
      recipientKey,
    });
    assert.deepEqual(opened.key, content.key);
    for (const wrong of [
      '',
      '{}',
      good.slice(0, -1),
      `${good} `,
      good.replace(key, key.toUpperCase()),
      good.replace(key, key.slice(2)),
      good.replace(key, `${key}00`),
      good.replace(key, `g${key.slice(1)}`),
      good.replace(opening, opening.replace(/=$/, '')),
      good.replace(opening, `${opening.slice(0, -2)}9=`),
      good.replace(opening, `${opening.slice(0, -2)}!=`),
      good.replace('"opening"', '"Opening"'),
      good.replace(content.hashProof, ''),
      good.replace(content.hashProof, 'a\\u0020'),
      good.replace(content.hashProof, 'a'.repeat(600)),
      good.replace(content.hashProof, `\ufeff${content.hashProof}`),
      good.replaceAll('":"', '": "'),
      canonicalJson({ a: '', hash_proof: content.hashProof, key, opening }),
    ]) {
      assert.notEqual(wrong, good);
      await assert.rejects(
        sealText(recipientKey, wrong, sealedKey).then((sealedKey) =>
          open({ sealedKey, recipientKey }),
        ),
        (error) => error instanceof OpenError || (wrong === '' && error instanceof FormatError),
        wrong,
      );
    }
  });

  it('leaves the key and the opening to the caller, and refuses a key of another form', async () => {
    const recipientKey = recipientOf(DEFAULT);
    const content = contentOf();
    await seal({ ...recipientKey, ...content });
    assert.deepEqual(content.key, contentOf().key);
    for (const change of [
      { hashProof: 'a"' },
      { hashProof: '' },
      { opening: new Uint8Array(31) },
    ]) {
      await assert.rejects(seal({ ...recipientKey, ...content, ...change }), TypeError);
    }
  });
});

describe('a sealed key of test/vectors', () => {
  const file = new URL('../vectors/sealing/sealed-keys.json', import.meta.url);

  for (const { recipient_key, sealed_key, content, sealed_digest } of JSON.parse(
    readFileSync(file, 'utf8'),
  )) {
    it(`opens: ${sealed_key.suite}, ${content.key.length * 4} bits`, async () => {
      const recipientKey = parseRecipientKey(JSON.stringify(recipient_key));
      const opened = await open({ sealedKey: parseSealedKey(sealed_key), recipientKey });
      assert.equal(Buffer.from(opened.key).toString('hex'), content.key);
      assert.equal(encodeBase64(opened.opening), content.opening);
      assert.equal(opened.hashProof, content.hash_proof);
      assert.equal(encodeBase64(opened.digest), sealed_digest);
    });
  }
});

describe('parseSealedKey', () => {
  let sealedKey: SealedKey;

  before(async () => {
    ({ sealedKey } = await seal({ ...(await newRecipient()), ...contentOf() }));
  });

  it('refuses what is missing, unknown, too long or of another suite', () => {
    const header = parseSealHeader(decodeBase64Url(sealedKey.header));
    const headerWith = (change: object) =>
      encodeBase64Url(Buffer.from(canonicalJson({ ...header, ...change })));
    const { enc: _, ...withoutEnc } = sealedKey;
    for (const [wrong, message] of [
      [null, /the sealed key: expected a JSON object/],
      [withoutEnc, /the sealed key has no member "enc"/],
      [{ ...sealedKey, extra: 1 }, /unknown member "extra"/],
      [{ ...sealedKey, suite: 'X25519' }, /suite: expected "MLKEM768-X25519" or "ML-KEM-1024"/],
      [{ ...sealedKey, suite: 'ML-KEM-1024' }, /enc: expected base64url .* of 1568 bytes/],
      [{ ...sealedKey, kdf_id: 3 }, /the sealed key: expected the numbers of/],
      [{ ...sealedKey, kem_id: 66, kdf_id: 3 }, /got those of another suite/],
      [{ ...sealedKey, enc: `${sealedKey.enc}=` }, /^enc: /],
      [{ ...sealedKey, enc: 7 }, /^enc: expected text/],
      [{ ...sealedKey, ciphertext: 'AA' }, /^ciphertext: expected base64url/],
      [{ ...sealedKey, ciphertext: 'A'.repeat(100_000) }, /^ciphertext: expected base64url/],
      [{ ...sealedKey, header: 'A'.repeat(100_000) }, /^header: expected base64url/],
      [{ ...sealedKey, header: encodeBase64Url(Buffer.from('{a')) }, /^the header: expected JSON/],
      [
        { ...sealedKey, header: encodeBase64Url(Buffer.from(JSON.stringify(header, null, 1))) },
        /canonical JSON/,
      ],
      [
        { ...sealedKey, header: headerWith({ kem_id: 66, kdf_id: 3 }) },
        /the header: .* another suite/,
      ],
      [{ ...sealedKey, header: headerWith({ kem_id: 0x20 }) }, /the header: expected the numbers/],
      [{ ...sealedKey, header: headerWith({ type: 'phm-sealed-key/v3' }) }, /^type: expected/],
      [
        { ...sealedKey, header: headerWith({ type: 'phm-sealed-key/v2' }) },
        /^the header has no member "recipients"/,
      ],
      [
        { ...sealedKey, header: headerWith({ security_level: 512 }) },
        /^security_level: expected 128/,
      ],
      [{ ...sealedKey, header: headerWith({ thumbprint: '' }) }, /^thumbprint: expected base64/],
      [{ ...sealedKey, header: headerWith({ service: 'a b' }) }, /^service: expected the origin/],
      [{ ...sealedKey, header: headerWith({ key_id: 'phm_0' }) }, /^key_id: expected/],
      [{ ...sealedKey, header: headerWith({ more: null }) }, /unknown member "more"/],
    ] as const) {
      assert.throws(
        () => parseSealedKey(wrong),
        (error) => error instanceof FormatError && message.test(error.message),
        String(message),
      );
    }
  });

  it('accepts a service without a log', async () => {
    const content = contentOf();
    const recipientKey = await newRecipient();
    const header = { ...content.header, service: null };
    const sealed = await seal({ ...recipientKey, ...content, header });
    const opened = await open({ sealedKey: parseSealedKey(sealed.sealedKey), recipientKey });
    assert.equal(opened.header.service, null);
  });
});
