/**
 * HPKE's suites for sealing, over `node:crypto` (RFC 9180 §4; draft-ietf-hpke-pq).
 *
 * The Web Crypto API runs each of the 20 steps of a seal as a job in a thread pool: 0.7 ms a key, four times the work
 * itself (docs/operations.md#sizing). Here each step is a call. `hpke` still schedules the keys. These suites only seal:
 * their results are compared with the Web Crypto API's, which opens them, at startup and in the tests.
 */
import {
  createCipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  encapsulate,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto';
import { type AEAD, CipherSuite, type KDF, type KEM, type Key, NotSupportedError } from 'hpke';
import { type Primitives, SEAL_SUITES, type SealSuite, type SealSuiteName } from '#sealing';
import { concatBytes, wipe } from '../bytes.ts';

/** A public key in the form that `hpke` passes around. */
interface PublicKey extends Key {
  readonly type: 'public';
  /** Public key of ML-KEM. */
  readonly mlKem: KeyObject;
  /** X25519's public key and its 32 bytes; null in a suite of ML-KEM alone. */
  readonly x25519: { readonly key: KeyObject; readonly bytes: Uint8Array } | null;
}

interface Encapsulated {
  readonly shared_secret: Uint8Array;
  readonly enc: Uint8Array;
}

const X25519_BYTES = 32;

/** draft-connolly-cfrg-xwing-kem §5.3: the label of the combiner. */
const X_WING_LABEL = Buffer.from('5c2e2f2f5e5c', 'hex');

/** What seals in this service. */
export const NODE_PRIMITIVES: Primitives = { cipherSuite, sha256 };

/** Suites by name. Each is made once, because the library checks its parts. */
const made = new Map<SealSuiteName, CipherSuite>();

function cipherSuite(name: SealSuiteName): CipherSuite {
  const known = made.get(name);
  if (known) return known;
  const suite = SEAL_SUITES.find((one) => one.name === name) as SealSuite;
  const hybrid = name === 'MLKEM768-X25519';
  const kdf = hkdf(suite.kdfId, hybrid ? 'sha256' : 'sha512', hybrid ? 32 : 64);
  const cipher = new CipherSuite(
    () => senderKem(suite),
    () => kdf,
    () => AES_256_GCM,
  );
  made.set(name, cipher);
  return cipher;
}

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  return hash(
    'sha256',
    parts.length === 1 ? (parts[0] as Uint8Array) : concatBytes(...parts),
    'buffer',
  );
}

/** HKDF (RFC 5869), as RFC 9180 §4 uses it. `hashBytes` is its Nh. */
export function hkdf(id: number, digest: 'sha256' | 'sha512', hashBytes: number): KDF {
  const hmac = (key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer => {
    const mac = createHmac(digest, key);
    for (const part of parts) mac.update(part);
    return mac.digest();
  };
  return {
    id,
    type: 'KDF',
    name: `HKDF-${digest.toUpperCase()}`,
    Nh: hashBytes,
    stages: 2,
    // RFC 5869 §2.2: an empty salt is zeros of the hash's length, which HMAC pads an empty key with.
    Extract: async (salt, ikm) => hmac(salt, ikm),
    Expand: async (prk, info, length) => {
      const blocks: Buffer[] = [];
      for (let i = 1; i <= Math.ceil(length / hashBytes); i++) {
        blocks.push(hmac(prk, blocks.at(-1) ?? NOTHING, info, Uint8Array.of(i)));
      }
      return Buffer.concat(blocks).subarray(0, length);
    },
    Derive: notHere,
  };
}

const NOTHING = new Uint8Array();

/** AES-256-GCM (RFC 9180 §7.3), whose tag ends the ciphertext. */
export const AES_256_GCM: AEAD = {
  id: 2,
  type: 'AEAD',
  name: 'AES-256-GCM',
  Nk: 32,
  Nn: 12,
  Nt: 16,
  Seal: async (key, nonce, aad, plaintext) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(aad);
    return concatBytes(cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
  },
  Open: notHere,
};

/** Returns a KEM that encapsulates. It has no private keys. */
function senderKem({
  name,
  kemId,
  publicKeyBytes,
  encBytes,
  privateKeyBytes,
}: SealSuite): KEM<PublicKey> {
  return {
    id: kemId,
    type: 'KEM',
    name,
    Nsecret: 32,
    Nenc: encBytes,
    Npk: publicKeyBytes,
    Nsk: privateKeyBytes,
    DeserializePublicKey: async (bytes) => readPublicKey(name, bytes),
    Encap: async (publicKey) => encapsulateTo(publicKey),
    DeriveKeyPair: notHere,
    GenerateKeyPair: notHere,
    SerializePublicKey: notHere,
    SerializePrivateKey: notHere,
    DeserializePrivateKey: notHere,
    Decap: notHere,
  };
}

/** These suites have a sender only. */
async function notHere(): Promise<never> {
  throw new TypeError('this suite only seals');
}

/** Reads a public key that `publicKeyProblem` passed, so that only a platform without ML-KEM refuses it. */
function readPublicKey(name: SealSuiteName, bytes: Uint8Array): PublicKey {
  const common = { type: 'public', algorithm: { name }, extractable: true } as const;
  try {
    if (name === 'ML-KEM-1024')
      return { ...common, mlKem: rawKey('ml-kem-1024', bytes), x25519: null };
    const point = bytes.subarray(-X25519_BYTES);
    return {
      ...common,
      mlKem: rawKey('ml-kem-768', bytes.subarray(0, -X25519_BYTES)),
      x25519: { key: rawKey('x25519', point), bytes: point },
    };
  } catch (cause) {
    throw new NotSupportedError(`${name} is unsupported in this runtime`, { cause });
  }
}

function rawKey(
  asymmetricKeyType: 'ml-kem-768' | 'ml-kem-1024' | 'x25519',
  key: Uint8Array,
): KeyObject {
  return createPublicKey({ key: Buffer.from(key), format: 'raw-public', asymmetricKeyType });
}

function encapsulateTo({ mlKem, x25519 }: PublicKey): Encapsulated {
  const { sharedKey, ciphertext } = encapsulate(mlKem);
  if (!x25519) return { shared_secret: sharedKey, enc: ciphertext };
  const secrets = [sharedKey];
  try {
    const ephemeral = generateKeyPairSync('x25519');
    const ciphertextX = ephemeral.publicKey.export({ format: 'raw-public' });
    const secretX = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: x25519.key });
    secrets.push(secretX);
    return {
      shared_secret: combineXWing(sharedKey, secretX, ciphertextX, x25519.bytes),
      enc: concatBytes(ciphertext, ciphertextX),
    };
  } finally {
    wipe(...secrets);
  }
}

/** Returns the shared secret of X-Wing from those of its parts (draft-connolly-cfrg-xwing-kem §5.3). */
export function combineXWing(
  secretM: Uint8Array,
  secretX: Uint8Array,
  ciphertextX: Uint8Array,
  publicKeyX: Uint8Array,
): Buffer {
  const joined = concatBytes(secretM, secretX, ciphertextX, publicKeyX, X_WING_LABEL);
  try {
    return hash('sha3-256', joined, 'buffer');
  } finally {
    wipe(joined);
  }
}
