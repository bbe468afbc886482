/** Makes a self-signed certificate without any tool. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** Encodes one DER element: tag, definite length, content (X.690 §8.1). */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: readonly Uint8Array[]) => der(0x30, ...content);
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const RSA_SHA256 = sequence(
  oid(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b),
  Buffer.from([5, 0]),
);
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);

const DAY_MS = 86_400_000;

const LOCALHOST = der(0x82, Buffer.from('localhost'));
const LOOPBACK = der(0x87, Buffer.from([127, 0, 0, 1]));

/** Names that a certificate may have. */
const NAMES = { both: [LOCALHOST, LOOPBACK], localhost: [LOCALHOST], '127.0.0.1': [LOOPBACK] };

/** Keys that a certificate may have, by name: how to generate them. */
const KEYS = {
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-521': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  secp256k1: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  brainpoolP256r1: () => generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' }),
  'RSA 2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'RSA 3072': () => generateKeyPairSync('rsa', { modulusLength: 3072 }),
  'RSA-PSS 3072': () =>
    generateKeyPairSync('rsa-pss', {
      modulusLength: 3072,
      hashAlgorithm: 'sha256',
      mgf1HashAlgorithm: 'sha256',
    }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  Ed448: () => generateKeyPairSync('ed448'),
  'ML-DSA-44': () => generateKeyPairSync('ml-dsa-44'),
  'ML-DSA-65': () => generateKeyPairSync('ml-dsa-65'),
  'ML-DSA-87': () => generateKeyPairSync('ml-dsa-87'),
};

export type CertificateKey = keyof typeof KEYS;

export const CERTIFICATE_KEYS = Object.keys(KEYS) as CertificateKey[];

/** Returns the signature algorithm of a certificate that a key signs, and the hash for it. */
function signatureOf(key: KeyObject, spki: Buffer): [identifier: Uint8Array, hash: string | null] {
  if (key.asymmetricKeyType === 'ec') return [ECDSA_SHA256, 'sha256'];
  if (key.asymmetricKeyType === 'rsa') return [RSA_SHA256, 'sha256'];
  // The identifier of the key is that of its signatures too. It follows the header of the outer sequence.
  const start = spki.readUInt8(1) < 128 ? 2 : 2 + (spki.readUInt8(1) & 0x7f);
  const identifier = spki.subarray(start, start + 2 + spki.readUInt8(start + 1));
  return [identifier, key.asymmetricKeyType === 'rsa-pss' ? 'sha256' : null];
}

/**
 * Writes a certificate and its private key, by default of P-256, as PEM, valid from an hour ago until `notAfterMs`, by default for a day,
 * for localhost, 127.0.0.1 or both.
 */
export function makeCertificate(
  certFile: string,
  keyFile: string,
  notAfterMs: number = Date.now() + DAY_MS,
  named: keyof typeof NAMES = 'both',
  keyName: CertificateKey = 'P-256',
): void {
  // OpenSSL finds a certificate by its subject.
  const subject = named === 'both' ? 'localhost' : named;
  const { certificate, key } = selfSigned([subject], NAMES[named], notAfterMs, keyName);
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, key, { mode: 0o600 });
}

/** Alternative names of a certificate. */
export const alternativeName = {
  dns: (text: string): Buffer => der(0x82, Buffer.from(text)),
  uri: (text: string): Buffer => der(0x86, Buffer.from(text)),
} as const;

/**
 * Returns a certificate with these common names and alternative names, or none of these, and its private key, by default of
 * P-256, as PEM. It is its own authority.
 */
export function selfSigned(
  commonNames: readonly string[],
  names: readonly Uint8Array[],
  notAfterMs: number = Date.now() + DAY_MS,
  keyName: CertificateKey = 'P-256',
): { readonly certificate: string; readonly key: string } {
  const { publicKey, privateKey } = KEYS[keyName]();
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const [identifier, hash] = signatureOf(publicKey, spki);
  const subject = sequence(
    ...commonNames.map((name) => der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name))))),
  );
  const extension = sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...names)));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    identifier,
    subject,
    sequence(time(Date.now() - 3_600_000), time(notAfterMs)),
    subject,
    spki,
    ...(names.length > 0 ? [der(0xa3, sequence(extension))] : []),
  );
  const signature = sign(hash, toBeSigned, privateKey);
  const signed = sequence(toBeSigned, identifier, der(0x03, Buffer.from([0]), signature));
  const base64 = signed.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
