/** A server whose entropy sources a test controls, and lasting faults for them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { SourceName } from '../../../src/entropy/index.ts';
import * as ibm from '../../entropy/fake-ibm.ts';
import * as qrng from '../../entropy/fake-qrng.ts';
import { NoiseFifo } from './noise-fifo.ts';
import { quickJobs } from './quick-jobs.ts';
import { type Environment, makeDataDir, removeDataDir, Server } from './server.ts';
import { assertRefused, SourceWatch } from './source-watch.ts';

/** Small, so that the source always needs more and meets a fault with its next job. */
export const SHOTS = 512;

const FAULTY = ['device', 'qrng', 'ibm-quantum'] as const satisfies readonly SourceName[];

/** Three sources that can be broken, and a server that uses them. */
export class Site {
  readonly dataDir: string = makeDataDir();
  readonly fifo: NoiseFifo = new NoiseFifo(this.dataDir);
  readonly qrng: qrng.FakeQrng;
  readonly ibm: ibm.FakeIbm;
  readonly #ends: (() => void)[];
  #server: Server | null = null;

  private constructor(ends: (() => void)[], one: qrng.FakeQrng, other: ibm.FakeIbm) {
    this.#ends = ends;
    this.qrng = one;
    this.ibm = other;
    // The reader waits two seconds before it polls, and longer each time.
    this.ibm.states = ['Completed'];
  }

  static async open(): Promise<Site> {
    const ends: (() => void)[] = [];
    const scope = { after: (end: () => void) => ends.push(end) };
    const one = await qrng.FakeQrng.start(scope, 'open-api');
    return new Site(ends, one, await ibm.FakeIbm.start(scope));
  }

  get server(): Server {
    assert.ok(this.#server);
    return this.#server;
  }

  async startServer(more: Environment): Promise<void> {
    this.#server = await Server.start(this.dataDir, {
      PHM_ENTROPY_SOURCES: `os,quantum-simulator,${FAULTY.join()}`,
      PHM_DEVICE_PATH: this.fifo.path,
      PHM_DEVICE_MIN_ENTROPY: '1',
      PHM_QRNG_PROFILE: 'open-api',
      PHM_QRNG_URL: this.qrng.service.url,
      PHM_QRNG_API_KEY: qrng.API_KEY,
      PHM_IBM_API_KEY: ibm.API_KEY,
      PHM_IBM_SERVICE_CRN: ibm.CRN,
      PHM_IBM_BACKEND: 'ibm_fake',
      PHM_IBM_SHOTS: String(SHOTS),
      PHM_IBM_URL: `${this.ibm.service.url}/api/v1`,
      PHM_IBM_IAM_URL: `${this.ibm.service.url}/identity/token`,
      PHM_RATE_LIMITS: 'off',
      PHM_LOG_LEVEL: 'trace',
      ...quickJobs(),
      ...more,
    });
  }

  watch(name: SourceName): SourceWatch {
    return new SourceWatch(this.server, name);
  }

  /** Asserts that the log has neither credentials nor anything that a source or a service wrote. */
  assertLogIsClean(): void {
    const { log } = this.server;
    for (const secret of [...ibm.SECRETS, ...qrng.SECRETS]) assert.ok(!log.includes(secret));
    for (const bytes of this.qrng.delivered) assertNotIn(log, bytes);
    for (const shots of this.ibm.delivered) assertNotIn(log, Buffer.from(shots));
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    for (const end of this.#ends) end();
    this.fifo.unplug();
    removeDataDir(this.dataDir);
  }
}

function assertNotIn(log: string, bytes: Buffer): void {
  const part = bytes.subarray(0, 12);
  for (const text of [part.toString('hex'), part.toString('base64'), part.join(), part.join(' ')]) {
    assert.ok(!log.includes(text));
  }
}

/** Returns random bytes, most of them `common`, without runs that chance would not produce. */
function biasedBytes(length: number, common: number): Buffer {
  return Buffer.from(randomBytes(length).map((byte, i) => (i % 8 === 7 ? byte : common)));
}

/** Returns shots of eight qubits; each qubit gives 0 once in ten, in a position of its own. */
function biasedShots(): number[] {
  const shots = new Array<number>(SHOTS).fill(0xff);
  for (let qubit = 0; qubit < 8; qubit++) {
    for (let i = 0; i + 10 <= SHOTS; i += 10) shots[i + (randomBytes(1)[0] % 10)] &= ~(1 << qubit);
  }
  return shots;
}

interface PermanentFault {
  readonly name: string;
  readonly byDefault: (typeof FAULTY)[number];
  readonly device: (honest: Buffer) => Buffer;
  readonly qrng: (honest: Buffer) => Buffer;
  readonly ibm: (honest: readonly number[]) => readonly number[];
  /** Words in the log. */
  readonly detail: RegExp;
}

export const STUCK: PermanentFault = {
  name: 'stuck',
  byDefault: 'device',
  device: (honest) => honest.fill(0x42),
  qrng: (honest) => Buffer.alloc(honest.length, 0x42),
  // One qubit of eight.
  ibm: () => [...randomBytes(SHOTS)].map((shot) => shot | 0b1000),
  detail: /the repetition count test failed at sample \d+/,
};

export const BIASED: PermanentFault = {
  name: 'biased',
  byDefault: 'qrng',
  device: (honest) => biasedBytes(honest.length, 0x42),
  qrng: (honest) => biasedBytes(honest.length, 0x42),
  ibm: biasedShots,
  detail: /the (adaptive proportion|repetition count) test failed at sample \d+/,
};

export const REPEATING: PermanentFault = {
  name: 'repeating',
  byDefault: 'ibm-quantum',
  device: (honest) => honest,
  qrng: (honest) => honest,
  ibm: (honest) => honest,
  detail: /it delivered the samples of a draw twice/,
};

/** Waits while keys use up what IBM has delivered: a server that has all it needs asks for no further job. */
async function whileUsed(site: Site, reached: Promise<unknown>): Promise<void> {
  let isReached = false;
  const noted = reached.finally(() => {
    isReached = true;
  });
  while (!isReached) await site.watch('ibm-quantum').generate();
  await noted;
}

/** Delivers honestly once, then breaks. The sources meet the fault at different times. */
async function breakAll(site: Site, fault: PermanentFault): Promise<void> {
  const { fifo, qrng: service, ibm: jobs } = site;
  const honest = randomBytes(4_096);
  fifo.feed(honest);
  const soFar = jobs.delivered.length;
  await whileUsed(site, jobs.service.reached('create', soFar + 1));
  jobs.shots = fault.ibm(jobs.delivered[soFar]);
  await Promise.all(FAULTY.map((name) => site.watch(name).untilLogged('delivering')));
  service.bytes = fault.qrng(service.delivered.at(-1) ?? Buffer.alloc(0));
  fifo.feed(fault.device(honest));
}

function mend(site: Site): void {
  site.qrng.bytes = null;
  site.ibm.shots = null;
  for (let i = 0; i < 4; i++) site.fifo.feedHonestly();
}

/** Breaks all sources of a server and expects no key from them once each fault is noticed. */
export async function assertLatches(t: TestContext, fault: PermanentFault): Promise<void> {
  const site = await Site.open();
  t.after(() => site.close());
  await site.startServer({ PHM_ENTROPY_SOURCE: fault.byDefault });
  await breakAll(site, fault);
  const watches = FAULTY.map((name) => site.watch(name));
  await Promise.all(
    watches.map((watch) => watch.untilLogged('latched', fault.detail, () => watch.generate())),
  );
  mend(site);
  for (const watch of watches) {
    for (let i = 0; i < 4; i++) assertRefused(await watch.generate(i % 2 ? 128 : 384));
    assert.equal(await watch.health(), 'unavailable');
  }
  assertRefused(await site.server.generate({ security_level: 128 }));
  const { status, body } = await site.server.request('/readyz');
  assert.equal(status, 503);
  assert.equal(body.checks['entropy:os'], 'ok');
  for (const name of ['os', 'quantum-simulator'] as const) {
    assert.equal((await site.watch(name).generate()).status, 200);
  }
  site.assertLogIsClean();
  await site.server.stop();
}
