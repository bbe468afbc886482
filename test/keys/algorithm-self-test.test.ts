/** Each algorithm has a known answer, and one that computes something else fails alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { algorithmSelfTest } from '../../src/keys/algorithm-self-test.ts';

describe('the known answers of algorithms', () => {
  it('pass here, for each algorithm that this service takes from OpenSSL', () => {
    const results = algorithmSelfTest();
    const names = results.map(({ name }) => name.split(' (')[0]);
    assert.deepEqual(names, [
      ...['SHA-256', 'SHA-512', 'SHA3-256', 'HMAC-SHA-256', 'HKDF-SHA-256', 'AES-256-GCM'],
      ...['X25519', 'Ed25519', 'ML-KEM-768', 'ML-KEM-1024', 'ML-DSA-44'],
    ]);
    assert.deepEqual(
      results.filter(({ passed }) => !passed),
      [],
    );
  });

  it('fail alone, also by an error', () => {
    const fail = (): boolean => {
      throw new Error('unsupported');
    };
    const test = { name: 'A', standard: 'S', run: () => true };
    const results = algorithmSelfTest([
      test,
      { ...test, run: () => false },
      { ...test, run: fail },
    ]);
    assert.deepEqual(
      results.map(({ passed }) => passed),
      [true, false, false],
    );
  });
});
