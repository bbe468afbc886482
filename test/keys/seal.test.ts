/** The last step of a sealed key: nothing of the key is left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEM_ML_KEM_1024, KEM_MLKEM768_X25519 } from 'hpke';
import { headerRecipients, newRecipient, open, parseSealedKey, Sealer, webCrypto } from '#sealing';
import { hexToBytes } from '../../src/bytes.ts';
import { formatKeyId } from '../../src/keys/key-id.ts';
import { commitToKey } from '../../src/keys/key-receipt.ts';
import type { GeneratedKey } from '../../src/keys/order.ts';
import { AlteredKeyError, RefusedRecipientError, sealerTo, sealKey } from '../../src/keys/seal.ts';
import { NO_DELIVERY, sealsOf } from '../../src/ledger/row-seals.ts';

const FACTS = {
  service: null,
  createdMs: 1_795_000_000_123,
  securityLevel: 256,
  delivery: NO_DELIVERY,
} as const;

const REFUSING_KEMS = {
  'MLKEM768-X25519': () => ({ ...KEM_MLKEM768_X25519(), Encap: () => Promise.reject(new Error()) }),
  'ML-KEM-1024': KEM_ML_KEM_1024,
} as const;

function generated(): GeneratedKey {
  const key = Buffer.alloc(32, 0xa5);
  const keyId = hexToBytes('019ad2f07c317b529a645e0f3f6f3c11');
  const keyIdText = formatKeyId(keyId);
  const sources = [{ name: 'os', creditBits: 256 }] as const;
  const { opening, receipt } = commitToKey(key, keyIdText, sources, true);
  return {
    keyId,
    keyIdText,
    key,
    opening,
    receipt,
    securityStrengthBits: 256,
    entropyBits: 256,
    entropyJobId: null,
    evidence: null,
    report: null,
    hashProof: 'phm_proof',
    commitment: { version: 1, digest: Buffer.alloc(32), fingerprint: 1n },
    otherCommitments: [],
    answerDigest: Buffer.alloc(16),
    latencyMs: 1,
  };
}

describe('sealKey', () => {
  it('seals the key with its facts, keeps the rest, and wipes key and opening', async () => {
    const recipientKey = await newRecipient();
    const order = generated();
    const material = await sealKey(order, [await sealerTo(recipientKey, 0)], FACTS);
    assert.ok([...order.key, ...(order.opening ?? [])].every((byte) => byte === 0));
    for (const secret of ['key', 'opening', 'hashProof']) assert.ok(!(secret in material), secret);
    assert.equal(material.receipt, order.receipt);
    assert.equal(material.sealedKeys.length, 1);
    const opened = await open({
      sealedKey: parseSealedKey(material.sealedKeys[0]),
      recipientKey,
    });
    assert.deepEqual(Buffer.from(opened.key), Buffer.alloc(32, 0xa5));
    assert.equal(opened.hashProof, 'phm_proof');
    assert.equal(opened.header.time, '2026-11-18T11:06:40.123+00:00');
    assert.equal(opened.header.key_id, 'phm_2133120071211010559770987629370096657');
    assert.equal(opened.header.service, null);
    assert.deepEqual(Buffer.from(opened.digest), material.seal.digest);
    assert.equal(material.seal.further, null);
  });

  it('wipes the key also if the KEM refuses the public key, or the key has no opening', async () => {
    const recipientKey = await newRecipient();
    const refusing = await Sealer.to(recipientKey, webCrypto(REFUSING_KEMS));
    const refused = generated();
    await assert.rejects(sealKey(refused, [refusing], FACTS), RefusedRecipientError);
    const { opening: _, ...rest } = generated();
    const closed = { ...rest, opening: null };
    await assert.rejects(sealKey(closed, [await sealerTo(recipientKey, 0)], FACTS), {
      name: 'TypeError',
      message: '"generated" expected a key with opening and commitment, got one without',
    });
    for (const { key } of [refused, closed]) assert.ok(key.every((byte) => byte === 0));
  });

  it('refuses to seal a plaintext that is not what was committed to, and wipes it', async () => {
    const sealer = await sealerTo(await newRecipient(), 0);
    const altered: readonly ((order: GeneratedKey) => GeneratedKey)[] = [
      (order) => {
        order.key[31] ^= 1;
        return order;
      },
      (order) => {
        assert.ok(order.opening);
        order.opening[0] ^= 1;
        return order;
      },
      (order) => ({ ...order, key: order.key.subarray(0, 16) }),
      (order) => ({ ...order, keyIdText: 'phm_1' }),
    ];
    for (const alter of altered) {
      const order = alter(generated());
      await assert.rejects(sealKey(order, [sealer], FACTS), AlteredKeyError);
      assert.ok([...order.key, ...(order.opening ?? [])].every((byte) => byte === 0));
    }
  });

  it('refuses to seal a plaintext with the proof of another key', async () => {
    const sealer = await sealerTo(await newRecipient(), 0);
    const faulty = Object.create(sealer, {
      seal: {
        value: (wish: Parameters<typeof sealer.seal>[0]) =>
          sealer.seal({ ...wish, hashProof: 'proof_1' }),
      },
    });
    await assert.rejects(sealKey(generated(), [faulty], FACTS), AlteredKeyError);
  });

  it('has no sealer to a public key that anyone can open', async () => {
    const { suite } = await newRecipient();
    await assert.rejects(
      sealerTo({ suite, publicKey: new Uint8Array(1216) }, 3),
      (error) => error instanceof RefusedRecipientError && error.index === 3,
    );
  });
});

describe('sealKey for several recipients', () => {
  it('seals one key to each, in order, and wipes it once', async () => {
    const recipients = [await newRecipient(), await newRecipient('ML-KEM-1024')];
    const sealers = await Promise.all(recipients.map((one, i) => sealerTo(one, i)));
    const order = generated();
    const { sealedKeys, seal } = await sealKey(order, sealers, FACTS);
    assert.ok([...order.key, ...(order.opening ?? [])].every((byte) => byte === 0));
    const seals = sealsOf(seal);
    for (const [i, recipientKey] of recipients.entries()) {
      const opened = await open({ sealedKey: parseSealedKey(sealedKeys[i]), recipientKey });
      assert.deepEqual(Buffer.from(opened.key), Buffer.alloc(32, 0xa5));
      assert.deepEqual(Buffer.from(opened.digest), Buffer.from(seals[i]?.digest ?? []));
      assert.deepEqual(
        headerRecipients(opened.header),
        seals.map((one) => Buffer.from(one.recipient).toString('base64')),
      );
    }
  });

  it('seals nothing if one refuses, and wipes the key', async () => {
    const refusing = await Sealer.to(await newRecipient(), webCrypto(REFUSING_KEMS));
    const order = generated();
    const sealers = [await sealerTo(await newRecipient(), 0), refusing];
    await assert.rejects(
      sealKey(order, sealers, FACTS),
      (error) => error instanceof RefusedRecipientError && error.index === 1,
    );
    assert.ok([...order.key, ...(order.opening ?? [])].every((byte) => byte === 0));
  });

  it('compares each plaintext with the commitment', async () => {
    const sealer = await sealerTo(await newRecipient(), 0);
    const faulty = Object.create(await sealerTo(await newRecipient(), 1), {
      seal: {
        value: (wish: Parameters<typeof sealer.seal>[0]) =>
          sealer.seal({ ...wish, key: Buffer.alloc(32) }),
      },
    });
    await assert.rejects(sealKey(generated(), [sealer, faulty], FACTS), AlteredKeyError);
  });
});
