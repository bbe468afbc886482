/**
 * "How to open" of docs/sealing.md, step by step, as a stranger would write it: with `node:crypto` and nothing of this
 * project, HPKE by hand. Throws an error that names the step.
 */
import {
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  decapsulate,
  diffieHellman,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { canonical, type Json } from './receipt-by-the-page.ts';

interface Suite {
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly hash: 'sha256' | 'sha512';
  readonly seedBytes: number;
  readonly encBytes: number;
}

/** The table of "The suites". */
const SUITES: Readonly<Record<string, Suite>> = {
  'MLKEM768-X25519': {
    kem_id: 25722,
    kdf_id: 1,
    aead_id: 2,
    hash: 'sha256',
    seedBytes: 32,
    encBytes: 1120,
  },
  'ML-KEM-1024': {
    kem_id: 66,
    kdf_id: 3,
    aead_id: 2,
    hash: 'sha512',
    seedBytes: 64,
    encBytes: 1568,
  },
};

/** The members of the header by its type, in the order of RFC 8785. */
const FIRST_TYPE = [
  'aead_id',
  'kdf_id',
  'kem_id',
  'key_commitment',
  'key_id',
  'security_level',
  'service',
  'thumbprint',
  'time',
  'type',
];
const HEADER_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'phm-sealed-key/v1': FIRST_TYPE,
  'phm-sealed-key/v2': [...FIRST_TYPE, 'delivery', 'recipients'].sort(),
};

/** The beginnings of `info`. */
const LABELS: Readonly<Record<string, string>> = {
  'phm-sealed-key/v1': 'phm/seal/v1\0',
  'phm-sealed-key/v2': 'phm/seal/v2\0',
};

/** A recipient of the page: what the seed gives. */
interface RecipientKeys {
  readonly publicKey: Buffer;
  /** Decapsulates `enc`. */
  readonly sharedSecret: (enc: Buffer) => Buffer;
}

interface OpenedByThePage {
  readonly header: Json;
  readonly key: Buffer;
  readonly opening: Buffer;
  readonly hashProof: string;
  readonly recipients: readonly string[];
  /** What `sealed_to` and `sealed_digest` of the receipt have to be. */
  readonly sealedTo: string;
  readonly sealedDigest: string;
}

function must(claim: boolean, step: string): void {
  if (!claim) throw new Error(step);
}

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function u16be(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function fromBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  must(bytes.toString('base64url') === text, '1: base64url');
  return bytes;
}

const privateKeyOf = (seed: Buffer, type: 'ml-kem-768' | 'ml-kem-1024'): KeyObject =>
  createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType: type });

const rawPublicKey = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'raw-public' });

/** "The recipient", and the table of "HPKE by hand". */
function keysOf(suite: string, seed: Buffer): RecipientKeys {
  if (suite === 'ML-KEM-1024') {
    const dk = privateKeyOf(seed, 'ml-kem-1024');
    return { publicKey: rawPublicKey(dk), sharedSecret: (enc) => decapsulate(dk, enc) };
  }
  const expanded = createHash('shake256', { outputLength: 96 }).update(seed).digest();
  const dk = privateKeyOf(expanded.subarray(0, 64), 'ml-kem-768');
  const x = createPrivateKey({
    key: expanded.subarray(64),
    format: 'raw-private',
    asymmetricKeyType: 'x25519',
  });
  const pkX = rawPublicKey(x);
  const sharedSecret = (enc: Buffer): Buffer => {
    const ctX = enc.subarray(1088);
    const theirs = createPublicKey({
      key: ctX,
      format: 'raw-public',
      asymmetricKeyType: 'x25519',
    });
    const hash = createHash('sha3-256').update(decapsulate(dk, enc.subarray(0, 1088)));
    hash
      .update(diffieHellman({ privateKey: x, publicKey: theirs }))
      .update(ctX)
      .update(pkX);
    return hash.update(Buffer.from('5c2e2f2f5e5c', 'hex')).digest();
  };
  return { publicKey: Buffer.concat([rawPublicKey(dk), pkX]), sharedSecret };
}

/** The key schedule of "HPKE by hand", with HKDF from HMAC (RFC 5869). */
function keySchedule(ids: Omit<Suite, 'seedBytes' | 'encBytes'>, ss: Buffer, info: Buffer) {
  const hmac = (key: Buffer, ...parts: Uint8Array[]): Buffer => {
    const mac = createHmac(ids.hash, key);
    for (const part of parts) mac.update(part);
    return mac.digest();
  };
  const suiteId = Buffer.concat([
    Buffer.from('HPKE'),
    u16be(ids.kem_id),
    u16be(ids.kdf_id),
    u16be(ids.aead_id),
  ]);
  const labeled = (label: string) =>
    Buffer.concat([Buffer.from('HPKE-v1'), suiteId, Buffer.from(label)]);
  const extract = (salt: Buffer, label: string, x: Buffer): Buffer => hmac(salt, labeled(label), x);
  // One block of HKDF-Expand is enough: 32 and 12 bytes.
  const expand = (prk: Buffer, label: string, x: Buffer, length: number): Buffer =>
    hmac(prk, u16be(length), labeled(label), x, Buffer.from([1])).subarray(0, length);
  const none = Buffer.alloc(0);
  const context = Buffer.concat([
    Buffer.from([0]),
    extract(none, 'psk_id_hash', none),
    extract(none, 'info_hash', info),
  ]);
  const secret = extract(ss, 'secret', none);
  return {
    key: expand(secret, 'key', context, 32),
    nonce: expand(secret, 'base_nonce', context, 12),
  };
}

function readHeader(bytes: Buffer, sealedKey: Json): Json {
  const header = JSON.parse(bytes.toString('utf8'));
  must(canonical(header) === bytes.toString('utf8'), '2: not canonical');
  must(LABELS[header.type] !== undefined, '2: type');
  must(Object.keys(header).join() === HEADER_MEMBERS[header.type]?.join(), '2: members');
  if (header.type === 'phm-sealed-key/v2') checkRecipients(header);
  for (const name of ['kem_id', 'kdf_id', 'aead_id']) {
    must(header[name] === sealedKey[name], `2: ${name}`);
  }
  return header;
}

/** "Several recipients". */
function checkRecipients({ recipients, delivery, thumbprint }: Json): void {
  const least = delivery === null ? 2 : 1;
  must(recipients.length >= least && recipients.length <= 8, '2: number of recipients');
  must(new Set(recipients).size === recipients.length, '2: a recipient twice');
  must(recipients.includes(thumbprint), '2: without the own recipient');
  if (delivery === null) return;
  must(Object.keys(delivery).join() === 'context,id', '2: delivery');
  must(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(delivery.id), '2: delivery');
}

function decrypt(suite: Suite, ss: Buffer, info: Buffer, aad: Buffer, ciphertext: Buffer): Buffer {
  const { key, nonce } = keySchedule(suite, ss, info);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  decipher.setAAD(aad).setAuthTag(ciphertext.subarray(-16));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]);
  } catch {
    throw new Error('4: AES-GCM');
  }
}

function readPlaintext(plaintext: Buffer, securityLevel: number) {
  const text = plaintext.toString('utf8');
  const { hash_proof, key, opening, ...others } = JSON.parse(text);
  must(canonical({ hash_proof, key, opening }) === text, '5: form');
  must(Object.keys(others).length === 0, '5: members');
  must(/^[0-9a-f]+$/.test(key) && key.length === securityLevel / 4, '5: key');
  const openingBytes = Buffer.from(opening, 'base64');
  must(openingBytes.length === 32 && openingBytes.toString('base64') === opening, '5: opening');
  return { hashProof: hash_proof as string, key: Buffer.from(key, 'hex'), opening: openingBytes };
}

function commitment(opening: Buffer, header: Json, key: Buffer): Buffer {
  return createHmac('sha256', opening)
    .update('phm/key-commitment/v1\0')
    .update(u16be(header.security_level))
    .update(`${header.key_id}\0`)
    .update(key)
    .digest();
}

/** "Check the receipt": returns whether a statement is of a sealed key that was opened. */
export function isOfByThePage(statement: Json, opened: OpenedByThePage): boolean {
  const { header, recipients, sealedTo, sealedDigest } = opened;
  const shared = ['service', 'key_id', 'security_level', 'time', 'key_commitment'];
  if (shared.some((name) => statement[name] !== header[name])) return false;
  if (statement.type === 'phm-key-receipt/v1') {
    const isFirst = header.type === 'phm-sealed-key/v1';
    return isFirst && statement.sealed_to === sealedTo && statement.sealed_digest === sealedDigest;
  }
  const stated: readonly Json[] = statement.sealed;
  return (
    stated.map(({ to }) => to).join() === recipients.join() &&
    canonical(statement.delivery) === canonical(header.delivery) &&
    stated.find(({ to }) => to === sealedTo)?.digest === sealedDigest
  );
}

/** Opens a sealed key with the recipient's seed. */
export function openByThePage(sealedKey: Json, seed: Buffer): OpenedByThePage {
  const suite = SUITES[sealedKey.suite];
  if (suite === undefined) throw new Error('1: suite');
  must(Object.keys(sealedKey).length === 7, '1: members');
  for (const name of ['kem_id', 'kdf_id', 'aead_id'] as const) {
    must(sealedKey[name] === suite[name], `1: ${name}`);
  }
  must(seed.length === suite.seedBytes, '1: private key');
  const [enc, ciphertext, aad] = [sealedKey.enc, sealedKey.ciphertext, sealedKey.header].map(
    fromBase64Url,
  ) as [Buffer, Buffer, Buffer];
  must(enc.length === suite.encBytes, '1: enc');

  const header = readHeader(aad, sealedKey);
  const { publicKey, sharedSecret } = keysOf(sealedKey.suite, seed);
  const thumbprint = sha256(publicKey);
  must(thumbprint.toString('base64') === header.thumbprint, '3: thumbprint');

  const info = Buffer.concat([Buffer.from(LABELS[header.type] ?? ''), sha256(aad)]);
  const plaintext = decrypt(suite, sharedSecret(enc), info, aad, ciphertext);
  const opened = readPlaintext(plaintext, header.security_level);
  const claimed = Buffer.from(header.key_commitment, 'base64');
  must(claimed.length === 32, '6: length');
  must(timingSafeEqual(commitment(opened.opening, header, opened.key), claimed), '6: commitment');
  return {
    header,
    ...opened,
    recipients: header.recipients ?? [header.thumbprint],
    sealedTo: thumbprint.toString('base64'),
    sealedDigest: sha256(enc, ciphertext).toString('base64'),
  };
}
