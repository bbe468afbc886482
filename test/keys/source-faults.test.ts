/**
 * No fault of an entropy source yields a key. These are the faults that cannot be induced from outside the
 * process, or would take too long there. The others are in `test/campaigns/source-outages.test.ts`.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { EntropySource, SourceName } from '../../src/entropy/index.ts';
import { MonitoredSource } from '../../src/entropy/monitored-source.ts';
import type { NoiseReader } from '../../src/entropy/noise.ts';
import { NoisePump, type SourceEvent } from '../../src/entropy/noise-pump.ts';
import { allocatePool, PooledSource, PoolFiller } from '../../src/entropy/pool.ts';
import { openDevice } from '../../src/entropy/sources/device.ts';
import { openJitter } from '../../src/entropy/sources/jitter.ts';
import { openOsSource } from '../../src/entropy/sources/os.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { GenerateOutcome } from '../../src/keys/index.ts';
import { type KeyRequest, releasedKey } from '../../src/keys/order.ts';
import { FakeIbm } from '../entropy/fake-ibm.ts';
import { FakeQrng } from '../entropy/fake-qrng.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';
import { fakeSource, keyring, parts, RecordingDrbg } from '../support/servers/fakes.ts';
import { NoiseFifo } from '../support/servers/noise-fifo.ts';
import { DEMO_KEY, makeDataDir, removeDataDir } from '../support/servers/server.ts';

/** A generator behind HTTP, without ledger and threads. */
class Site {
  readonly #app: Awaited<ReturnType<typeof buildTestApp>>;
  readonly #drbg: RecordingDrbg;

  private constructor(app: Awaited<ReturnType<typeof buildTestApp>>, drbg: RecordingDrbg) {
    this.#app = app;
    this.#drbg = drbg;
  }

  static async open(t: TestContext, os: EntropySource, extra: EntropySource): Promise<Site> {
    const drbg = new RecordingDrbg();
    const extras = new Map([[extra.name, extra]]);
    const generator = new Generator(parts({ os, extras, drbg }));
    const generate = async (_: unknown, { order }: KeyRequest): Promise<GenerateOutcome> => {
      const generated = generateKey(generator, keyring, order, { streams: 0, streamsPassed: 0 });
      const keys = [releasedKey(generated)];
      return { kind: 'generated', createdMs: 0, keys, usage: NO_USAGE, mayRelease: () => true };
    };
    const entropySources: SourceName[] = ['os', extra.name];
    const app = await buildTestApp({
      service: standInService('enterprise', { generate }),
      entropySources,
      demoKeys: 'admit',
      rateLimits: false,
    });
    t.after(() => app.close());
    return new Site(app, drbg);
  }

  async generate(source: SourceName): Promise<number> {
    const { statusCode, headers, body } = await this.#app.inject({
      method: 'POST',
      url: '/api/v2/generate',
      headers: { 'x-api-key': DEMO_KEY },
      payload: { security_level: 384, entropy_source: source },
    });
    if (statusCode !== 200) {
      assert.equal(statusCode, 503, body);
      assert.equal(JSON.parse(body).code, 'entropy_unavailable');
      assert.match(String(headers['retry-after']), /^[1-9][0-9]*$/);
    }
    return statusCode;
  }

  /** Asserts that a request gets 503 and does not reach the generator. */
  async assertRefuses(source: SourceName): Promise<void> {
    const asked = this.#drbg.requests.length;
    assert.equal(await this.generate(source), 503);
    assert.equal(this.#drbg.requests.length, asked);
  }
}

const NO_USAGE = { month: 0, used: 0, quota: null };

interface DirectFault {
  readonly name: string;
  readonly read: (target: Buffer) => void;
  readonly lasts: boolean;
}

const SAME = randomBytes(48);

const DIRECT_FAULTS: readonly DirectFault[] = [
  { name: 'is stuck at one byte', read: (target) => target.fill(7), lasts: true },
  { name: 'repeats a draw', read: (target) => target.set(SAME), lasts: true },
  {
    name: 'cannot be read',
    read: () => {
      throw new Error('gone');
    },
    lasts: false,
  },
];

for (const name of ['os', 'quantum-simulator'] as const) {
  describe(`the source ${name}`, () => {
    for (const { name: what, read: readFaulty, lasts } of DIRECT_FAULTS) {
      it(`yields no key after it ${what}${lasts ? ', until a restart' : ', and recovers'}`, async (t) => {
        let faulty = false;
        const source = new MonitoredSource({
          name,
          kind: 'system',
          creditBitsPerDraw: 256,
          read: (target) => (faulty ? readFaulty(target) : randomFillSync(target)),
          release: () => {},
        });
        const isOs = name === 'os';
        const os = isOs ? source : fakeSource('os', 256);
        const site = await Site.open(t, os, isOs ? fakeSource('jitter', 0) : source);
        assert.equal(await site.generate(name), 200);
        faulty = true;
        // A key of 384 bits takes two draws, so that a repetition shows in the first.
        assert.equal(await site.generate(name), 503);
        for (let i = 0; i < 3; i++) await site.assertRefuses(name);
        assert.equal(source.status().healthy, false);
        // Every reseed draws from the operating system; requests draw from the source that they name.
        if (isOs) await site.assertRefuses('jitter');
        else assert.equal(await site.generate('os'), 200);
        faulty = false;
        assert.equal(await site.generate(name), lasts ? 503 : 200);
      });
    }
  });
}

describe('the source os', { skip: process.platform !== 'linux' && 'devices of Linux' }, () => {
  it('yields no key if its device is wrong or missing', async (t) => {
    for (const path of ['/dev/zero', '/dev/null', '/dev/nothing', '/proc/self/status']) {
      const os = openOsSource('linux', { path, readyPath: '/dev/random', mustBeDevice: true });
      const site = await Site.open(t, os, fakeSource('jitter', 0));
      await site.assertRefuses('os');
      await site.assertRefuses('jitter');
      os.close();
    }
  });
});

interface Pumped {
  readonly site: Site;
  readonly events: readonly SourceEvent[];
}

/** Runs a source in this thread as its own thread would. */
async function pumped(t: TestContext, name: SourceName, reader: NoiseReader): Promise<Pumped> {
  const memory = allocatePool(2);
  const events: SourceEvent[] = [];
  const pump = new NoisePump(reader, new PoolFiller(memory), (event) => events.push(event));
  t.after(() => pump.close());
  const source = new PooledSource({
    name,
    kind: 'noise',
    creditBitsPerDraw: 192,
    isSeparate: false,
    memory,
  });
  const site = await Site.open(t, fakeSource('os', 256), source);
  pump.start();
  return { site, events };
}

/** Draws until the source fails with the given reason. */
async function assertFails(
  { site, events }: Pumped,
  name: SourceName,
  kind: SourceEvent['kind'],
  detail: RegExp,
): Promise<void> {
  while (!events.some((event) => event.kind === kind && detail.test(event.detail))) {
    await site.generate(name);
    await setTimeout(1);
  }
  while ((await site.generate(name)) === 200);
  for (let i = 0; i < 5; i++) await site.assertRefuses(name);
  assert.equal(await site.generate('os'), 200);
}

async function assertFailsAndRecovers(
  pumpedSource: Pumped,
  name: SourceName,
  detail: RegExp,
  mend: () => void,
): Promise<void> {
  const { site } = pumpedSource;
  await assertFails(pumpedSource, name, 'failing', detail);
  mend();
  while ((await site.generate(name)) !== 200) await setTimeout(5);
}

describe('the source jitter', () => {
  const faults: [string, SourceEvent['kind'], RegExp, (now: bigint, i: number) => bigint][] = [
    ['stands still', 'latched', /repetition count test failed/, (now) => now],
    ['ticks evenly', 'latched', /repetition count test failed/, (now) => now + 800n],
    [
      'ticks in a pattern',
      'latched',
      /too regular.*, for the third time within 100 batches/,
      (now, i) => now + BigInt(700 + (i % 16) ** 2),
    ],
    ['runs backwards', 'failing', /ran backwards/, (now) => now - 1n],
  ];
  for (const [what, kind, detail, next] of faults) {
    const lasts = kind === 'latched';
    it(`yields no key while its clock ${what}, and ${lasts ? 'latches' : 'recovers'}`, async (t) => {
      let faulty = false;
      let now = 0n;
      let reading = 0;
      const clock = () => {
        reading += 1;
        now = faulty ? next(now, reading) : now + BigInt(700 + randomInt(256));
        return now;
      };
      const source = await pumped(t, 'jitter', openJitter({ clock }));
      while ((await source.site.generate('jitter')) !== 200) await setTimeout(1);
      faulty = true;
      await assertFails(source, 'jitter', kind, detail);
      faulty = false;
      if (lasts) await source.site.assertRefuses('jitter');
      else while ((await source.site.generate('jitter')) !== 200) await setTimeout(5);
    });
  }
});

describe('a slow source', () => {
  it('yields no key from `device`, then recovers', async (t) => {
    const directory = makeDataDir();
    const fifo = new NoiseFifo(directory);
    t.after(() => {
      fifo.unplug();
      removeDataDir(directory);
    });
    const reader = openDevice({ path: fifo.path, minEntropyPerByte: 1, timeoutMs: 30 });
    const source = await pumped(t, 'device', reader);
    await assertFailsAndRecovers(source, 'device', /delivered 0 of 256 bytes in 0.03 s/, () =>
      fifo.feedHonestly(),
    );
  });

  it('yields no key from `qrng`, then recovers', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    fake.service.broken.entropy = 'slow-body';
    const source = await pumped(t, 'qrng', fake.open(t, {}, 500));
    await assertFailsAndRecovers(source, 'qrng', /did not answer within 500 ms/, () => {
      delete fake.service.broken.entropy;
    });
  });

  it('yields no key from `ibm-quantum`, then recovers', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.service.broken.create = 'silent';
    const source = await pumped(
      t,
      'ibm-quantum',
      fake.open(t, { shots: 1024 }, { requestMs: 500 }),
    );
    await assertFailsAndRecovers(source, 'ibm-quantum', /did not answer within 500 ms/, () => {
      delete fake.service.broken.create;
    });
  });
});
