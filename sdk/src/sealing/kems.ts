/**
 * The KEMs of sealed keys: of the Web Crypto API where the platform has them, as Node from 26 on, and of
 * `@noble/post-quantum` elsewhere, which is loaded only then.
 */
import { findSubtle } from '../web-crypto.ts';
import { isUnsupported, type Kems, SEAL_SUITES, type SealSuite } from './formats.ts';

/** Runs `work` with the KEMs of the platform, and again with those of noble if the platform lacks one. */
export async function withKems<T>(work: (kems?: Kems) => Promise<T>): Promise<T> {
  findSubtle();
  try {
    return await work();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
  return work(await loadNobleKems());
}

/** A KEM of noble, as both of ours are. */
interface NobleKem {
  /** Derives a key pair from the seed. */
  keygen(seed: Uint8Array): { readonly publicKey: Uint8Array; readonly secretKey: Uint8Array };
  encapsulate(publicKey: Uint8Array): {
    readonly cipherText: Uint8Array;
    readonly sharedSecret: Uint8Array;
  };
  decapsulate(enc: Uint8Array, secretKey: Uint8Array): Uint8Array;
}

/** A key in the form that `hpke` passes around. `bytes` is the raw public key, or the seed. */
interface RawKey {
  readonly type: 'public' | 'private';
  readonly algorithm: { readonly name: string };
  readonly extractable: true;
  readonly bytes: Uint8Array;
}

export async function loadNobleKems(): Promise<Kems> {
  const [{ ml_kem1024: mlKem1024 }, { ml_kem768_x25519: xWing }] = await Promise.all([
    import('@noble/post-quantum/ml-kem.js'),
    import('@noble/post-quantum/hybrid.js'),
  ]);
  const kem = (name: SealSuite['name'], noble: NobleKem) => {
    const suite = SEAL_SUITES.find((one) => one.name === name) as SealSuite;
    const made = kemOf(suite, noble);
    return () => made;
  };
  return {
    'MLKEM768-X25519': kem('MLKEM768-X25519', xWing),
    'ML-KEM-1024': kem('ML-KEM-1024', mlKem1024),
  };
}

/** Returns a KEM of noble behind the interface of `hpke`. */
function kemOf(suite: SealSuite, noble: NobleKem) {
  const keyOf = (type: RawKey['type'], bytes: Uint8Array): RawKey => ({
    type,
    algorithm: { name: suite.name },
    extractable: true,
    bytes: bytes.slice(),
  });
  return {
    type: 'KEM' as const,
    id: suite.kemId,
    name: suite.name,
    Nsecret: 32,
    Nenc: suite.encBytes,
    Npk: suite.publicKeyBytes,
    Nsk: suite.privateKeyBytes,
    GenerateKeyPair: async () => {
      const seed = crypto.getRandomValues(new Uint8Array(suite.privateKeyBytes));
      const { publicKey, secretKey } = noble.keygen(seed);
      const pair = { publicKey: keyOf('public', publicKey), privateKey: keyOf('private', seed) };
      seed.fill(0);
      secretKey.fill(0);
      return pair;
    },
    DeriveKeyPair: async () => {
      throw new TypeError('sealed keys derive no key pair from other secrets');
    },
    SerializePublicKey: async ({ bytes }: RawKey) => bytes.slice(),
    DeserializePublicKey: async (bytes: Uint8Array) => keyOf('public', bytes),
    SerializePrivateKey: async ({ bytes }: RawKey) => bytes.slice(),
    DeserializePrivateKey: async (bytes: Uint8Array) => keyOf('private', bytes),
    Encap: async ({ bytes }: RawKey) => {
      const { cipherText, sharedSecret } = noble.encapsulate(bytes);
      return { enc: cipherText, shared_secret: sharedSecret };
    },
    Decap: async (enc: Uint8Array, { bytes }: RawKey) => {
      const seed = bytes.slice();
      const { secretKey } = noble.keygen(seed);
      try {
        return noble.decapsulate(enc, secretKey);
      } finally {
        seed.fill(0);
        secretKey.fill(0);
      }
    },
  };
}
