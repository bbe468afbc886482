/** The field `seal_to`: who can open the keys. No message quotes its values, because a private key may be among them. */
import {
  DEFAULT_SUITE,
  decodeBase64Url,
  publicKeyProblem,
  SEAL_SUITES,
  type SealSuiteName,
} from '#sealing';
import { FormatError, type JsonObject, type JsonValue } from '#tlog';
import { AppError } from '../../errors.ts';
import type { SealTo } from '../../keys/index.ts';
import type { SealToAllBody, SealToBody } from './sealed-schemas.ts';

/** Advice for a private key, which a warning alone would leave in use. */
const SECRET = 'must not leave its owner: make a new pair, and send suite and public_key alone';

/**
 * Returns the recipients. Throws `invalid_request` unless each is one public key or one name, and nothing secret. That they are
 * different is found when the names have been looked up.
 */
export function toSealTo(sealTo: SealToAllBody): SealTo[] {
  if (!Array.isArray(sealTo)) return [toOne(sealTo, '')];
  return sealTo.map((one, i) => toOne(one, `/${i}`));
}

/** Returns the place of a recipient in `seal_to`, as the end of a pointer. */
export function placeIn(sealTo: SealToAllBody | undefined, index: number): string {
  return Array.isArray(sealTo) ? `/${index}` : '';
}

function toOne(sealTo: SealToBody, place: string): SealTo {
  const refused = (part: string, message: string) => refusedAt(`${place}${part}`, message);
  if (Object.hasOwn(sealTo, 'private_key')) throw refused('/private_key', SECRET);
  const { suite, public_key: text, recipient } = sealTo;
  const hasKey = (text ?? null) !== null;
  const hasName = (recipient ?? null) !== null;
  if (hasKey && hasName) throw refused('', 'must have "public_key" or "recipient", and has both');
  if (hasKey) {
    return { suite: suite ?? DEFAULT_SUITE, publicKey: toKey(suite, text as string, place) };
  }
  if (!hasName) throw refused('', 'must have "public_key" or "recipient"');
  if ((suite ?? null) === null) return { recipient: recipient as string };
  throw refused('/suite', 'belongs to "public_key": a registered recipient has its own');
}

/** Returns the fields of recipients that decide what a request asks for, for its hash. A list of one is the same as that one. */
export function hashedSealTo(sealTo: SealToAllBody): JsonValue {
  if (!Array.isArray(sealTo)) return hashedOne(sealTo);
  const [first, ...others] = sealTo.map(hashedOne);
  return first && others.length === 0 ? first : sealTo.map(hashedOne);
}

function hashedOne({ suite, public_key: key, recipient }: SealToBody): JsonObject {
  if ((recipient ?? null) !== null) return { recipient: recipient as string };
  return { suite: suite ?? DEFAULT_SUITE, public_key: key ?? '' };
}

function toKey(suite: SealSuiteName | null | undefined, text: string, place: string): Uint8Array {
  const publicKey = decode(text, place);
  const problem = publicKeyProblem(suite ?? DEFAULT_SUITE, publicKey);
  if (problem === null) return publicKey;
  throw refusedPublicKey(place, problem, adviceOnLength(suite ?? DEFAULT_SUITE, publicKey.length));
}

function decode(text: string, place: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const got = `got ${text.length} characters`;
    const message = `must be base64url without padding (RFC 4648 §5); ${got}`;
    throw refusedAt(`${place}/public_key`, message);
  }
}

/** Returns advice for a public key with the length of another suite, or of a private key, or an empty string. */
function adviceOnLength(suite: SealSuiteName, length: number): string {
  if (SEAL_SUITES.some(({ privateKeyBytes }) => privateKeyBytes === length)) {
    return ' It has the length of a private key. A private key must not leave its owner: if it is one, make a new pair.';
  }
  const other = SEAL_SUITES.find(
    ({ name, publicKeyBytes }) => name !== suite && publicKeyBytes === length,
  );
  return other ? ` It has the length of ${other.name}: send "suite": "${other.name}".` : '';
}

/** Returns the error for a public key that cannot be used. `problem` is a sentence. */
export function refusedPublicKey(place: string, problem: string, advice = ''): AppError {
  return refusedAt(`${place}/public_key`, `cannot be used. ${problem}${advice}`);
}

/** Returns the error for a name that the account has not registered, or whose public key cannot be used. */
export function refusedRecipient(place: string, problem: string): AppError {
  return refusedAt(`${place}/recipient`, problem);
}

/** Returns the error for a recipient that is in the list twice. */
export function repeatedRecipient(first: number, second: number): AppError {
  return refusedAt(
    `/${second}`,
    `is the same recipient as "seal_to[${first}]": both name one public key`,
  );
}

function refusedAt(part: string, message: string): AppError {
  return new AppError('invalid_request', {
    fields: [{ pointer: `#/seal_to${part}`, message }],
  });
}
