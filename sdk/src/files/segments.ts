/**
 * The encrypted content: Tink's Streaming AEAD, type AES-GCM-HKDF, with 256-bit keys, SHA-256 and segments of 1 MiB.
 * https://developers.google.com/tink/streaming-aead/aes_gcm_hkdf_streaming
 *
 *     40 ‖ salt (32 bytes) ‖ nonce prefix (7 bytes) ‖ segment 0 ‖ segment 1 ‖ …
 */
import { cut, damaged } from './bytes.ts';
import { fileCipher, type SegmentCipher, TAG_BYTES } from './cipher.ts';
import { EncryptedFileError } from './errors.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The parameters of a key of Tink. */
export interface StreamParameters {
  readonly hash: 'SHA-1' | 'SHA-256';
  /** Length of the derived AES key, and of the salt. */
  readonly keyBytes: 16 | 32;
  /** Ciphertext of a segment. The first holds the header of the stream too. */
  readonly segmentBytes: number;
}

/** Those of `AES256_GCM_HKDF_1MB`. Tests of published vectors have others. */
const FILES: StreamParameters = { hash: 'SHA-256', keyBytes: 32, segmentBytes: 2 ** 20 };

const PREFIX_BYTES = 7;
const NONCE_BYTES = 12;

/** The number of a segment has four bytes. */
const MAX_SEGMENTS = 2 ** 32;

/** What a file is encrypted with. */
interface ContentKey {
  /** Whoever gets it wipes it. */
  readonly key: Uint8Array;
  /** Authenticated with the content: binds it to its format and key ID. */
  readonly associatedData: Bytes;
}

/** Yields the encrypted content. Wipes `key`. */
export async function* encryptContent(
  source: AsyncIterable<Uint8Array>,
  contentKey: ContentKey,
  parameters: StreamParameters = FILES,
  random: (bytes: Bytes) => void = (bytes) => crypto.getRandomValues(bytes),
): AsyncGenerator<Uint8Array> {
  const header = new Uint8Array(headerBytes(parameters));
  header[0] = header.length;
  random(header.subarray(1));
  const { cipher, prefix } = await read(header, contentKey, parameters);
  try {
    yield header;
    const size = parameters.segmentBytes - TAG_BYTES;
    let i = 0;
    for await (const { bytes, isLast } of cut(source, { first: size - header.length, size })) {
      yield* await cipher.seal(nonceOf(prefix, i, isLast), bytes);
      i += 1;
    }
  } finally {
    cipher.wipe();
  }
}

/** Yields the content, each segment after it was authenticated. Wipes `key`. Throws `EncryptedFileError`. */
export async function* decryptContent(
  source: AsyncIterable<Uint8Array>,
  contentKey: ContentKey,
  parameters: StreamParameters = FILES,
): AsyncGenerator<Uint8Array> {
  const start = headerBytes(parameters);
  const size = parameters.segmentBytes;
  let cipher: SegmentCipher | undefined;
  try {
    let prefix: Bytes = new Uint8Array(0);
    let i = 0;
    for await (const piece of cut(source, { first: size, size })) {
      let segment = piece.bytes;
      if (cipher === undefined) {
        if (segment.length < start + TAG_BYTES) throw truncated(0);
        if (segment[0] !== start) throw damaged('its content has another header');
        ({ cipher, prefix } = await read(segment.slice(0, start), contentKey, parameters));
        segment = segment.subarray(start);
      }
      yield await openSegment(cipher, { prefix, i, segment, isLast: piece.isLast });
      i += 1;
    }
  } finally {
    contentKey.key.fill(0);
    cipher?.wipe();
  }
}

function headerBytes({ keyBytes }: StreamParameters): number {
  return 1 + keyBytes + PREFIX_BYTES;
}

/** Derives the cipher of a stream from its header. Wipes `key`. */
async function read(
  header: Bytes,
  { key, associatedData: info }: ContentKey,
  { hash, keyBytes }: StreamParameters,
): Promise<{ readonly cipher: SegmentCipher; readonly prefix: Bytes }> {
  const salt = header.slice(1, 1 + keyBytes);
  try {
    const cipher = await fileCipher(key, { hash, salt, info });
    return { cipher, prefix: header.slice(1 + keyBytes) };
  } finally {
    key.fill(0);
  }
}

interface Segment {
  readonly prefix: Bytes;
  readonly i: number;
  readonly segment: Bytes;
  readonly isLast: boolean;
}

async function openSegment(
  cipher: SegmentCipher,
  { prefix, i, segment, isLast }: Segment,
): Promise<Uint8Array> {
  // Only the segment of an empty file has no content.
  if (segment.length < TAG_BYTES || (i > 0 && segment.length === TAG_BYTES)) throw truncated(i);
  const plaintext = await cipher.open(nonceOf(prefix, i, isLast), segment);
  if (plaintext !== null) return plaintext;
  if (isLast && (await cipher.open(nonceOf(prefix, i, false), segment)) !== null) {
    throw truncated(i + 1);
  }
  throw damaged(`segment ${i} is not authentic: it was altered, moved or cut`);
}

/** The number of the segment keeps it in its place, and the last byte shows a missing end. */
function nonceOf(prefix: Bytes, i: number, isLast: boolean): Bytes {
  if (i >= MAX_SEGMENTS) throw new RangeError('the content must have less than 4 PiB');
  const nonce = new Uint8Array(NONCE_BYTES);
  nonce.set(prefix);
  new DataView(nonce.buffer).setUint32(PREFIX_BYTES, i);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

function truncated(segments: number): EncryptedFileError {
  return new EncryptedFileError(
    'truncated',
    `The file is truncated: its end is missing after ${segments} whole segments. Take another copy of it.`,
  );
}
