/** Free space is what `df` shows to a user; a directory that does not exist has none. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { diskSpace } from '../../src/files/disk-space.ts';

describe('the space of a disk', () => {
  it('is what df shows', async () => {
    const space = await diskSpace(tmpdir());
    const df = execFileSync('df', ['-B1', '--output=size,avail', tmpdir()], { encoding: 'utf8' });
    const [size, avail] = (df.split('\n')[1] ?? '').trim().split(/\s+/).map(Number);
    assert.equal(space?.sizeBytes, size);
    // Other programs write meanwhile.
    assert.ok(Math.abs((space?.freeBytes ?? 0) - (avail ?? 0)) < 2 ** 28);
  });

  it('is unknown for a directory that does not exist', async () => {
    assert.equal(await diskSpace(join(tmpdir(), 'phm-no-such-directory')), null);
  });
});
