import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { NoiseTests } from '#sp800-90b';
import type { NoiseReader } from '../../src/entropy/noise.ts';
import { type DeviceOptions, openDevice } from '../../src/entropy/sources/device.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';

const { signal } = new AbortController();
const noise = (length: number, key = 0) => aesCtr(Buffer.alloc(32, key), length);

function temporaryPath(t: TestContext, name = 'device'): string {
  const directory = mkdtempSync(join(tmpdir(), 'phm-device-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, name);
}

/** Creates a FIFO that stays open for writing; `writer` is the descriptor. */
function makeFifo(t: TestContext): { path: string; writer: number } {
  const path = temporaryPath(t);
  execFileSync('mkfifo', [path]);
  return { path, writer: openWriter(path) };
}

// Open in both directions, because opening only for writing would wait for the reader.
const openWriter = (path: string) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);

function open(t: TestContext, options: Partial<DeviceOptions> & { path: string }): NoiseReader {
  const reader = openDevice({ minEntropyPerByte: 8, ...options });
  t.after(() => reader.close());
  return reader;
}

/** Returns the failure's message without the path. */
async function failureOf(reader: NoiseReader, path: string): Promise<string> {
  const error = await reader.read(signal).then(
    () => assert.fail('expected a failure'),
    (reason: Error) => reason,
  );
  assert.equal(error.name, 'NoiseFailure');
  return error.message.replace(`${path} (PHM_DEVICE_PATH) `, '');
}

describe('a device', { skip: process.platform === 'win32' && 'no FIFOs on Windows' }, () => {
  it('delivers its bytes in order, one draw at a time', async (t) => {
    const { path, writer } = makeFifo(t);
    const bytes = noise(96);
    writeSync(writer, bytes);
    const reader = open(t, { path });
    for (let draw = 0; draw < 3; draw++) {
      const { samples, jobId } = await reader.read(signal);
      assert.deepEqual(samples, new Uint8Array(bytes.subarray(32 * draw, 32 * (draw + 1))));
      assert.equal(samples.buffer.byteLength, 32, 'memory of its own');
      assert.equal(jobId, null);
    }
    closeSync(writer);
  });

  it('may be slow', async (t) => {
    const { path, writer } = makeFifo(t);
    const bytes = noise(32);
    const pending = open(t, { path, timeoutMs: 60_000 }).read(signal);
    for (let i = 0; i < 32; i += 8) {
      writeSync(writer, bytes, i, 8);
      await setTimeout(8);
    }
    assert.deepEqual((await pending).samples, new Uint8Array(bytes));
    closeSync(writer);
  });

  it('reports its progress and fails if it is too slow, then restarts', async (t) => {
    const { path, writer } = makeFifo(t);
    const reader = open(t, { path, timeoutMs: 30 });
    writeSync(writer, noise(10));
    assert.equal(await failureOf(reader, path), 'delivered 10 of 32 bytes in 0.03 s.');
    assert.equal(await failureOf(reader, path), 'delivered 0 of 32 bytes in 0.03 s.');
    const bytes = noise(32, 1);
    writeSync(writer, bytes);
    assert.deepEqual((await reader.read(signal)).samples, new Uint8Array(bytes));
    closeSync(writer);
  });

  it('is reopened if it returns after its end', async (t) => {
    const { path, writer } = makeFifo(t);
    const reader = open(t, { path });
    writeSync(writer, noise(42));
    await reader.read(signal);
    closeSync(writer);
    assert.equal(await failureOf(reader, path), 'ended after 10 of 32 bytes.');
    rmSync(path);
    assert.match(await failureOf(reader, path), /^does not exist\. Set it to the path of the/);
    execFileSync('mkfifo', [path]);
    const again = openWriter(path);
    const bytes = noise(32, 1);
    writeSync(again, bytes);
    assert.deepEqual((await reader.read(signal)).samples, new Uint8Array(bytes));
    closeSync(again);
  });

  it('fails with a remedy if it is unreadable', async (t) => {
    const { path, writer } = makeFifo(t);
    chmodSync(path, 0o200);
    // Root can read every file.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      assert.match(await failureOf(open(t, { path }), path), /^cannot be read by this user\. Give/);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    closeSync(writer);
  });

  it('stops promptly on request without a byte', async (t) => {
    const { path, writer } = makeFifo(t);
    const abort = new AbortController();
    const pending = open(t, { path, timeoutMs: 60_000 }).read(abort.signal);
    const stopped = assert.rejects(pending, { name: 'AbortError' });
    await setTimeout(10);
    abort.abort();
    await stopped;
    closeSync(writer);
    await assert.rejects(open(t, { path }).read(AbortSignal.abort()), { name: 'AbortError' });
  });

  it('refuses reads after close', async (t) => {
    const { path, writer } = makeFifo(t);
    const reader = open(t, { path });
    writeSync(writer, noise(64));
    await reader.read(signal);
    await reader.close();
    await assert.rejects(reader.read(signal), /^NoiseFailure: The device source is closed\.$/);
    closeSync(writer);
  });

  it('fails and stays closed if it is closed during an open or a read', async (t) => {
    const { path, writer } = makeFifo(t);
    const opening = open(t, { path });
    const refused = assert.rejects(opening.read(signal), { name: 'NoiseFailure' });
    await opening.close();
    await refused;
    const waiting = open(t, { path, timeoutMs: 60_000 });
    const stopped = assert.rejects(waiting.read(signal), { name: 'NoiseFailure' });
    await setTimeout(15);
    await waiting.close();
    await stopped;
    closeSync(writer);
  });

  it('may be a character device', async (t) => {
    const reader = open(t, { path: '/dev/urandom', minEntropyPerByte: 1 });
    const tests = new NoiseTests(reader);
    for (let batch = 0; batch < 8; batch++) {
      const { samples } = await reader.read(signal);
      assert.equal(tests.check(samples).level, 'passed');
    }
  });

  it('fails the repetition count test if it is stuck', async (t) => {
    const reader = open(t, { path: '/dev/zero', minEntropyPerByte: 1 });
    const { samples } = await reader.read(signal);
    assert.deepEqual(new NoiseTests(reader).check(samples), {
      level: 'permanent',
      test: 'repetition count',
      sample: 60,
    });
  });

  it('fails the adaptive proportion test if it is biased', async (t) => {
    // The claim is 4 bits a byte, and every other byte is zero: C = 71 at 2^-30, 92 at 2^-60.
    const { path, writer } = makeFifo(t);
    const reader = open(t, { path, minEntropyPerByte: 4 });
    const bytes = noise(512).map((byte, i) => (i % 2 === 0 ? 0 : byte | 1));
    writeSync(writer, bytes);
    const tests = new NoiseTests(reader);
    const verdicts = [];
    for (let i = 0; i < 8; i++) verdicts.push(tests.check((await reader.read(signal)).samples));
    const { level, ...where } = verdicts[2];
    assert.equal(level, 'permanent');
    assert.deepEqual(where, { test: 'adaptive proportion', sample: 182 });
    closeSync(writer);
  });
});

describe('a path that is not a device', {
  skip: process.platform === 'win32' && 'no FIFOs on Windows',
}, () => {
  it('is refused if it is a file, which would repeat', async (t) => {
    const path = temporaryPath(t);
    writeFileSync(path, noise(64));
    assert.match(
      await failureOf(open(t, { path }), path),
      /^is neither a character device nor a FIFO\./,
    );
  });

  it('may be a file on request, which gives its bytes once', async (t) => {
    const path = temporaryPath(t);
    writeFileSync(path, noise(40));
    const reader = open(t, { path, allowRegularFile: true });
    assert.deepEqual((await reader.read(signal)).samples, new Uint8Array(noise(32)));
    assert.equal(await failureOf(reader, path), 'ended after 8 of 32 bytes.');
    assert.equal(await failureOf(reader, path), 'ended after 0 of 32 bytes.');
  });

  it('is refused if it is a directory', async (t) => {
    const path = join(temporaryPath(t), '..');
    const reader = open(t, { path, allowRegularFile: true });
    assert.match(await failureOf(reader, path), /^is neither a character device nor a FIFO\./);
  });
});

describe('the claimed entropy of a device', () => {
  it('determines how many bytes make a draw of 256 bits', () => {
    const bytes = [8, 7.5, 1, 1 / 8].map(
      (minEntropyPerByte) => openDevice({ path: '/dev/hwrng', minEntropyPerByte }).bytesPerDraw,
    );
    assert.deepEqual(bytes, [32, 35, 256, 2048]);
  });

  it('is refused outside its range', () => {
    for (const minEntropyPerByte of [0, -1, 1 / 9, 8.01, Number.NaN]) {
      assert.throws(() => openDevice({ path: '/dev/hwrng', minEntropyPerByte }), {
        name: 'RangeError',
        message: `"minEntropyPerByte" expected a number from 1/8 to 8, got ${minEntropyPerByte}`,
      });
    }
    for (const timeoutMs of [0, -1, Infinity, Number.NaN]) {
      const options = { path: '/dev/hwrng', minEntropyPerByte: 8, timeoutMs };
      assert.throws(() => openDevice(options), /"timeoutMs" expected a number above 0/);
    }
  });
});
