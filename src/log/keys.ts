/**
 * The signing keys of a log, in the text form of golang.org/x/mod/sumdb/note: one line for each key,
 * `PRIVATE+KEY+<origin>+<key ID>+<base64 of type and seed>`.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  ED25519,
  ED25519_COSIGNATURE,
  FormatError,
  formatVerifierKey,
  isKeyName,
  keyIdMessage,
  ML_DSA_44_COSIGNATURE,
  parseVerifierKey,
  readKeyId,
  type VerifierKey,
} from '#tlog';
import { concatBytes, wipe } from '../bytes.ts';
import { sha256 } from './hash.ts';

/** One key of a log, with its private half. */
interface SigningKey {
  readonly name: string;
  readonly keyId: number;
  readonly privateKey: KeyObject;
}

export interface LogKeys {
  /** Name of the log, and of both keys. */
  readonly origin: string;
  readonly verifierKeys: { readonly ed25519: string; readonly mlDsa44: string };
  /** Signs notes (signature type 1). */
  readonly ed25519: SigningKey;
  /** Signs as a cosigner (signature type 6). */
  readonly mlDsa44: SigningKey;
}

const ALGORITHMS: Readonly<Record<number, 'ed25519' | 'ml-dsa-44'>> = {
  [ED25519]: 'ed25519',
  [ED25519_COSIGNATURE]: 'ed25519',
  [ML_DSA_44_COSIGNATURE]: 'ml-dsa-44',
};

/** RFC 8032 §5.1.5 and FIPS 204 §5.1: both private keys are expanded from 32 bytes. */
const SEED_BYTES = 32;
const MAX_ORIGIN_BYTES = 255;

/** Returns an origin for a log whose operator has not named one yet (RFC 6761 §6.4: `.invalid`). */
export function newOrigin(): string {
  return `phm.invalid/${randomBytes(8).toString('hex')}`;
}

/**
 * Returns `text` if it can be the origin of a log. Throws `FormatError`: an origin is also the name of the
 * log's keys, and one byte holds its length in what the ML-DSA-44 key signs.
 */
export function checkOrigin(text: string): string {
  if (isKeyName(text) && Buffer.byteLength(text) <= MAX_ORIGIN_BYTES) return text;
  throw new FormatError(
    'expected an origin of 1 to 255 bytes without spaces and "+", such as keys.example.com/log',
  );
}

/** Returns fresh keys as text. It is secret. Throws `FormatError` on a wrong origin. */
export function newLogKeysText(origin: string): string {
  checkOrigin(origin);
  return [ED25519, ML_DSA_44_COSIGNATURE].map((type) => newKeyLine(origin, type)).join('');
}

function newKeyLine(origin: string, type: number): string {
  const seed = randomBytes(SEED_BYTES);
  const typed = concatBytes(Uint8Array.of(type), seed);
  const { verifierKey } = openSeed(origin, type, seed);
  const keyId = verifierKey.keyId.toString(16).padStart(8, '0');
  const line = `PRIVATE+KEY+${origin}+${keyId}+${typed.toString('base64')}\n`;
  wipe(seed, typed);
  return line;
}

const KEY_LINE = /^PRIVATE\+KEY\+([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/u;

/** Parses what `newLogKeysText` returns. Throws `FormatError` that never quotes the text. */
export function parseLogKeys(text: string): LogKeys {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length !== 2) {
    throw new FormatError(`expected two lines of log keys, got ${lines.length}`);
  }
  const [ed25519, mlDsa44] = [ED25519, ML_DSA_44_COSIGNATURE].map((type, i) =>
    parseKeyLine(lines[i] as string, i + 1, type),
  ) as [OpenedKey, OpenedKey];
  const origin = ed25519.signingKey.name;
  if (origin !== mlDsa44.signingKey.name) {
    throw new FormatError('the two lines of log keys must have the same origin');
  }
  return {
    origin,
    verifierKeys: { ed25519: ed25519.verifierKey.text, mlDsa44: mlDsa44.verifierKey.text },
    ed25519: ed25519.signingKey,
    mlDsa44: mlDsa44.signingKey,
  };
}

function parseKeyLine(line: string, number: number, type: number): OpenedKey {
  const where = `line ${number} of the log keys`;
  const [, origin, keyId = '', base64 = ''] = KEY_LINE.exec(line) ?? [];
  if (origin === undefined) {
    throw new FormatError(`${where}: expected PRIVATE+KEY+<origin>+<key ID>+<base64 of 33 bytes>`);
  }
  checkOrigin(origin);
  const bytes = Buffer.from(base64, 'base64');
  if (bytes[0] !== type) {
    throw new FormatError(`${where}: expected signature type ${type}, got ${bytes[0]}`);
  }
  const opened = openSeed(origin, type, bytes.subarray(1));
  wipe(bytes);
  if (opened.verifierKey.keyId !== Number.parseInt(keyId, 16)) {
    throw new FormatError(`${where}: the key ID does not belong to the key and its origin`);
  }
  return opened;
}

interface OpenedKey {
  readonly signingKey: SigningKey;
  readonly verifierKey: VerifierKey;
}

function openSeed(name: string, type: number, seed: Buffer): OpenedKey {
  const asymmetricKeyType = ALGORITHMS[type] as 'ed25519' | 'ml-dsa-44';
  // An Ed25519 private key is its seed (RFC 8032 §5.1.5); Node names the formats differently.
  const format = type === ED25519 ? 'raw-private' : 'raw-seed';
  const privateKey = createPrivateKey({ key: seed, format, asymmetricKeyType });
  const publicKey = createPublicKey(privateKey).export({ format: 'raw-public' });
  const keyId = readKeyId(sha256(keyIdMessage(name, type, publicKey)));
  const text = formatVerifierKey({ name, keyId, type, publicKey });
  return { signingKey: { name, keyId, privateKey }, verifierKey: parseVerifierKey(text) };
}

/** Parses a verifier key and checks its key ID. Throws `FormatError`. */
export function openVerifierKey(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  checkKeyId(key);
  return key;
}

/** Throws `FormatError` if the key ID does not belong to the key, for example after a slip in copying. */
export function checkKeyId({ name, keyId, type, publicKey }: VerifierKey): void {
  if (readKeyId(sha256(keyIdMessage(name, type, publicKey))) !== keyId) {
    throw new FormatError(`verifier key ${name}: the key ID does not belong to the key`);
  }
}

/** Returns the public key for `crypto.verify`. Throws if the bytes are no key of their algorithm. */
export function publicKeyOf({ type, publicKey }: VerifierKey): KeyObject {
  const asymmetricKeyType = ALGORITHMS[type] as 'ed25519' | 'ml-dsa-44';
  return createPublicKey({ key: Buffer.from(publicKey), format: 'raw-public', asymmetricKeyType });
}
