/**
 * Known answers of the algorithms that this service takes from OpenSSL: one for each, before the first use (FIPS 140-3 IG
 * 10.3.A). Published vectors show in the tests that they are right; these show that they compute the same on this machine.
 *
 * The ciphertexts of ML-KEM and the signature of ML-DSA are of another implementation, @noble/post-quantum, with the seed 00 01 02 …
 */
import {
  createCipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  decapsulate,
  diffieHellman,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { hexToBytes } from '../bytes.ts';
import answers from './post-quantum-answers.json' with { type: 'json' };
import type { SelfTestResult } from './suite-self-test.ts';

const ABC = Buffer.from('abc');

interface AlgorithmTest {
  readonly name: string;
  /** Where the expected answer is published, or who computed it. */
  readonly standard: string;
  /** Returns true for the right answer. */
  readonly run: () => boolean;
}

const sequence = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => i));

function hashTest(
  name: string,
  algorithm: string,
  standard: string,
  answer: string,
): AlgorithmTest {
  return { name, standard, run: () => hash(algorithm, ABC, 'hex') === answer };
}

const TESTS: readonly AlgorithmTest[] = [
  hashTest(
    'SHA-256',
    'sha256',
    'FIPS 180-4',
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ),
  hashTest(
    'SHA-512',
    'sha512',
    'FIPS 180-4',
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  ),
  hashTest(
    'SHA3-256',
    'sha3-256',
    'FIPS 202',
    '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532',
  ),
  { name: 'HMAC-SHA-256', standard: 'FIPS 198-1', run: isHmac },
  { name: 'HKDF-SHA-256', standard: 'SP 800-56C Rev. 2', run: isHkdf },
  { name: 'AES-256-GCM', standard: 'SP 800-38D', run: isGcm },
  { name: 'X25519', standard: 'RFC 7748', run: isX25519 },
  { name: 'Ed25519', standard: 'FIPS 186-5', run: isEd25519 },
  { name: 'ML-KEM-768', standard: 'FIPS 203', run: () => isMlKem('ML-KEM-768') },
  { name: 'ML-KEM-1024', standard: 'FIPS 203', run: () => isMlKem('ML-KEM-1024') },
  { name: 'ML-DSA-44', standard: 'FIPS 204', run: isMlDsa },
];

/** Runs every test. A failed test is a row with `passed: false`; the function never throws. */
export function algorithmSelfTest(tests: readonly AlgorithmTest[] = TESTS): SelfTestResult[] {
  return tests.map(({ name, standard, run }) => ({
    name: `${name} (${standard}): known answer`,
    passed: succeeds(run),
  }));
}

function succeeds(run: () => boolean): boolean {
  try {
    return run();
  } catch {
    return false;
  }
}

/** RFC 4231, test case 1. */
function isHmac(): boolean {
  const mac = createHmac('sha256', Buffer.alloc(20, 0x0b)).update('Hi There').digest('hex');
  return mac === 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7';
}

/** RFC 5869, appendix A.1. */
function isHkdf(): boolean {
  const info = hexToBytes('f0f1f2f3f4f5f6f7f8f9');
  const key = hkdfSync('sha256', Buffer.alloc(22, 0x0b), sequence(13), info, 42);
  return (
    Buffer.from(key).toString('hex') ===
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865'
  );
}

/** The GCM specification of McGrew and Viega, test case 14. */
function isGcm(): boolean {
  const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12));
  const sealed = Buffer.concat([cipher.update(Buffer.alloc(16)), cipher.final()]);
  return (
    Buffer.concat([sealed, cipher.getAuthTag()]).toString('hex') ===
    'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919'
  );
}

/** RFC 7748 §5.2. */
function isX25519(): boolean {
  const privateKey = createPrivateKey({
    key: hexToBytes('a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4'),
    format: 'raw-private',
    asymmetricKeyType: 'x25519',
  });
  const publicKey = rawPublicKey(
    'x25519',
    hexToBytes('e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c'),
  );
  return (
    diffieHellman({ privateKey, publicKey }).toString('hex') ===
    'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552'
  );
}

/** RFC 8032 §7.1, test 1. */
function isEd25519(): boolean {
  const seed = hexToBytes('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
  const answer =
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b';
  const privateKey = createPrivateKey({
    key: seed,
    format: 'raw-private',
    asymmetricKeyType: 'ed25519',
  });
  const signature = sign(null, Buffer.alloc(0), privateKey);
  const isOwn = verify(null, Buffer.alloc(0), createPublicKey(privateKey), signature);
  return isOwn && signature.toString('hex') === answer;
}

/** Decapsulation of a ciphertext, and implicit rejection of another (FIPS 203 §6.3). */
function isMlKem(name: 'ML-KEM-768' | 'ML-KEM-1024'): boolean {
  const { ciphertext, shared_secret: answer } = answers[name];
  const privateKey = seedKey(name === 'ML-KEM-768' ? 'ml-kem-768' : 'ml-kem-1024', 64);
  const sent = Buffer.from(ciphertext, 'base64');
  const secret = decapsulate(privateKey, sent).toString('hex');
  sent[0] ^= 1;
  return secret === answer && decapsulate(privateKey, sent).toString('hex') !== answer;
}

/** The public key of a seed, a signature of others, and none for another message (FIPS 204 §5). */
function isMlDsa(): boolean {
  const { public_key: answer, signature } = answers['ML-DSA-44'];
  const privateKey = seedKey('ml-dsa-44', 32);
  const publicKey = createPublicKey(privateKey);
  const isPublicKey = publicKey.equals(rawPublicKey('ml-dsa-44', Buffer.from(answer, 'base64')));
  const given = Buffer.from(signature, 'base64');
  return (
    isPublicKey &&
    verify(null, ABC, publicKey, given) &&
    !verify(null, Buffer.from('abd'), publicKey, given) &&
    verify(null, ABC, publicKey, sign(null, ABC, privateKey))
  );
}

type Seeded = 'ml-kem-768' | 'ml-kem-1024' | 'ml-dsa-44';

function seedKey(asymmetricKeyType: Seeded, bytes: number): KeyObject {
  return createPrivateKey({ key: sequence(bytes), format: 'raw-seed', asymmetricKeyType });
}

function rawPublicKey(asymmetricKeyType: 'x25519' | Seeded, key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(key), format: 'raw-public', asymmetricKeyType });
}
