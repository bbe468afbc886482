/** The field `seal_to`: who can open the keys. No message quotes its values, because a private key may be among them. */
import {
  DEFAULT_SUITE,
  decodeBase64Url,
  publicKeyProblem,
  SEAL_SUITES,
  type SealSuiteName,
} from '#sealing';
import { FormatError, type JsonObject } from '#tlog';
import { AppError } from '../../errors.ts';
import type { SealTo } from '../../keys/index.ts';
import type { SealToBody } from './sealed-schemas.ts';

/** Advice for a private key, which a warning alone would leave in use. */
const SECRET = 'must not leave its owner: make a new pair, and send suite and public_key alone';

/** Returns the recipient. Throws `invalid_request` unless it is one public key or one name, and nothing secret. */
export function toSealTo(sealTo: SealToBody): SealTo {
  if (Object.hasOwn(sealTo, 'private_key')) throw refused('/private_key', SECRET);
  const { suite, public_key: text, recipient } = sealTo;
  const hasKey = (text ?? null) !== null;
  const hasName = (recipient ?? null) !== null;
  if (hasKey && hasName) throw refused('', 'must have "public_key" or "recipient", and has both');
  if (hasKey) return { suite: suite ?? DEFAULT_SUITE, publicKey: toKey(suite, text as string) };
  if (!hasName) throw refused('', 'must have "public_key" or "recipient"');
  if ((suite ?? null) === null) return { recipient: recipient as string };
  throw refused('/suite', 'belongs to "public_key": a registered recipient has its own');
}

/** Returns the fields of a recipient that decide what a request asks for, for its hash. */
export function hashedSealTo({ suite, public_key: key, recipient }: SealToBody): JsonObject {
  if ((recipient ?? null) !== null) return { recipient: recipient as string };
  return { suite: suite ?? DEFAULT_SUITE, public_key: key ?? '' };
}

function toKey(suite: SealSuiteName | null | undefined, text: string): Uint8Array {
  const publicKey = decode(text);
  const problem = publicKeyProblem(suite ?? DEFAULT_SUITE, publicKey);
  if (problem === null) return publicKey;
  throw refusedPublicKey(problem, adviceOnLength(suite ?? DEFAULT_SUITE, publicKey.length));
}

function decode(text: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const got = `got ${text.length} characters`;
    throw refused('/public_key', `must be base64url without padding (RFC 4648 §5); ${got}`);
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
export function refusedPublicKey(problem: string, advice = ''): AppError {
  return refused('/public_key', `cannot be used. ${problem}${advice}`);
}

/** Returns the error for a name that the account has not registered, or whose public key cannot be used. */
export function refusedRecipient(problem: string): AppError {
  return refused('/recipient', problem);
}

function refused(part: string, message: string): AppError {
  return new AppError('invalid_request', {
    fields: [{ pointer: `#/seal_to${part}`, message }],
  });
}
