import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SourceSettings } from '../../src/config/index.ts';
import {
  BackgroundSource,
  type Draw,
  PooledSource,
  type SourceEvent,
  sourceAssessment,
  sourceCreditBits,
} from '../../src/entropy/index.ts';
import { backgroundRow } from '../../src/entropy/registry.ts';
import { AppError, SetupError } from '../../src/errors.ts';
import { API_KEY, CRN, FakeIbm } from './fake-ibm.ts';

const SETTINGS: SourceSettings = {
  jitterCredit: true,
  remoteCredit: false,
  device: null,
  ibmQuantum: null,
  qrng: null,
};

const slotBytes = (source: BackgroundSource) => new Uint8Array(source.pool.memory, 32);

function drawIfAny(pooled: PooledSource): Draw[] {
  try {
    return [pooled.draw()];
  } catch (error) {
    assert.ok(error instanceof AppError);
    return [];
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('a background source', { concurrency: true }, () => {
  it('fills its pool in its own thread and leaves the pool empty when it closes', async (t) => {
    const events: SourceEvent[] = [];
    const source = new BackgroundSource('jitter', SETTINGS, (event) => events.push(event));
    t.after(() => source.close());
    await until(() => source.status().healthy);
    const pooled = new PooledSource(source.pool);
    // The first draw is there as soon as the source is healthy.
    const draws = [pooled.draw()];
    while (draws.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      draws.push(...drawIfAny(pooled));
    }
    assert.notDeepEqual(draws[0].bytes, draws[1].bytes);
    for (const { bytes, creditBits, jobId } of draws) {
      assert.equal(bytes.length, 32);
      assert.equal(creditBits, 192);
      assert.equal(jobId, null);
    }
    await source.close();
    assert.ok(slotBytes(source).every((byte) => byte === 0));
    assert.throws(() => pooled.draw(), AppError);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['delivering'],
    );
  });

  it('cancels the request of its thread when it closes', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Queued'];
    const ibmQuantum = {
      apiKey: { text: API_KEY },
      serviceCrn: CRN,
      backend: 'ibm_fake',
      shots: 256,
      url: `${fake.service.url}/api/v1`,
      iamUrl: `${fake.service.url}/identity/token`,
    };
    const source = new BackgroundSource('ibm-quantum', { ...SETTINGS, ibmQuantum }, () => {});
    await fake.service.reached('state', 1);
    await source.close();
    assert.equal(fake.service.count('cancel'), 1);
  });

  it('credits timing noise as configured', async () => {
    for (const [jitterCredit, credit] of [
      [true, 192],
      [false, 0],
    ] as const) {
      const source = new BackgroundSource('jitter', { ...SETTINGS, jitterCredit }, () => {});
      assert.equal(source.status().creditBitsPerDraw, credit);
      await source.close();
    }
  });

  it("credits a device as the operator claims, except the kernel's generator under another name", {
    skip: process.platform === 'win32' && 'no device files',
  }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-device-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const link = join(folder, 'noise');
    symlinkSync('/dev/urandom', link);
    const creditOf = (path: string) =>
      sourceCreditBits('device', { ...SETTINGS, device: { path, minEntropyPerByte: 8 } });
    assert.equal(creditOf('/dev/null'), 192);
    assert.equal(creditOf(join(folder, 'missing')), 192);
    for (const path of ['/dev/urandom', '/dev/random', link]) assert.equal(creditOf(path), 0, path);
  });

  it("adds a device's credit to that of os, unless the kernel may read the same chip", {
    skip: process.platform === 'win32' && 'no device files',
  }, (t) => {
    const settingsOf = (path: string) => ({ ...SETTINGS, device: { path, minEntropyPerByte: 8 } });
    const isSeparate = (path: string) => backgroundRow('device').isSeparate(settingsOf(path));
    assert.equal(isSeparate('/dev/null'), true);
    assert.equal(isSeparate('/dev/hwrng'), false, 'by its name, also while it is away');
    assert.equal(sourceCreditBits('device', settingsOf('/dev/hwrng')), 192);
    assert.match(sourceAssessment('device', settingsOf('/dev/hwrng')), /; not added to os: /);
    if (!existsSync('/dev/hwrng')) return t.diagnostic('no /dev/hwrng: its number is not tested');
    const folder = mkdtempSync(join(tmpdir(), 'phm-device-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const link = join(folder, 'noise');
    symlinkSync('/dev/hwrng', link);
    assert.equal(isSeparate(link), false, 'by its number');
  });

  it('credits a remote source only if the operator says so', () => {
    for (const name of ['ibm-quantum', 'qrng'] as const) {
      assert.equal(sourceCreditBits(name, SETTINGS), 0);
      assert.equal(sourceCreditBits(name, { ...SETTINGS, remoteCredit: true }), 192);
    }
    assert.equal(sourceCreditBits('os', SETTINGS), 256);
    assert.equal(sourceCreditBits('quantum-simulator', { ...SETTINGS, remoteCredit: true }), 0);
  });

  it('latches if its thread dies, while the process continues', async () => {
    const events: SourceEvent[] = [];
    // The reader refuses this claim in its thread; the configuration would refuse it earlier.
    const device = { path: '/dev/zero', minEntropyPerByte: 9 };
    const settings = { ...SETTINGS, device };
    const source = new BackgroundSource('device', settings, (event) => events.push(event));
    await until(() => events.length > 0);
    const detail =
      'its thread ended by an unexpected RangeError; it delivers nothing until the process is restarted';
    assert.deepEqual(events, [{ kind: 'latched', detail }]);
    assert.equal(source.status().failures, 1);
    assert.ok(slotBytes(source).every((byte) => byte === 0));
    assert.equal(source.status().healthy, false);
    assert.match(source.status().detail ?? '', /permanently/);
    await source.close();
  });

  it('refuses to start with an unreadable credential and does not quote it', () => {
    const directory = mkdtempSync(join(tmpdir(), 'phm-test-'));
    const file = join(directory, 'key');
    const secret = 'two lines\nof a secret';
    writeFileSync(file, secret);
    const open = (apiKey: { file: string }) => () =>
      new BackgroundSource(
        'qrng',
        { ...SETTINGS, qrng: { profile: 'anu', url: null, apiKey } },
        () => {},
      );
    assert.throws(open({ file }), (error) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /PHM_QRNG_API_KEY_FILE.+one line of printable ASCII/);
      assert.ok(error.message.includes(file) && !error.message.includes('secret'));
      return true;
    });
    assert.throws(open({ file: join(directory, 'missing') }), SetupError);
    rmSync(directory, { recursive: true });
  });
});
