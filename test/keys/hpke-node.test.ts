/** The parts of HPKE over `node:crypto` give the results of published vectors, and of the Web Crypto API. */
import assert from 'node:assert/strict';
import {
  createPrivateKey,
  createPublicKey,
  decapsulate,
  diffieHellman,
  hash,
  hkdfSync,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { KDF_HKDF_SHA256, KDF_HKDF_SHA512 } from 'hpke';
import { newRecipient, open, SEAL_SUITES, Sealer } from '#sealing';
import { AES_256_GCM, combineXWing, hkdf, NODE_PRIMITIVES } from '../../src/keys/hpke-node.ts';
import { contentOf } from '../sealing/order.ts';

const VECTORS: readonly Record<string, string>[] = JSON.parse(
  readFileSync(new URL('../vectors/sealing/hpke-pq.json', import.meta.url), 'utf8'),
);
const X_WING = VECTORS.filter(({ kem_id: id }) => Number(id) === 0x647a);

function bytes(hex = ''): Buffer {
  return Buffer.from(hex, 'hex');
}

describe('HPKE over node:crypto', () => {
  it('combines the secrets of X-Wing as draft-ietf-hpke-pq, test vectors, do', () => {
    assert.ok(X_WING.length > 0);
    for (const { skRm, pkRm, enc, shared_secret: expected } of X_WING) {
      const seeds = hash('shake256', bytes(skRm), { outputEncoding: 'buffer', outputLength: 96 });
      const [seedM, seedX] = [seeds.subarray(0, 64), seeds.subarray(64)];
      const keyM = createPrivateKey({
        key: seedM,
        format: 'raw-seed',
        asymmetricKeyType: 'ml-kem-768',
      });
      const keyX = createPrivateKey({
        key: seedX,
        format: 'raw-private',
        asymmetricKeyType: 'x25519',
      });
      const [ctM, ctX] = [bytes(enc).subarray(0, -32), bytes(enc).subarray(-32)];
      const sender = createPublicKey({
        key: ctX,
        format: 'raw-public',
        asymmetricKeyType: 'x25519',
      });
      const secret = combineXWing(
        decapsulate(keyM, ctM),
        diffieHellman({ privateKey: keyX, publicKey: sender }),
        ctX,
        bytes(pkRm).subarray(-32),
      );
      assert.equal(secret.toString('hex'), expected);
    }
  });

  for (const [kdf, web, digest] of [
    [hkdf(1, 'sha256', 32), KDF_HKDF_SHA256(), 'sha256'],
    [hkdf(3, 'sha512', 64), KDF_HKDF_SHA512(), 'sha512'],
  ] as const) {
    it(`extracts and expands as the library and as RFC 5869: ${kdf.name}`, async () => {
      assert.deepEqual([kdf.id, kdf.name, kdf.Nh, kdf.stages], [web.id, web.name, web.Nh, 2]);
      const [ikm, info] = [Buffer.alloc(100, 7), Buffer.from('context')];
      for (const salt of [Buffer.alloc(0), Buffer.alloc(kdf.Nh, 3)]) {
        const prk = await kdf.Extract(salt, ikm);
        assert.deepEqual(Buffer.from(await web.Extract(salt, ikm)), prk);
        for (const length of [1, 12, 32, kdf.Nh, kdf.Nh + 1, 3 * kdf.Nh]) {
          const expanded = await kdf.Expand(prk, info, length);
          assert.deepEqual(Buffer.from(await web.Expand(prk, info, length)), expanded);
          assert.deepEqual(Buffer.from(hkdfSync(digest, ikm, salt, info, length)), expanded);
        }
      }
    });
  }

  for (const { name } of SEAL_SUITES) {
    it(`seals what the Web Crypto API opens, each time with another enc: ${name}`, async () => {
      const recipientKey = await newRecipient(name);
      const sealer = await Sealer.to(recipientKey, NODE_PRIMITIVES);
      const encs = new Set<string>();
      for (const bits of [128, 256, 384] as const) {
        const content = contentOf(bits);
        const { sealedKey, digest } = await sealer.seal(content);
        const opened = await open({ sealedKey, recipientKey });
        assert.deepEqual(opened.key, content.key);
        assert.deepEqual(opened.opening, content.opening);
        assert.deepEqual(Buffer.from(opened.digest), digest);
        encs.add(sealedKey.enc);
      }
      assert.equal(encs.size, 3);
    });

    it(`has no private keys: ${name}`, async () => {
      const suite = NODE_PRIMITIVES.cipherSuite(name);
      await assert.rejects(suite.GenerateKeyPair(true), /this suite only seals/);
    });
  }

  it('does not open', async () => {
    const nothing = new Uint8Array();
    await assert.rejects(AES_256_GCM.Open(nothing, nothing, nothing, nothing), TypeError);
  });
});
