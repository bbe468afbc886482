/** Entropy sources of a real server, as a client and an operator see them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NoiseFifo } from '../../support/servers/noise-fifo.ts';
import {
  type Environment,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';
import { assertRefused, SourceWatch } from '../../support/servers/source-watch.ts';

/** Min-entropy per bit of a screened sample. Sound ones show 0.996; one in 10^15 shows less than this. */
const LEAST_SCREEN = 0.985;

/** A server with a FIFO as its device. */
class Site {
  readonly server: Server;
  readonly fifo: NoiseFifo;

  private constructor(server: Server, fifo: NoiseFifo) {
    this.server = server;
    this.fifo = fifo;
  }

  static async start(sources: Environment): Promise<Site> {
    const dataDir = makeDataDir();
    const fifo = new NoiseFifo(dataDir);
    const server = await Server.start(dataDir, {
      PHM_DEVICE_PATH: fifo.path,
      PHM_DEVICE_MIN_ENTROPY: '8',
      PHM_RATE_LIMITS: 'off',
      ...sources,
    });
    return new Site(server, fifo);
  }

  untilDelivering(): Promise<void> {
    return new SourceWatch(this.server, 'device').untilHealth('ok', () => this.fifo.feedHonestly());
  }

  async close(): Promise<void> {
    await this.server.stop();
    this.fifo.unplug();
    removeDataDir(this.server.dataDir);
  }
}

describe('a server with a noise source as its default', () => {
  let site: Site;
  before(async () => {
    site = await Site.start({ PHM_ENTROPY_SOURCES: 'os,device', PHM_ENTROPY_SOURCE: 'device' });
  });
  after(() => site?.close());

  it('is not ready until the source passes its startup tests', async () => {
    const { server } = site;
    const { status, body } = await server.request('/readyz');
    assert.equal(status, 503);
    assert.equal(body.checks.entropy, 'unavailable');
    assert.equal(body.checks['entropy:os'], 'ok');
    assert.equal((await server.generate({ security_level: 128 })).status, 503);
    await site.untilDelivering();
    assert.equal((await server.request('/readyz')).status, 200);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
  });

  it('credits device keys up to their security level, and os keys below 256 bits', async () => {
    const { server } = site;
    for (const [level, credited] of [
      [128, 128],
      [256, 256],
      [384, 384],
    ]) {
      const request = { security_level: level, entropy_source: 'device' };
      const { status, body } = await server.generate(request);
      assert.equal(status, 200);
      assert.ok(body.entropy_bits >= credited * LEAST_SCREEN && body.entropy_bits <= credited);
      assert.deepEqual([body.source, body.quantum_hardware], ['device', false]);
    }
    const { body } = await server.generate({ security_level: 384, entropy_source: 'os' });
    assert.ok(body.entropy_bits < 256);
  });

  it('generates no key from a stuck source, whatever it delivers afterwards', async () => {
    const { server, fifo } = site;
    const watch = new SourceWatch(server, 'device');
    // A new device, because the rest in the old one is good.
    fifo.remove();
    fifo.create();
    fifo.feed(Buffer.alloc(4_096, 0x42));
    await watch.untilRefused();
    await watch.untilLogged('latched', /the repetition count test failed at sample \d+/);
    fifo.feedHonestly();
    assertRefused(await watch.generate());
    assertRefused(await server.generate({ security_level: 128 }));
    assert.equal(await watch.health(), 'unavailable');
    assert.equal((await new SourceWatch(server, 'os').generate()).status, 200);
  });
});

describe('a server with timing noise and an additional mixed source', () => {
  let site: Site;
  before(async () => {
    site = await Site.start({
      PHM_ENTROPY_SOURCES: 'os,jitter',
      PHM_ENTROPY_SOURCE: 'jitter',
      PHM_JITTER_CREDIT: 'on',
      PHM_ENTROPY_MIX: 'device',
    });
  });
  after(() => site?.close());

  it('mixes the source into every key while it delivers, and continues without it', async () => {
    const { server, fifo } = site;
    const order = { security_level: 384, entropy_source: 'os' };
    await site.untilDelivering();
    const mixed = await server.generate(order);
    assert.ok(mixed.body.entropy_bits >= 384 * LEAST_SCREEN);
    // From here on it is credited with nothing, and its pool runs empty.
    fifo.unplug();
    for (;;) {
      const { status, body } = await server.generate(order);
      assert.equal(status, 200);
      if (body.entropy_bits < 256) break;
    }
    const refused = await server.generate({ ...order, entropy_source: 'device' });
    assert.equal(refused.status, 400, 'a source of the mix cannot be named unless it is enabled');
  });

  it('becomes ready, credits the noise, and logs that the operator claimed it', async () => {
    const { server } = site;
    while ((await server.request('/readyz')).status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { body } = await server.generate({ security_level: 384 });
    assert.ok(body.entropy_bits >= 384 * LEAST_SCREEN);
    const validated = await server.generate({ security_level: 384, enable_nist_validation: true });
    assert.ok(validated.body.entropy_bits >= 384 * LEAST_SCREEN);
    assert.equal(validated.body.nist_validation.certification_status, 'PASS');
    assert.match(
      server.log,
      /"source":"jitter","creditBits":192,"assessment":"1\/8 bit per sample, on the operator's word/,
    );
  });
});
