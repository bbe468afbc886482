/** Where the content of a sealed key stands. sealed-key.test.ts has its form. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  readPlaintext,
  type SealedContent,
  writePlaintext,
} from '../../packages/sealing/src/plaintext.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * Returns how many bytes of the arrays V8 keeps in its heap, where its garbage collector moves them: it copies those to
 * memory of their own once their buffer is asked for.
 */
function movingBytes(arrays: readonly Uint8Array[]): number {
  // The second call waits until the first has freed all.
  collectGarbage();
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (const { buffer } of arrays) assert.ok(buffer);
  return Math.max(0, process.memoryUsage().arrayBuffers - before);
}

const TIMES = 10_000;
const OPENING = new Uint8Array(32).fill(7);

describe('the content of a sealed key', () => {
  for (const keyBytes of [16, 32, 48]) {
    it(`with a key of ${keyBytes} bytes is read into memory that never moves`, () => {
      const content = { key: new Uint8Array(keyBytes).fill(9), opening: OPENING, hashProof: 'a' };
      const plaintext = writePlaintext(content);
      const read = Array.from(
        { length: TIMES },
        () => readPlaintext(plaintext, keyBytes) as SealedContent,
      );
      assert.deepEqual(read[0], content);
      assert.equal(movingBytes(read.map(({ key }) => key)), 0);
      assert.equal(movingBytes(read.map(({ opening }) => opening)), 0);
    });
  }

  it('would move in arrays that V8 makes by itself', () => {
    assert.ok(movingBytes(Array.from({ length: TIMES }, () => new Uint8Array(48))) > 0);
  });
});
