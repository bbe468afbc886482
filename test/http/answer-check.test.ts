/** The last look at an answer: its text must be of the keys that were generated for it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { answerDigest } from '../../src/keys/answer-digest.ts';

/** Memory that the module creates when it is loaded. */
const recorded: Uint8Array[] = [];
const NativeArrayBuffer = globalThis.ArrayBuffer;
globalThis.ArrayBuffer = class extends NativeArrayBuffer {
  constructor(lengthBytes: number) {
    super(lengthBytes);
    recorded.push(new Uint8Array(this));
  }
} as unknown as ArrayBufferConstructor;
const { fitsKeys } = await import('../../src/http/wire/answer-check.ts');
globalThis.ArrayBuffer = NativeArrayBuffer;

const order = { acceptedMs: 1.25, securityLevel: 256 } as const;
const newKey = (keyId: string) => ({
  key: randomBytes(32),
  keyId,
  hashProof: `proof_${keyId}`,
  opening: randomBytes(32),
});
const made = [newKey('phm_1'), newKey('phm_2')];
const digests = made.map((one) => answerDigest(one, order));

/** Returns an answer with the members of each key changed. */
function answerOf(keys = made, change: (members: Record<string, string>) => object = (one) => one) {
  const all = keys.map(({ key, keyId, hashProof, opening }) =>
    change({
      key_id: keyId,
      key: key.toString('hex'),
      hash_proof: hashProof,
      opening: opening.toString('base64'),
    }),
  );
  return JSON.stringify({ success: true, keys: all });
}

const fits = (text: unknown) => fitsKeys(text, { order, isBatch: true, digests });

describe('the text of an answer', () => {
  it('fits its keys, and leaves none of them in memory', () => {
    assert.ok(fits(answerOf()));
    const used = recorded.filter(({ length }) => length === 48 || length === 32);
    assert.ok(used.length >= 2, 'memory of a key and of an opening');
    const memory = Buffer.concat(recorded);
    for (const secret of made.flatMap(({ key, opening }) => [key, opening])) {
      assert.ok(!memory.includes(secret.subarray(0, 8)));
      assert.ok(!memory.includes(secret.subarray(24)));
    }
  });

  it('does not fit with one key fewer, one more, or in another order', () => {
    const [one, two] = made as [(typeof made)[0], (typeof made)[0]];
    for (const keys of [[one], [], [two, one], [one, one], [one, two, one], [one, two, two]]) {
      assert.equal(fits(answerOf(keys)), false);
    }
  });

  it('does not fit with another member, or another form of it', () => {
    for (const change of [
      { key_id: 'phm_3' },
      { key: randomBytes(32).toString('hex') },
      { key: `${'0'.repeat(63)}g` },
      { key: '' },
      { hash_proof: 'proof_3' },
      { opening: null },
      { opening: randomBytes(32).toString('base64') },
    ]) {
      const text = answerOf(made, (members) => ({ ...members, ...change }));
      assert.equal(fits(text), false, Object.keys(change)[0]);
    }
    for (const alter of [
      (text: string) => `${text}AAAA`,
      (text: string) => `*${text}`,
      (text: string) => text.slice(0, -1),
      (text: string) => text.slice(0, -4),
    ]) {
      const text = answerOf(made, ({ opening = '', ...members }) => ({
        ...members,
        opening: alter(opening),
      }));
      assert.equal(fits(text), false, alter.toString());
    }
  });

  it('is a text of JSON', () => {
    for (const text of [undefined, Buffer.from(answerOf()), '', 'null', '{}', '{"keys":{}}']) {
      assert.equal(fits(text), false);
    }
  });
});
