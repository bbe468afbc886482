/**
 * AES-256-GCM for the segments of one file. The cipher of Node where it is there, because the Web Crypto API hands each segment
 * to another thread: measured by bench/files.ts.
 */
import { findSubtle } from '../web-crypto.ts';
import { nodeModule } from './node.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export const TAG_BYTES = 16;

/** Seals and opens segments under the key of a file. */
export interface SegmentCipher {
  /** Returns ciphertext and tag, in parts. */
  seal(nonce: Bytes, plaintext: Bytes): readonly Uint8Array[] | Promise<readonly Uint8Array[]>;
  /** Returns the plaintext, or null if the segment is not authentic. */
  open(nonce: Bytes, segment: Bytes): Uint8Array | null | Promise<Uint8Array | null>;
  /** Wipes the key. */
  wipe(): void;
}

/** The part of `node:crypto` that is used here. */
interface NodeCrypto {
  createCipheriv(name: string, key: Uint8Array, nonce: Uint8Array): NodeCipher;
  createDecipheriv(
    name: string,
    key: Uint8Array,
    nonce: Uint8Array,
    options: { readonly authTagLength: number },
  ): NodeDecipher;
}

interface NodeCipher {
  update(bytes: Uint8Array): Uint8Array;
  final(): Uint8Array;
  getAuthTag(): Uint8Array;
}

interface NodeDecipher {
  update(bytes: Uint8Array): Uint8Array;
  setAuthTag(tag: Uint8Array): void;
  final(): Uint8Array;
}

interface Derivation {
  readonly hash: string;
  /** As long as the derived key. */
  readonly salt: Bytes;
  readonly info: Bytes;
}

/** Derives the key of a stream by HKDF (RFC 5869). The caller owns and wipes `key`. */
export async function fileCipher(
  key: Uint8Array,
  { hash, salt, info }: Derivation,
): Promise<SegmentCipher> {
  const subtle = findSubtle();
  const secret = await subtle.importKey('raw', key as Bytes, 'HKDF', false, ['deriveBits']);
  const how = { name: 'HKDF', hash, salt, info };
  const derived = new Uint8Array(await subtle.deriveBits(how, secret, 8 * salt.length));
  const node = nodeModule<NodeCrypto>('crypto');
  return node === undefined ? webCipher(derived) : nodeCipher(node, derived);
}

export function nodeCipher(crypto: NodeCrypto, key: Bytes): SegmentCipher {
  const name = `aes-${8 * key.length}-gcm`;
  return {
    seal(nonce, plaintext) {
      const cipher = crypto.createCipheriv(name, key, nonce);
      const ciphertext = cipher.update(plaintext);
      cipher.final();
      return [ciphertext, cipher.getAuthTag()];
    },
    open(nonce, segment) {
      const options = { authTagLength: TAG_BYTES };
      const decipher = crypto.createDecipheriv(name, key, nonce, options);
      decipher.setAuthTag(segment.subarray(-TAG_BYTES));
      const plaintext = decipher.update(segment.subarray(0, -TAG_BYTES));
      try {
        decipher.final();
        return plaintext;
      } catch {
        // It is the only error of `final`. What was decrypted is not authentic: nobody may see it.
        plaintext.fill(0);
        return null;
      }
    },
    wipe: () => void key.fill(0),
  };
}

/** Wipes `key` at once. */
export async function webCipher(key: Bytes): Promise<SegmentCipher> {
  const subtle = findSubtle();
  const name = 'AES-GCM';
  const aes = await subtle.importKey('raw', key, name, false, ['encrypt', 'decrypt']);
  key.fill(0);
  return {
    seal: async (iv, plaintext) => [
      new Uint8Array(await subtle.encrypt({ name, iv }, aes, plaintext)),
    ],
    open: async (iv, segment) => {
      try {
        return new Uint8Array(await subtle.decrypt({ name, iv }, aes, segment));
      } catch {
        return null;
      }
    },
    wipe: () => undefined,
  };
}
