import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openSource } from '../../src/entropy/index.ts';
import {
  type OsDevices,
  openOsSource,
  osAssessment,
  osCreditBits,
} from '../../src/entropy/sources/os.ts';
import { AppError } from '../../src/errors.ts';

const DRAW_BYTES = 48;
const directory = mkdtempSync(join(tmpdir(), 'phm-os-source-'));
after(() => rmSync(directory, { recursive: true }));

/** Returns distinct bytes for every draw. */
function counting(draws: number): Buffer {
  const bytes = Buffer.alloc(draws * DRAW_BYTES);
  for (let i = 0; i < bytes.length; i++) bytes[i] = i + Math.floor(i / DRAW_BYTES);
  return bytes;
}

function devices(name: string, content: Uint8Array | null): OsDevices {
  const path = join(directory, name);
  if (content !== null) writeFileSync(path, content);
  return { path, readyPath: '/dev/random', mustBeDevice: false };
}

function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'entropy_unavailable';
}

const skip = process.platform === 'win32' ? 'there are no device files on Windows' : false;

describe('the os source', { skip }, () => {
  it('draws 48 fresh bytes with a credit of 256 bits', () => {
    const source = openSource('os');
    const draws = Array.from({ length: 100 }, () => source.draw());
    for (const { bytes, creditBits, jobId } of draws) {
      assert.equal(bytes.length, DRAW_BYTES);
      assert.equal(bytes.buffer.byteLength, DRAW_BYTES);
      assert.equal(creditBits, 256);
      assert.equal(jobId, null);
    }
    assert.equal(new Set(draws.map(({ bytes }) => bytes.toString('hex'))).size, 100);
    assert.deepEqual(source.status(), {
      name: 'os',
      kind: 'system',
      state: 'delivering',
      healthy: true,
      creditBitsPerDraw: 256,
      draws: 100,
      failures: 0,
    });
    source.close();
  });

  it('reads the device for every draw, in order', () => {
    const content = counting(4);
    const source = openOsSource('linux', devices('counting', content));
    // The first 48 bytes only start the continuous test.
    for (const draw of [1, 2, 3]) {
      const expected = content.subarray(draw * DRAW_BYTES, (draw + 1) * DRAW_BYTES);
      assert.deepEqual(source.draw().bytes, expected);
    }
    source.close();
  });

  it('throws on a short read with the reason and uses no substitute', () => {
    const content = Buffer.concat([counting(2), Buffer.alloc(10, 3)]);
    const source = openOsSource('linux', devices('short', content));
    source.draw();
    assert.throws(
      () => source.draw(),
      (error) => {
        assert.ok(isUnavailable(error));
        assert.equal(error.details.detail, 'Entropy source "os": the last read failed.');
        assert.match(String(error.cause), /short read: 10 of 48 bytes/);
        return true;
      },
    );
    const { healthy, draws, failures, detail } = source.status();
    assert.deepEqual({ healthy, draws, failures }, { healthy: false, draws: 1, failures: 1 });
    assert.equal(detail, 'the last read failed');
    source.close();
  });

  it('recovers after reads succeed again', () => {
    const late = devices('late', null);
    const source = openOsSource('linux', late);
    assert.equal(source.status().healthy, false);
    assert.throws(() => source.draw(), isUnavailable);
    assert.equal(source.status().failures, 2);
    writeFileSync(late.path, counting(2));
    assert.equal(source.draw().bytes.length, DRAW_BYTES);
    assert.equal(source.status().healthy, true);
    assert.equal(source.status().failures, 2);
    source.close();
  });

  it('opens without a device; the first draw throws', () => {
    const source = openOsSource('linux', devices('missing', null));
    assert.throws(
      () => source.draw(),
      (error) => isUnavailable(error) && /ENOENT/.test(String(error.cause)),
    );
    source.close();
  });

  it('throws if the readiness device is missing or empty', () => {
    const good = devices('good', counting(9));
    const empty = devices('empty', Buffer.alloc(0)).path;
    for (const readyPath of [join(directory, 'nowhere'), empty]) {
      const source = openOsSource('linux', { ...good, readyPath });
      assert.throws(() => source.draw(), isUnavailable);
      source.close();
    }
  });

  it('refuses a regular file in place of the device', () => {
    const source = openOsSource('linux', { ...devices('file', counting(9)), mustBeDevice: true });
    assert.throws(
      () => source.draw(),
      (error) => isUnavailable(error) && /is not a character device/.test(String(error.cause)),
    );
    source.close();
  });

  it('latches permanently on a device that repeats itself', () => {
    const repeating = Buffer.concat([counting(2), counting(2).subarray(DRAW_BYTES), counting(9)]);
    const source = openOsSource('linux', devices('repeating', repeating));
    assert.equal(source.draw().bytes.length, DRAW_BYTES);
    for (let attempt = 0; attempt < 4; attempt++) {
      assert.throws(
        () => source.draw(),
        (error) =>
          isUnavailable(error) && /a draw repeated one of the last 16,384/.test(error.message),
      );
    }
    const { healthy, detail } = source.status();
    assert.deepEqual(
      { healthy, detail },
      { healthy: false, detail: 'a draw repeated one of the last 16,384' },
    );
    source.close();
  });

  it('latches at once on a device stuck at one byte', {
    skip: process.platform !== 'linux' && 'no /dev/zero',
  }, () => {
    const source = openOsSource('linux', {
      path: '/dev/zero',
      readyPath: '/dev/random',
      mustBeDevice: true,
    });
    assert.equal(source.status().detail, 'a draw repeated one byte throughout');
    assert.throws(() => source.draw(), isUnavailable);
    assert.equal(source.status().draws, 0);
    source.close();
  });

  it('reports no path and no system message to callers', () => {
    const source = openOsSource('linux', devices('missing', null));
    assert.throws(
      () => source.draw(),
      (error) => isUnavailable(error) && !error.message.includes(directory),
    );
    assert.ok(!JSON.stringify(source.status()).includes(directory));
  });

  it('refuses to draw after close, and closes once', () => {
    const source = openSource('os');
    source.close();
    source.close();
    assert.throws(() => source.draw(), isUnavailable);
    assert.equal(source.status().detail, 'the source is closed');
  });
});

describe('the os source on Windows', () => {
  it('draws from node:crypto', () => {
    const source = openOsSource('win32');
    assert.notDeepEqual(source.draw().bytes, source.draw().bytes);
    source.close();
  });

  it('credits no entropy to a draw, because its generator rarely asks the kernel', () => {
    const source = openOsSource('win32');
    assert.equal(source.draw().creditBits, 0);
    assert.equal(source.status().creditBitsPerDraw, 0);
    assert.match(osAssessment('win32'), /not credited/);
    assert.equal(osCreditBits('linux'), 256);
    source.close();
  });
});
