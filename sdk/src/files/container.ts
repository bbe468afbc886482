/**
 * The beginning of an encrypted file: two lines, before the content.
 *
 *     phm-encrypted-file/v1
 *     {"suite":…,"kem_id":…,"kdf_id":…,"aead_id":…,"enc":…,"ciphertext":…,"header":…}
 *
 * The second is the sealed key. The content is bound to its `key_id` and not to the line, which `reseal` replaces.
 */
import { encodeBase64, FormatError } from '../receipt/tlog.ts';
import {
  parseSealedKey,
  type RecipientKey,
  type SealedKey,
  type SealHeader,
  sealHeaderOf,
  thumbprintOf,
} from '../sealing/formats.ts';
import { type OpenedSealedKey, openSealedKey, SealedKeyError } from '../sealing/open.ts';
import { type ByteStream, chunksOf, LineReader } from './bytes.ts';
import { EncryptedFileError } from './errors.ts';

const NAME = 'phm-encrypted-file/';
const TYPE = `${NAME}v1`;

/** Longest line in bytes. That of a sealed key of the larger suite has up to 6,000. */
const MAX_LINE_BYTES = 8192;

/** AES-256 has this key. A longer one would be cut to it, and a shorter one would not be what the file says. */
const LEVEL = 256;

/** An encrypted file whose beginning was read. */
interface OpenedContainer {
  readonly sealedKey: SealedKey;
  readonly header: SealHeader;
  /** The content: read it or close it. */
  readonly content: LineReader;
}

/** Reads the beginning of a file, and ends the source if it cannot. Throws `EncryptedFileError`. */
export async function readContainer(source: ByteStream): Promise<OpenedContainer> {
  const content = new LineReader(chunksOf(source));
  try {
    const first = (await content.line(TYPE.length)) ?? '';
    if (first !== TYPE) throw otherFile(first);
    const sealedKey = parseLine(await content.line(MAX_LINE_BYTES));
    const header = sealHeaderOf(sealedKey);
    if (header.security_level === LEVEL) return { sealedKey, header, content };
    throw new EncryptedFileError(
      'key_does_not_open',
      `The sealed key of the file has ${header.security_level} bits: a file has a key of ${LEVEL} bits.`,
    );
  } catch (error) {
    await content.close();
    throw error;
  }
}

/** Returns the beginning of a file. */
export function writeContainer(sealedKey: SealedKey): Uint8Array {
  const { suite, kem_id, kdf_id, aead_id, enc, ciphertext, header } = sealedKey;
  const line = JSON.stringify({ suite, kem_id, kdf_id, aead_id, enc, ciphertext, header });
  return new TextEncoder().encode(`${TYPE}\n${line}\n`);
}

/** Returns what the content is authenticated with, beside itself. */
export function associatedData({ key_id: keyId }: SealHeader): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${TYPE}\0${keyId}`) as Uint8Array<ArrayBuffer>;
}

/** Opens the sealed key of a file. The caller wipes `key` and `opening`. Throws `EncryptedFileError`. */
export async function openFileKey(
  { sealedKey, header }: Pick<OpenedContainer, 'sealedKey' | 'header'>,
  recipientKey: RecipientKey,
): Promise<OpenedSealedKey> {
  const own = encodeBase64(await thumbprintOf(recipientKey.publicKey));
  if (own !== header.thumbprint) {
    throw new EncryptedFileError(
      'wrong_recipient',
      `The file is sealed to the recipient with the thumbprint ${header.thumbprint}, and you gave the key of ${own}. Give the key of that recipient, or ask its owner to reseal the file to you.`,
    );
  }
  try {
    return await openSealedKey(sealedKey, recipientKey);
  } catch (cause) {
    if (!(cause instanceof SealedKeyError)) throw cause;
    throw new EncryptedFileError('key_does_not_open', cause.message, { cause });
  }
}

function parseLine(line: string | null): SealedKey {
  if (line === null) {
    throw new EncryptedFileError(
      'truncated',
      'The file is truncated or damaged: the line of its sealed key does not end. Take another copy of it.',
    );
  }
  try {
    return parseSealedKey(JSON.parse(line));
  } catch (cause) {
    if (!(cause instanceof FormatError || cause instanceof SyntaxError)) throw cause;
    const reason =
      cause instanceof FormatError
        ? cause.message
        : 'the sealed key: expected JSON, got other text';
    throw new EncryptedFileError(
      'key_does_not_open',
      `The second line of the file is not a sealed key: ${reason.replace(/\.$/, '')}.`,
      { cause },
    );
  }
}

function otherFile(first: string): EncryptedFileError {
  if (/^phm-encrypted-file\/v\d+$/.test(first)) {
    const version = first.slice(NAME.length);
    return new EncryptedFileError(
      'unsupported_version',
      `The file has the format ${version}, and this client knows v1: install a newer one.`,
    );
  }
  return new EncryptedFileError(
    'not_encrypted_file',
    `This is not an encrypted file: it does not begin with the line "${TYPE}".`,
  );
}
