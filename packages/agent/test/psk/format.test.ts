/** The forms of a key, as the programs read them that take it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { formatKey, ppkIdOf } from '../../src/psk/format.ts';

const ID = '3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11';

describe('a key', () => {
  it('is base64 with a line end for wg', () => {
    for (let size = 0; size <= 48; size += 1) {
      const key = randomBytes(size);
      const text = Buffer.from(formatKey('wireguard', key, ID)).toString();
      assert.equal(text, `${key.toString('base64')}\n`);
    }
  });

  it('is hexadecimal with a line end', () => {
    const key = randomBytes(32);
    assert.equal(Buffer.from(formatKey('hex', key, ID)).toString(), `${key.toString('hex')}\n`);
  });

  it('is a secret of swanctl.conf, with a PPK_ID that both ends derive from the delivery', () => {
    const key = randomBytes(32);
    const lines = Buffer.from(formatKey('strongswan-ppk', key, ID))
      .toString()
      .split('\n');
    assert.deepEqual(lines, [
      'secrets {',
      `  ppk-${ID} {`,
      `    id = phm-${ID}`,
      `    secret = 0x${key.toString('hex')}`,
      '  }',
      '}',
      '',
    ]);
    assert.equal(ppkIdOf(ID), `phm-${ID}`);
  });

  it('stays what it was', () => {
    const key = randomBytes(32);
    const before = key.toString('hex');
    for (const format of ['wireguard', 'hex', 'strongswan-ppk'] as const)
      formatKey(format, key, ID);
    assert.equal(key.toString('hex'), before);
  });
});
