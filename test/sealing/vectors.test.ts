/**
 * The published vectors of HPKE: draft-ietf-hpke-pq pins both KEMs and the key schedule, RFC 9180 pins the KDFs with
 * AES-256-GCM. They run through the Web Crypto API of this Node, whose ML-KEM is experimental: if it changes, they fail. Those
 * of RFC 9180 also run through the service's KDF and AEAD over `node:crypto`.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  AEAD_AES_128_GCM,
  AEAD_AES_256_GCM,
  AEAD_ChaCha20Poly1305,
  type AEADFactory,
  CipherSuite,
  KDF_HKDF_SHA256,
  KDF_HKDF_SHA384,
  KDF_HKDF_SHA512,
  KDF_SHAKE256,
  KDF_TurboSHAKE256,
  type KDFFactory,
  KEM_DHKEM_X25519_HKDF_SHA256,
  KEM_ML_KEM_1024,
  KEM_MLKEM768_X25519,
  type KEMFactory,
} from 'hpke';
import { AES_256_GCM, hkdf } from '../../src/keys/hpke-node.ts';

interface Vector {
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly info: string;
  readonly ikmR: string;
  readonly skRm: string;
  readonly pkRm: string;
  readonly enc: string;
  readonly shared_secret: string;
  readonly encryptions: readonly {
    readonly aad: string;
    readonly ct: string;
    readonly pt: string;
  }[];
  readonly exports: readonly {
    readonly exporter_context: string;
    readonly L: number;
    readonly exported_value: string;
  }[];
  readonly encryptions_accumulated: string;
}

const KEMS: Readonly<Record<number, KEMFactory>> = {
  32: KEM_DHKEM_X25519_HKDF_SHA256,
  66: KEM_ML_KEM_1024,
  25722: KEM_MLKEM768_X25519,
};
const KDFS: Readonly<Record<number, KDFFactory>> = {
  1: KDF_HKDF_SHA256,
  2: KDF_HKDF_SHA384,
  3: KDF_HKDF_SHA512,
  17: KDF_SHAKE256,
  19: KDF_TurboSHAKE256,
};
const AEADS: Readonly<Record<number, AEADFactory>> = {
  1: AEAD_AES_128_GCM,
  2: AEAD_AES_256_GCM,
  3: AEAD_ChaCha20Poly1305,
};

/** KDF and AEAD with which the service seals. */
const NODE_KDFS: Readonly<Record<number, KDFFactory>> = {
  1: () => hkdf(1, 'sha256', 32),
  3: () => hkdf(3, 'sha512', 64),
};

function readVectors(name: string): Vector[] {
  const file = new URL(`../vectors/sealing/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function numbers({ kem_id, kdf_id, aead_id }: Vector): string {
  return `KEM ${kem_id}, KDF ${kdf_id}, AEAD ${aead_id}`;
}

function find<T>(table: Readonly<Record<number, T>>, id: number): T {
  const found = table[id];
  assert.ok(found, `no algorithm ${id}`);
  return found;
}

/** A KEM whose encapsulation has the outcome of the vector: the platform draws its own random bytes. */
function fixedKem(vector: Vector): KEMFactory {
  return () => {
    const kem = find(KEMS, vector.kem_id)();
    const Encap = async () => {
      const secret = await kem.DeserializePrivateKey(bytes(vector.skRm), false);
      const pair = await kem.DeserializePublicKey(bytes(vector.pkRm));
      const enc = bytes(vector.enc);
      return { enc, shared_secret: await kem.Decap(enc, secret, pair) };
    };
    return Object.assign(kem, { Encap });
  };
}

function suiteOf(vector: Vector, kem = find(KEMS, vector.kem_id)): CipherSuite {
  return new CipherSuite(kem, find(KDFS, vector.kdf_id), find(AEADS, vector.aead_id));
}

/** Bytes of SHAKE128 of nothing, as the inputs of accumulated vectors: a length in one byte, then as many bytes. */
class Inputs {
  readonly #stream = createHash('shake128', { outputLength: 600_000 }).digest();
  #at = 0;

  next(): Uint8Array {
    const length = this.#stream[this.#at] as number;
    this.#at += 1 + length;
    return new Uint8Array(this.#stream.subarray(this.#at - length, this.#at));
  }
}

describe('draft-ietf-hpke-pq, test vectors', () => {
  const vectors = readVectors('hpke-pq');

  it('has vectors of both KEMs', () => {
    assert.deepEqual(vectors.map(numbers), [
      'KEM 66, KDF 2, AEAD 2',
      'KEM 25722, KDF 1, AEAD 3',
      'KEM 25722, KDF 17, AEAD 3',
      'KEM 66, KDF 19, AEAD 1',
    ]);
  });

  for (const vector of vectors) {
    it(`derives the key pair: ${numbers(vector)}`, async () => {
      const suite = suiteOf(vector);
      const pair = await suite.DeriveKeyPair(bytes(vector.ikmR), true);
      assert.equal(hex(await suite.SerializePrivateKey(pair.privateKey)), vector.skRm);
      assert.equal(hex(await suite.SerializePublicKey(pair.publicKey)), vector.pkRm);
    });

    it(`decapsulates, opens and exports: ${numbers(vector)}`, async () => {
      const kem = find(KEMS, vector.kem_id)();
      const key = await kem.DeserializePrivateKey(bytes(vector.skRm), false);
      assert.equal(hex(await kem.Decap(bytes(vector.enc), key, undefined)), vector.shared_secret);
      const suite = suiteOf(vector);
      const secret = await suite.DeserializePrivateKey(bytes(vector.skRm));
      const recipient = await suite.SetupRecipient(secret, bytes(vector.enc), {
        info: bytes(vector.info),
      });
      for (const { aad, ct, pt } of vector.encryptions) {
        assert.equal(hex(await recipient.Open(bytes(ct), bytes(aad))), pt);
      }
      for (const { exporter_context, L, exported_value } of vector.exports) {
        assert.equal(hex(await recipient.Export(bytes(exporter_context), L)), exported_value);
      }
    });

    it(`seals: ${numbers(vector)}`, async () => {
      const suite = suiteOf(vector, fixedKem(vector));
      const publicKey = await suite.DeserializePublicKey(bytes(vector.pkRm));
      const { encapsulatedSecret, ctx } = await suite.SetupSender(publicKey, {
        info: bytes(vector.info),
      });
      assert.equal(hex(encapsulatedSecret), vector.enc);
      for (const { aad, ct, pt } of vector.encryptions) {
        assert.equal(hex(await ctx.Seal(bytes(pt), bytes(aad))), ct);
      }
    });
  }
});

describe('RFC 9180, test vectors with AES-256-GCM', () => {
  const vectors = readVectors('rfc9180');

  it('has vectors of the KDF of each suite', () => {
    assert.deepEqual(vectors.map(numbers), ['KEM 32, KDF 1, AEAD 2', 'KEM 32, KDF 3, AEAD 2']);
  });

  for (const vector of vectors) {
    it(`seals and opens 1,000 messages: ${numbers(vector)}`, async () => {
      const suite = suiteOf(vector, fixedKem(vector));
      const info = bytes(vector.info);
      const publicKey = await suite.DeserializePublicKey(bytes(vector.pkRm));
      const { ctx } = await suite.SetupSender(publicKey, { info });
      const secret = await suite.DeserializePrivateKey(bytes(vector.skRm));
      const recipient = await suite.SetupRecipient(secret, bytes(vector.enc), { info });
      const inputs = new Inputs();
      const all = createHash('shake128', { outputLength: 16 });
      for (let i = 0; i < 1000; i++) {
        const aad = inputs.next();
        const plaintext = inputs.next();
        const ciphertext = await ctx.Seal(plaintext, aad);
        assert.deepEqual(await recipient.Open(ciphertext, aad), plaintext);
        all.update(ciphertext);
      }
      assert.equal(all.digest('hex'), vector.encryptions_accumulated);
    });

    it(`seals 1,000 messages by node:crypto: ${numbers(vector)}`, async () => {
      const kdf = find(NODE_KDFS, vector.kdf_id);
      const suite = new CipherSuite(fixedKem(vector), kdf, () => AES_256_GCM);
      const publicKey = await suite.DeserializePublicKey(bytes(vector.pkRm));
      const { ctx } = await suite.SetupSender(publicKey, { info: bytes(vector.info) });
      const inputs = new Inputs();
      const all = createHash('shake128', { outputLength: 16 });
      for (let i = 0; i < 1000; i++) {
        const aad = inputs.next();
        all.update(await ctx.Seal(inputs.next(), aad));
      }
      assert.equal(all.digest('hex'), vector.encryptions_accumulated);
    });
  }
});
