/** Encrypts, decrypts and reseals streams, in Node and in browsers. Only encryption asks the service: for the key. */
import { assertObject } from '../options.ts';
import type { Recipient, RecipientKey, SealedKey, SealHeader } from '../sealing/formats.ts';
import { sealHeaderOf } from '../sealing/formats.ts';
import { type ByteStream, streamOf } from './bytes.ts';
import { associatedData, openFileKey, readContainer, writeContainer } from './container.ts';
import type { FileKey } from './file-key.ts';
import { readRecipientKey, readTo, sealAgain } from './recipients.ts';
import { decryptContent, encryptContent } from './segments.ts';

export interface DecryptOptions {
  /** The recipient's private key, or the text of its file. */
  readonly recipientKey: RecipientKey | string;
}

export interface ResealOptions extends DecryptOptions {
  /** The new recipient, or the text of its file. */
  readonly to: Recipient | string;
}

/** A stream, and what its sealed key states in the open. */
export interface FileStream {
  readonly header: SealHeader;
  readonly stream: ReadableStream<Uint8Array>;
}

/** The chunks of a stream, and what its sealed key states in the open. */
export interface FileChunks {
  readonly header: SealHeader;
  readonly chunks: AsyncGenerator<Uint8Array>;
}

/** The sealed key of a file, and what it states in the open. */
export interface EncryptedFileInfo {
  /** For `openSealedKey` and `phm open`. */
  readonly sealedKey: SealedKey;
  /** `key_id` names the record of the key. Nothing of it is authentic before the key opens. */
  readonly header: SealHeader;
}

/**
 * Decrypts a stream that `encryptStream` or `encryptFile` of a client made. Sends nothing. Each segment of 1 MiB is released
 * after it was authenticated. **A stream that fails has released what came before**: use it only when it has ended.
 * Rejects with `EncryptedFileError`, and so does the stream.
 */
export async function decryptStream(
  source: ByteStream,
  options: DecryptOptions,
): Promise<FileStream> {
  const { header, chunks } = await decryptChunks(source, options);
  return { header, stream: streamOf(chunks) };
}

/** Seals the key of an encrypted stream to another recipient. Sends nothing, and leaves the content as it is. */
export async function resealStream(
  source: ByteStream,
  options: ResealOptions,
): Promise<FileStream> {
  const { header, chunks } = await resealChunks(source, options);
  return { header, stream: streamOf(chunks) };
}

/** Reads the sealed key of an encrypted stream, and ends the stream. Needs no private key. */
export async function readFileKey(source: ByteStream): Promise<EncryptedFileInfo> {
  const { sealedKey, header, content } = await readContainer(source);
  await content.close();
  return { sealedKey, header };
}

export async function* encryptChunks(
  source: AsyncIterable<Uint8Array>,
  { key, sealedKey, header }: FileKey,
): AsyncGenerator<Uint8Array> {
  try {
    yield writeContainer(sealedKey);
    yield* encryptContent(source, { key, associatedData: associatedData(header) });
  } finally {
    key.fill(0);
  }
}

export async function decryptChunks(
  source: ByteStream,
  options: DecryptOptions,
): Promise<FileChunks> {
  assertObject('the options', options, '{ recipientKey }');
  const recipientKey = readRecipientKey(options.recipientKey);
  const container = await readContainer(source);
  const { header, content } = container;
  const { key, opening } = await closing(content, () => openFileKey(container, recipientKey));
  opening.fill(0);
  const chunks = decryptContent(content.rest(), { key, associatedData: associatedData(header) });
  return { header, chunks };
}

export async function resealChunks(
  source: ByteStream,
  options: ResealOptions,
): Promise<FileChunks> {
  assertObject('the options', options, '{ recipientKey, to }');
  const recipientKey = readRecipientKey(options.recipientKey);
  const to = readTo(options.to);
  const container = await readContainer(source);
  const { content } = container;
  const sealedKey = await closing(content, async () => {
    const opened = await openFileKey(container, recipientKey);
    try {
      return await sealAgain(opened, to);
    } finally {
      opened.key.fill(0);
      opened.opening.fill(0);
    }
  });
  return { header: sealHeaderOf(sealedKey), chunks: resealed(sealedKey, content.rest()) };
}

async function* resealed(
  sealedKey: SealedKey,
  content: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield writeContainer(sealedKey);
  yield* content;
}

/** Ends the source if a step fails. */
async function closing<T>(source: { close(): Promise<void> }, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    await source.close();
    throw error;
  }
}
