/**
 * Entropy sources as a client and an operator of the real server meet them: faults are induced in a
 * noise source, a FIFO that this test writes to.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type Environment, makeDataDir, removeDataDir, Server } from '../support/server.ts';

/** The noise source: honest while it is fed with random bytes. */
class Fifo {
  readonly path: string;
  #descriptor: number | null = null;

  constructor(directory: string) {
    this.path = join(directory, 'noise');
    execFileSync('mkfifo', [this.path]);
  }

  /** Opened for both directions, so that neither side waits for the other. */
  plugIn(): void {
    this.#descriptor = openSync(this.path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** Writes as much of `bytes` as fits: readers take it when they want it. */
  feed(bytes: Uint8Array): void {
    try {
      if (this.#descriptor !== null) writeSync(this.#descriptor, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }

  unplug(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

describe('a server with a noise source', { timeout: 60_000 }, () => {
  let dataDir: string;
  let fifo: Fifo;
  let server: Server;

  beforeEach(() => {
    dataDir = makeDataDir();
    fifo = new Fifo(dataDir);
    fifo.plugIn();
  });
  afterEach(async () => {
    await server?.stop();
    fifo.unplug();
    removeDataDir(dataDir);
  });

  async function start(more: Environment = {}): Promise<void> {
    server = await Server.start(dataDir, {
      PHM_ENTROPY_SOURCES: 'os,device',
      PHM_DEVICE_PATH: fifo.path,
      PHM_DEVICE_MIN_ENTROPY: '8',
      PHM_RATE_LIMITS: 'off',
      ...more,
    });
  }

  async function untilSource(health: string, feed = () => {}): Promise<void> {
    for (;;) {
      feed();
      const { body } = await server.request('/readyz');
      if (body.checks['entropy:device'] === health) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Takes draws until none is left; resolves with the answer that refused. */
  async function untilEmpty(): Promise<Awaited<ReturnType<Server['generate']>>> {
    for (;;) {
      const answer = await server.generate({ security_level: 384, entropy_source: 'device' });
      if (answer.status !== 200) return answer;
    }
  }

  const honest = () => fifo.feed(randomBytes(4_096));

  it('credits a 384-bit key with more than 256 bits, and a 256-bit key with no more', async () => {
    await start();
    await untilSource('ok', honest);
    for (const [level, credited] of [
      [128, 128],
      [256, 256],
      [384, 384],
    ]) {
      const request = { security_level: level, entropy_source: 'device' };
      const { status, body } = await server.generate(request);
      assert.equal(status, 200);
      assert.ok(body.entropy_bits > credited * 0.99 && body.entropy_bits <= credited);
      assert.ok(!('quantum_hardware' in body), 'noise answers in the form of classical sources');
    }
    const { body } = await server.generate({ security_level: 384, entropy_source: 'os' });
    assert.ok(body.entropy_bits < 256);
  });

  it('answers 503 with Retry-After when the source has vanished, and recovers with it', async () => {
    await start();
    await untilSource('ok', honest);
    fifo.unplug();
    const { status, body, headers } = await untilEmpty();
    assert.equal(status, 503);
    assert.equal(body.code, 'entropy_unavailable');
    assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
    // Others are not touched.
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
    assert.equal((await server.request('/readyz')).status, 200);
    fifo.plugIn();
    await untilSource('ok', honest);
    const again = await server.generate({ security_level: 384, entropy_source: 'device' });
    assert.equal(again.status, 200);
    assert.match(server.log, /entropy source: failing/);
  });

  it('latches a source that gets stuck: 503 until a restart, whatever it delivers later', async () => {
    await start();
    await untilSource('ok', honest);
    fifo.feed(Buffer.alloc(60_000, 0x42));
    let answer = await untilEmpty();
    while (!server.log.includes('"source":"device"') || !server.log.includes('latched')) {
      answer = await untilEmpty();
    }
    assert.equal(answer.status, 503);
    await untilSource('unavailable', honest);
    for (let i = 0; i < 5; i++) {
      honest();
      const refused = await server.generate({ security_level: 128, entropy_source: 'device' });
      assert.equal(refused.body.code, 'entropy_unavailable');
    }
    assert.match(server.log, /repetition count test failed/);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
  });

  it('is not ready while the default source has not passed its start-up tests', async () => {
    await start({ PHM_ENTROPY_SOURCE: 'device' });
    const { status, body } = await server.request('/readyz');
    assert.equal(status, 503);
    assert.equal(body.checks.entropy, 'unavailable');
    assert.equal(body.checks['entropy:os'], 'ok');
    assert.equal((await server.generate({ security_level: 128 })).status, 503);
    await untilSource('ok', honest);
    assert.equal((await server.request('/readyz')).status, 200);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
  });

  it('mixes a source into every key while it delivers, and goes on without it', async () => {
    await start({ PHM_ENTROPY_SOURCES: 'os', PHM_ENTROPY_MIX: 'device' });
    await untilSource('ok', honest);
    const mixed = await server.generate({ security_level: 384 });
    assert.ok(mixed.body.entropy_bits > 380);
    fifo.unplug();
    for (;;) {
      const { status, body } = await server.generate({ security_level: 384 });
      assert.equal(status, 200);
      if (body.entropy_bits < 256) break;
    }
    const refused = await server.generate({ security_level: 384, entropy_source: 'device' });
    assert.equal(refused.status, 400, 'a source of the mix cannot be named unless it is enabled');
  });

  it('never writes what it read to the log', async () => {
    await start({ PHM_LOG_LEVEL: 'trace' });
    const marked = Buffer.concat(Array.from({ length: 64 }, () => randomBytes(64)));
    await untilSource('ok', () => fifo.feed(marked));
    await untilEmpty();
    for (const encoding of ['hex', 'base64', 'latin1'] as const) {
      const part = marked.subarray(0, 16).toString(encoding).slice(0, 12);
      assert.ok(!server.log.includes(part));
    }
  });
});

describe('a server with timing noise', { timeout: 60_000 }, () => {
  const dataDir = makeDataDir();
  let server: Server;
  before(async () => {
    server = await Server.start(dataDir, {
      PHM_ENTROPY_SOURCE: 'jitter',
      PHM_JITTER_CREDIT: 'on',
    });
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });

  it('gets ready by itself and credits a second source', async () => {
    while ((await server.request('/readyz')).status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { body } = await server.generate({ security_level: 384 });
    assert.ok(body.entropy_bits > 380);
    const validated = await server.generate({ security_level: 384, enable_nist_validation: true });
    assert.ok(validated.body.entropy_bits > 380);
    assert.equal(validated.body.nist_validation.certification_status, 'PASS');
  });
});
