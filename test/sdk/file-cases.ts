/** Encrypted files, right and wrong, which both clients must judge alike. */

import {
  decryptStream,
  EncryptedFileError,
  type EncryptedFileErrorCode,
  formatRecipientKey,
  newRecipient,
  type RecipientKey,
  SEAL_SUITES,
} from '../../sdk/src/index.ts';
import { collect, content, inChunks, sha256, site } from './encrypted-files.ts';
import { sealedAnswer } from './sealed-keys.ts';

interface FileCase {
  readonly name: string;
  readonly file: Buffer;
  /** The text of the file of the recipient's key. */
  readonly recipientKey: string;
  /** The code with which it is refused, or null. */
  readonly code: EncryptedFileErrorCode | null;
}

/** More than a segment. */
export const CONTENT: Uint8Array<ArrayBuffer> = content(2 ** 20 + 1000);

/** Returns all cases. Each call generates other keys. */
export async function fileCases(): Promise<readonly FileCase[]> {
  const me = await newRecipient();
  return [...(await rightFiles()), ...(await damagedFiles(me)), ...(await otherKeys(me))];
}

/** What the client says of a case: the digest of its content, or the error. */
export async function outcomeOf({ file, recipientKey }: FileCase): Promise<object> {
  try {
    const { stream, header } = await decryptStream(inChunks(file), { recipientKey });
    return { key_id: header.key_id, sha256: sha256(await collect(stream)) };
  } catch (error) {
    if (!(error instanceof EncryptedFileError)) throw error;
    return { code: error.code, message: error.message };
  }
}

async function rightFiles(): Promise<FileCase[]> {
  const sizes = [0, 1, 2 ** 20 - 56, 2 ** 20 - 55, 2 ** 21 - 72, 2 ** 21 - 71];
  const cases = SEAL_SUITES.flatMap(({ name: suite }) =>
    sizes.map(async (bytes) => {
      const to = await newRecipient(suite);
      const file = await encrypted(to, content(bytes));
      const name = `${bytes} bytes, ${suite}`;
      return { name, file, recipientKey: formatRecipientKey(to), code: null };
    }),
  );
  return Promise.all(cases);
}

async function encrypted(to: RecipientKey, bytes: Uint8Array): Promise<Buffer> {
  return collect((await site().phm.encryptStream(inChunks(bytes), { to })).stream);
}

async function damagedFiles(me: RecipientKey): Promise<FileCase[]> {
  const file = await encrypted(me, CONTENT);
  const altered = (place: number) => {
    const copy = Buffer.from(file);
    copy[place] = (copy[place] as number) ^ 1;
    return copy;
  };
  const start = file.indexOf('\n', 22) + 1;
  const line = Buffer.from('phm-encrypted-file/v1\n{"suite":"MLKEM768-X25519"');
  const later = Buffer.concat([Buffer.from('phm-encrypted-file/v2\n'), file]);
  const cases: readonly (readonly [string, Buffer, EncryptedFileErrorCode])[] = [
    ['the first line', altered(3), 'not_encrypted_file'],
    ['a later version', later, 'unsupported_version'],
    ['a byte order mark', Buffer.concat([Buffer.from('\ufeff'), file]), 'not_encrypted_file'],
    ['nothing', Buffer.alloc(0), 'not_encrypted_file'],
    ['another file', Buffer.from(CONTENT), 'not_encrypted_file'],
    ['no JSON', Buffer.concat([line, Buffer.from('\n')]), 'key_does_not_open'],
    ['the sealed key', altered(file.indexOf('"enc":"') + 20), 'key_does_not_open'],
    ['the sealed header', altered(start - 20), 'key_does_not_open'],
    ['the second line is cut', line, 'truncated'],
    ['the second line is too long', Buffer.concat([line, Buffer.alloc(9000, 32)]), 'truncated'],
    ['the second line alone', file.subarray(0, start), 'truncated'],
    ['the first byte of content', altered(start), 'damaged'],
    ['the salt', altered(start + 1), 'damaged'],
    ['the last byte', altered(file.length - 1), 'damaged'],
    ['the last byte is missing', file.subarray(0, -1), 'damaged'],
    ['the last segment is missing', file.subarray(0, start + 2 ** 20), 'truncated'],
  ];
  const recipientKey = formatRecipientKey(me);
  return cases.map(([name, bytes, code]) => ({ name, file: bytes, recipientKey, code }));
}

async function otherKeys(me: RecipientKey): Promise<FileCase[]> {
  const recipientKey = formatRecipientKey(me);
  const otherLevels = [128, 384].map(async (bits) => {
    const { answer } = await sealedAnswer(me, { bits });
    const file = Buffer.from(`phm-encrypted-file/v1\n${JSON.stringify(answer.sealed_key)}\n`);
    return { name: `${bits} bits`, file, recipientKey, code: 'key_does_not_open' as const };
  });
  const other = {
    name: 'another recipient',
    file: await encrypted(await newRecipient(), content(1)),
    recipientKey,
    code: 'wrong_recipient' as const,
  };
  return [other, ...(await Promise.all(otherLevels))];
}
