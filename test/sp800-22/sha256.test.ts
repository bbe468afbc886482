/** The portable SHA-256, against the examples of FIPS 180 and node:crypto. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Sha256 } from '#sp800-22';

/** NIST's examples for FIPS 180: messages of one and of two blocks, and the empty message. */
const EXAMPLES = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
] as const;

describe('the portable SHA-256', () => {
  it('gives the digests of the standard', () => {
    for (const [text, digest] of EXAMPLES) {
      const hash = new Sha256();
      hash.update(Buffer.from(text));
      assert.equal(hash.hex(), digest);
    }
  });

  it("gives node:crypto's digest of every length up to three blocks, in parts of any length", () => {
    const bytes = Uint8Array.from({ length: 192 }, (_, i) => (i * 167 + 13) & 255);
    for (let length = 0; length <= bytes.length; length++) {
      const hash = new Sha256();
      for (let at = 0; at < length; at += 1 + (length % 70)) {
        hash.update(bytes.subarray(at, Math.min(length, at + 1 + (length % 70))));
        // A digest of the beginning does not end the hash.
        hash.hex();
      }
      const expected = createHash('sha256').update(bytes.subarray(0, length)).digest('hex');
      assert.equal(hash.hex(), expected, `${length} bytes`);
    }
  });
});
