/** Requests of SKIP: Table 2 of draft-cisco-skip-02, its defaults, and what is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestError } from '../../src/listeners/answer.ts';
import { parseRequest } from '../../src/skip/request.ts';

const KEY_ID = '550e8400e29b41d4a716446655440000';
const UUID = '550e8400-e29b-41d4-a716-446655440000';

function refuses(target: string, message: RegExp, status = 400): void {
  assert.throws(
    () => parseRequest(target),
    (error) => {
      assert.ok(error instanceof RequestError);
      assert.equal(error.status, status, target);
      assert.match(error.message, message);
      return true;
    },
  );
}

describe('a request of SKIP', () => {
  it('is one of Table 2', () => {
    const remote = 'Bob';
    const table = {
      '/capabilities': { method: 'capabilities' },
      '/key?remoteSystemID=Bob': { method: 'new-key', remote, size: null },
      '/key?remoteSystemID=Bob&size=128': { method: 'new-key', remote, size: 128 },
      '/key?size=384&remoteSystemID=Bob': { method: 'new-key', remote, size: 384 },
      [`/key/${KEY_ID}?remoteSystemID=Bob`]: { method: 'key', remote, id: UUID },
      [`/key/${KEY_ID.toUpperCase()}?remoteSystemID=Bob`]: { method: 'key', remote, id: UUID },
      '/entropy': { method: 'entropy', bytes: 32 },
      '/entropy?minentropy=128': { method: 'entropy', bytes: 16 },
    };
    for (const [target, expected] of Object.entries(table)) {
      assert.deepEqual(parseRequest(target), expected, target);
    }
  });

  it('names its remote system URL-encoded', () => {
    const wanted = parseRequest('/key?remoteSystemID=urn%3Asae%2Fb');
    assert.ok(wanted.method === 'new-key');
    assert.equal(wanted.remote, 'urn:sae/b');
  });

  it('is refused with another path, with 404', () => {
    for (const path of ['/', '/keys', '/key/', '/Capabilities', '/capabilities/', '/entropy/8']) {
      if (path === '/key/') refuses(path, /32 hexadecimal digits/);
      else refuses(path, /no such resource/, 404);
    }
  });

  it('is refused with a wrong key ID, size, or parameter', () => {
    refuses('/key', /remoteSystemID is missing/);
    refuses('/key?remoteSystemID=', /remoteSystemID is missing/);
    refuses(`/key/${KEY_ID}`, /remoteSystemID is missing/);
    refuses(`/key/${UUID}?remoteSystemID=Bob`, /32 hexadecimal digits/);
    refuses(`/key/${KEY_ID}00?remoteSystemID=Bob`, /32 hexadecimal digits/);
    refuses(`/key/${KEY_ID}?remoteSystemID=Bob&size=256`, /no parameter "size"/);
    for (const size of ['0', '8', '257', '512', '-1', '1e2', '']) {
      refuses(`/key?remoteSystemID=Bob&size=${size}`, /size shall be one of 128, 256, 384/);
    }
    refuses('/key?remoteSystemID=Bob&remoteSystemID=Eve', /there twice/);
    refuses('/key?remotesystemid=Bob', /no parameter "remotesystemid"/);
    for (const bits of ['0', '4', '129', '8200', 'x']) {
      refuses(`/entropy?minentropy=${bits}`, /a multiple of 8 from 8 to 8192/);
    }
    refuses('/capabilities?a=1', /no parameter "a"/);
    refuses('/key?size=128?remoteSystemID=Bob', /remoteSystemID is missing/);
    refuses('/entropy?minentropy=128?a=1', /a multiple of 8/);
  });
});
