/** The encrypted content of files: Tink's published vectors, own vectors, and every kind of damage. */
import assert from 'node:assert/strict';
import * as nodeCrypto from 'node:crypto';
import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nodeCipher, webCipher } from '../../sdk/src/files/cipher.ts';
import {
  decryptContent,
  encryptContent,
  type StreamParameters,
} from '../../sdk/src/files/segments.ts';
import { EncryptedFileError } from '../../sdk/src/index.ts';
import { collect, content, inChunks, sha256 } from './encrypted-files.ts';

const VECTORS = new URL('../vectors/files/', import.meta.url);

interface TinkVector extends StreamParameters {
  readonly name: string;
  readonly key: string;
  readonly associatedData: string;
  readonly plaintext: string;
  readonly ciphertext: string;
}

interface ContentVector {
  readonly bytes: number;
  readonly key: string;
  readonly associated_data: string;
  readonly random: string;
  readonly sha256: string;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8'));
const tink: readonly TinkVector[] = read('tink.json');
const own: readonly ContentVector[] = read('content.json');

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const fills = (bytes: Uint8Array) => (to: Uint8Array) => to.set(bytes);

/** Segments of 64 bytes, so that a test can alter each byte: header 40, then 8, 48, 48, … bytes of content. */
const SMALL: StreamParameters = { hash: 'SHA-256', keyBytes: 32, segmentBytes: 64 };
const KEY = randomBytes(32);
const keyed = () => ({ key: new Uint8Array(KEY), associatedData: hex('6164') });

const encrypt = (bytes: Uint8Array) => collect(encryptContent(inChunks(bytes, 7), keyed(), SMALL));

/** Decrypts, and returns the error and what was released before it. */
async function decrypt(
  bytes: Uint8Array,
  how = keyed(),
): Promise<{ readonly released: Buffer; readonly error: unknown }> {
  const released: Uint8Array[] = [];
  try {
    for await (const chunk of decryptContent(inChunks(bytes, 11), how, SMALL)) released.push(chunk);
    return { released: Buffer.concat(released), error: null };
  } catch (error) {
    return { released: Buffer.concat(released), error };
  }
}

/** Asserts that bytes are refused, and that only a true beginning was released, in whole segments. */
async function refused(bytes: Uint8Array, plaintext: Uint8Array, what: string): Promise<string> {
  const { released, error } = await decrypt(bytes);
  assert.ok(error instanceof EncryptedFileError, `${what}: ${error}`);
  assert.ok(['damaged', 'truncated'].includes(error.code), `${what}: ${error.code}`);
  assert.deepEqual(released, Buffer.from(plaintext.subarray(0, released.length)), what);
  assert.ok(released.length < Math.max(1, plaintext.length), `${what}: all was released`);
  return error.code;
}

describe("the content of encrypted files, by Tink's published vectors", () => {
  for (const { name, key, associatedData, plaintext, ciphertext, ...parameters } of tink) {
    it(name, async () => {
      const contentKey = () => ({ key: hex(key), associatedData: hex(associatedData) });
      const opened = decryptContent(inChunks(hex(ciphertext), 9), contentKey(), parameters);
      assert.equal((await collect(opened)).toString('hex'), plaintext);
      const random = fills(hex(ciphertext).subarray(1, 1 + parameters.keyBytes + 7));
      const source = inChunks(hex(plaintext), 9);
      const sealed = await collect(encryptContent(source, contentKey(), parameters, random));
      assert.equal(sealed.toString('hex'), ciphertext);
    });
  }
});

describe('the content of encrypted files', () => {
  for (const { bytes, key, associated_data, random, sha256: digest } of own) {
    it(`is that of the vectors, which Tink opens: ${bytes} bytes`, async () => {
      const contentKey = { key: hex(key), associatedData: hex(associated_data) };
      const source = inChunks(content(bytes), 2 ** 19 + 1);
      const sealed = await collect(
        encryptContent(source, contentKey, undefined, fills(hex(random))),
      );
      assert.equal(sha256(sealed), digest);
      const again = { key: hex(key), associatedData: hex(associated_data) };
      const opened = await collect(decryptContent(inChunks(sealed, 2 ** 20), again));
      assert.equal(sha256(opened), sha256(content(bytes)));
    });
  }

  it('is the same in and out, however its source is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 1, max: 130 }),
        async (plaintext, first, second) => {
          const sealed = await collect(encryptContent(inChunks(plaintext, first), keyed(), SMALL));
          const opened = decryptContent(inChunks(sealed, second), keyed(), SMALL);
          assert.deepEqual(await collect(opened), Buffer.from(plaintext));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('has one length for each length of its source', async () => {
    for (let bytes = 0; bytes < 160; bytes += 1) {
      const segments = bytes <= 8 ? 1 : 1 + Math.ceil((bytes - 8) / 48);
      assert.equal((await encrypt(content(bytes))).length, 40 + bytes + 16 * segments, `${bytes}`);
    }
  });

  it('is refused after a change of any byte', async () => {
    for (const length of [0, 8, 9, 56, 70, 104]) {
      const plaintext = content(length);
      const sealed = await encrypt(plaintext);
      for (let at = 0; at < sealed.length; at += 1) {
        const altered = Buffer.from(sealed);
        altered[at] = (altered[at] as number) ^ (1 << randomInt(8));
        await refused(altered, plaintext, `byte ${at} of ${length}`);
      }
    }
  });

  it('is refused after any cut, and says so at the end of a segment', async () => {
    for (const length of [0, 8, 56, 104, 120]) {
      const plaintext = content(length);
      const sealed = await encrypt(plaintext);
      for (let end = 0; end < sealed.length; end += 1) {
        const code = await refused(sealed.subarray(0, end), plaintext, `${end} of ${length}`);
        if (end % 64 === 0) assert.equal(code, 'truncated', `${end} of ${length}`);
      }
    }
  });

  it('is refused with bytes or segments added, swapped, left out or there twice', async () => {
    const plaintext = content(150);
    const sealed = await encrypt(plaintext);
    const parts = [0, 64, 128, 192].map((at) => sealed.subarray(at, at + 64)) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    const [a, b, c, d] = parts;
    const foreign = (await encrypt(plaintext)).subarray(64, 128);
    const forms: Record<string, Buffer[]> = {
      'a byte more': [sealed, Buffer.alloc(1)],
      'a tag more': [sealed, Buffer.alloc(16)],
      'a segment more': [a, b, c, d, d],
      swapped: [a, c, b, d],
      'left out': [a, c, d],
      'the first left out': [b, c, d],
      'the last left out': [a, b, c],
      'there twice': [a, b, b, c, d],
      'of another file': [a, foreign, c, d],
      'the last in the middle': [a, d, c, d],
    };
    for (const [name, form] of Object.entries(forms)) {
      await refused(Buffer.concat(form), plaintext, name);
    }
  });

  it('is refused with an empty segment at its end, which only the holder of the key can make', async () => {
    const plaintext = content(8);
    const whole = (await encrypt(content(9))).subarray(0, 64);
    const salt = whole.subarray(1, 33);
    const derived = Buffer.from(nodeCrypto.hkdfSync('sha256', KEY, salt, 'ad', 32));
    const nonce = Buffer.concat([whole.subarray(33, 40), Buffer.from('0000000101', 'hex')]);
    const cipher = nodeCrypto.createCipheriv('aes-256-gcm', derived, nonce);
    cipher.final();
    const { released, error } = await decrypt(Buffer.concat([whole, cipher.getAuthTag()]));
    assert.deepEqual(released, Buffer.from(plaintext));
    assert.equal((error as EncryptedFileError).code, 'truncated');
  });

  it('is refused under another key or other associated data, and releases nothing', async () => {
    const sealed = await encrypt(content(100));
    for (const how of [
      { ...keyed(), key: new Uint8Array(32) },
      { ...keyed(), associatedData: hex('6165') },
      { ...keyed(), associatedData: hex('') },
    ]) {
      const { released, error } = await decrypt(sealed, how);
      assert.equal((error as EncryptedFileError).code, 'damaged');
      assert.equal(released.length, 0);
    }
  });

  it('never has the same bytes twice', async () => {
    assert.notDeepEqual(await encrypt(content(100)), await encrypt(content(100)));
  });

  it('wipes its key at the end, after an error, and when its reader leaves', async () => {
    const zeros = new Uint8Array(32);
    const sealed = await encrypt(content(100));
    const [atEnd, afterError, left] = [keyed(), keyed(), keyed()];
    await decrypt(sealed, atEnd);
    await decrypt(sealed.subarray(1), afterError);
    const chunks = encryptContent(inChunks(content(100)), left, SMALL);
    await chunks.next();
    await chunks.return(undefined);
    for (const { key } of [atEnd, afterError, left]) assert.deepEqual(key, zeros);
  });

  it('ends its source when its reader leaves', async () => {
    let isEnded = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield content(100);
      } finally {
        isEnded = true;
      }
    }
    for await (const chunk of encryptContent(source(), keyed(), SMALL)) {
      if (chunk.length === 16) break;
    }
    assert.ok(isEnded);
  });

  it('has two ciphers that agree', async () => {
    const nonce = new Uint8Array(12);
    const segment = content(100);
    const node = nodeCipher(nodeCrypto, new Uint8Array(KEY));
    const web = await webCipher(new Uint8Array(KEY));
    const sealed = Buffer.concat(await node.seal(nonce, segment));
    assert.deepEqual(Buffer.concat(await web.seal(nonce, segment)), sealed);
    for (const cipher of [node, web]) {
      const opened = await cipher.open(nonce, new Uint8Array(sealed));
      assert.deepEqual(Buffer.from(opened ?? []), Buffer.from(segment));
      assert.equal(await cipher.open(new Uint8Array(12).fill(1), new Uint8Array(sealed)), null);
    }
  });
});
