/** The startup test of sealing notices a platform that encapsulates or decapsulates wrongly. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEM_ML_KEM_1024, KEM_MLKEM768_X25519, type KEMFactory, NotSupportedError } from 'hpke';
import { webCrypto } from '#sealing';
import { requireSealSelfTest, sealSelfTest } from '../../src/keys/seal-self-test.ts';
import { repeating } from '../sealing/repeating-kem.ts';

const KEMS = { 'MLKEM768-X25519': KEM_MLKEM768_X25519, 'ML-KEM-1024': KEM_ML_KEM_1024 } as const;

/** Returns a KEM that decapsulates another secret. */
function faulty(factory: KEMFactory): KEMFactory {
  return () => ({ ...factory(), Decap: async () => new Uint8Array(32) });
}

describe('the startup test of sealing', () => {
  it('passes on this platform', () => requireSealSelfTest());

  it('fails if the platform repeats an encapsulation, as without randomness', async () => {
    const kems = { ...KEMS, 'ML-KEM-1024': repeating(KEM_ML_KEM_1024) };
    await assert.rejects(requireSealSelfTest(webCrypto(kems)), {
      message: 'self-test failed: sealing with ML-KEM-1024: an encapsulation was repeated',
    });
  });

  it('judges each suite by itself on demand', async () => {
    const kems = { ...KEMS, 'MLKEM768-X25519': faulty(KEM_MLKEM768_X25519) };
    const results = await sealSelfTest(undefined, kems);
    assert.deepEqual(
      results.map(({ name, passed }) => [name, passed]),
      [
        ['sealing with MLKEM768-X25519', false],
        ['sealing with ML-KEM-1024', true],
      ],
    );
  });

  it('skips a suite that the platform lacks', async () => {
    const lacking: KEMFactory = () => ({
      ...KEM_ML_KEM_1024(),
      GenerateKeyPair: async () => {
        throw new NotSupportedError('no ML-KEM here');
      },
    });
    const results = await sealSelfTest(undefined, { ...KEMS, 'ML-KEM-1024': lacking });
    assert.deepEqual(
      results.map(({ passed, skipped }) => [passed, skipped]),
      [
        [true, false],
        [false, true],
      ],
    );
  });

  it('fails if what is sealed does not open', async () => {
    const kems = { ...KEMS, 'MLKEM768-X25519': faulty(KEM_MLKEM768_X25519) };
    await assert.rejects(requireSealSelfTest(undefined, kems), {
      message: /^self-test failed: sealing with MLKEM768-X25519: The sealed key does not open/,
    });
  });
});
