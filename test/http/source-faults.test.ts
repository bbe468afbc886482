/**
 * No induced fault of an entropy source yields a key: faults × sources on the real server. The
 * sources are a FIFO and two services on this machine, all in the hands of this test. Those that
 * cannot be reached from outside are in `test/keys/source-faults.test.ts`.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { SourceName } from '../../src/entropy/index.ts';
import { toQubitMajor } from '../../src/entropy/sources/sampler-result.ts';
import { extractVonNeumann } from '../../src/entropy/sources/von-neumann.ts';
import { formatKeyId } from '../../src/keys/key-id.ts';
import * as ibm from '../entropy/fake-ibm.ts';
import * as qrng from '../entropy/fake-qrng.ts';
import type { Answer, Misbehaviour } from '../entropy/fake-service.ts';
import { NoiseFifo } from '../support/noise-fifo.ts';
import { quickJobs } from '../support/quick-jobs.ts';
import { type Environment, makeDataDir, removeDataDir, Server } from '../support/server.ts';
import { assertRefused, SourceWatch } from '../support/source-watch.ts';

/** Few, so that the source is always hungry and meets a fault with its next job. */
const SHOTS = 512;

// Suites take over the concurrency of the one around them.
const IN_ORDER = { concurrency: 1 };

const FAULTY = ['device', 'qrng', 'ibm-quantum'] as const satisfies readonly SourceName[];

/** Three sources that can be broken, and a server that uses them. */
class Site {
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
    // The reader waits two seconds before it asks, and longer each time.
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

  /** Neither credentials nor what a source or a service wrote is in the log. */
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

/** Random bytes of which most are `common`, in no run that chance would not make. */
function biasedBytes(length: number, common: number): Buffer {
  return Buffer.from(randomBytes(length).map((byte, i) => (i % 8 === 7 ? byte : common)));
}

/** Shots of eight qubits of which each gives 0 once in ten, at a place of its own. */
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
  /** Of the log. */
  readonly detail: RegExp;
}

const PERMANENT: readonly PermanentFault[] = [
  {
    name: 'stuck',
    byDefault: 'device',
    device: (honest) => honest.fill(0x42),
    qrng: (honest) => Buffer.alloc(honest.length, 0x42),
    // One qubit of eight.
    ibm: () => [...randomBytes(SHOTS)].map((shot) => shot | 0b1000),
    detail: /the repetition count test failed at sample \d+/,
  },
  {
    name: 'biased',
    byDefault: 'qrng',
    device: (honest) => biasedBytes(honest.length, 0x42),
    qrng: (honest) => biasedBytes(honest.length, 0x42),
    ibm: biasedShots,
    detail: /the (adaptive proportion|repetition count) test failed at sample \d+/,
  },
  {
    name: 'repeating',
    byDefault: 'ibm-quantum',
    device: (honest) => honest,
    qrng: (honest) => honest,
    ibm: (honest) => honest,
    detail: /it delivered the samples of a draw twice/,
  },
];

interface DeviceOutage {
  readonly name: string;
  readonly detail: RegExp;
  readonly breakIt: (fifo: NoiseFifo) => void;
  readonly mend: (fifo: NoiseFifo) => void;
}

const DEVICE_OUTAGES: readonly DeviceOutage[] = [
  {
    name: 'its draw ends too soon',
    detail: /ended after 100 of 256 bytes/,
    breakIt: (fifo) => {
      fifo.feed(randomBytes(100));
      fifo.unplug();
    },
    mend: (fifo) => fifo.plugIn(),
  },
  {
    name: 'nobody writes to it',
    detail: /ended after 0 of 256 bytes/,
    breakIt: (fifo) => fifo.unplug(),
    mend: (fifo) => fifo.plugIn(),
  },
  {
    name: 'it has vanished',
    detail: /does not exist/,
    breakIt: (fifo) => fifo.remove(),
    mend: (fifo) => fifo.create(),
  },
];

interface QrngOutage {
  readonly name: string;
  readonly fault: Answer | Misbehaviour | 'gone';
  readonly detail: RegExp;
  readonly retryAfter?: string;
}

const UNKNOWN_FORM = /in a form that is not known/;
const NOTE = { message: 'note of the server' };

const QRNG_OUTAGES: readonly QrngOutage[] = [
  { name: 'connections are cut', fault: 'cut', detail: /could not be reached/ },
  { name: 'answers are cut', fault: 'cut-body', detail: /could not be reached/ },
  { name: 'answers have another shape', fault: { body: NOTE }, detail: UNKNOWN_FORM },
  {
    name: 'answers hold too few bytes',
    fault: { body: { entropy: [randomBytes(1_023).toString('base64')] } },
    detail: UNKNOWN_FORM,
  },
  {
    name: 'the API key is refused',
    fault: { status: 401, body: NOTE },
    detail: /refused the credentials \(401\)/,
  },
  {
    name: 'there were too many requests',
    fault: { status: 429, headers: { 'retry-after': '2' }, body: NOTE },
    detail: /no more requests for now \(429\)/,
    retryAfter: '2',
  },
  {
    name: 'the service is down',
    fault: { status: 500, body: NOTE },
    detail: /not in service \(500\)/,
  },
  { name: 'the service is gone', fault: 'gone', detail: /could not be reached/ },
];

interface IbmOutage {
  readonly name: string;
  readonly route: ibm.IbmRoute;
  readonly faults: readonly { readonly fault: Answer | Misbehaviour; readonly detail: RegExp }[];
}

const IBM_OUTAGES: readonly IbmOutage[] = [
  {
    name: 'no job is taken',
    route: 'create',
    faults: [
      {
        fault: { status: 429, headers: { 'retry-after': '1' }, body: NOTE },
        detail: /\(429\)/,
      },
      { fault: 'cut', detail: /could not be reached/ },
      // The first one is taken for an expired token.
      { fault: { status: 401, body: NOTE }, detail: /credentials \(401\)/ },
      { fault: { status: 503, body: NOTE }, detail: /\(503\)/ },
    ],
  },
  {
    name: 'results have another shape or too few shots',
    route: 'results',
    faults: [
      { fault: { body: NOTE }, detail: UNKNOWN_FORM },
      {
        fault: {
          body: { results: [{ data: { c: { samples: new Array(SHOTS - 1).fill('0x5a') } } }] },
        },
        detail: UNKNOWN_FORM,
      },
    ],
  },
];

/** The jobs of successive draws, by what the service delivered. */
function jobsOfDraws(delivered: readonly (readonly number[])[]): string[] {
  return delivered.flatMap((shots, i) => {
    const bytes = extractVonNeumann(toQubitMajor(Uint8Array.from(shots))).length;
    return new Array<string>(Math.floor(bytes / 40)).fill(`job-${i + 1}`);
  });
}

/** The first key that there is. */
async function nextKey(
  watch: SourceWatch,
  withEvidence = false,
): ReturnType<SourceWatch['generate']> {
  for (;;) {
    const answer = await watch.generate(128, { enable_nist_validation: withEvidence });
    if (answer.status === 200) return answer;
    assertRefused(answer);
    await setTimeout(10);
  }
}

function jobIdsInLedger(dataDir: string): Map<string, string> {
  const database = new DatabaseSync(join(dataDir, 'phm.db'), { readOnly: true });
  try {
    const rows = database
      .prepare(`SELECT key_id, entropy_job_id FROM ledger WHERE source = 'ibm-quantum' ORDER BY 1`)
      .all();
    return new Map(
      rows.map(({ key_id, entropy_job_id }) => [
        formatKeyId(key_id as Uint8Array),
        String(entropy_job_id),
      ]),
    );
  } finally {
    database.close();
  }
}

describe('a server whose sources break', { concurrency: true, timeout: 160_000 }, () => {
  describe('for good', { concurrency: true }, () => {
    /** Delivers honestly once, then breaks; the sources meet it at different times. */
    async function breakAll(site: Site, fault: PermanentFault): Promise<void> {
      const { fifo, qrng: service, ibm: jobs } = site;
      const honest = randomBytes(4_096);
      fifo.feed(honest);
      const soFar = jobs.delivered.length;
      await jobs.service.reached('create', soFar + 1);
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

    for (const fault of PERMANENT) {
      it(`${fault.name}: no key after it is noticed, until a restart`, async (t) => {
        const { byDefault } = fault;
        const site = await Site.open();
        t.after(() => site.close());
        await site.startServer({ PHM_ENTROPY_SOURCE: byDefault });
        await breakAll(site, fault);
        const watches = FAULTY.map((name) => site.watch(name));
        await Promise.all(
          watches.map((watch) =>
            watch.untilLogged('latched', fault.detail, () => watch.generate()),
          ),
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
      });
    }
  });

  describe('for a while', IN_ORDER, () => {
    let site: Site;
    before(async () => {
      site = await Site.open();
      await site.startServer({ PHM_ENTROPY_SOURCE: 'qrng' });
    });
    after(() => site.close());

    describe('source by source', { concurrency: true }, () => {
      describe('device', IN_ORDER, () => {
        for (const { name, detail, breakIt, mend } of DEVICE_OUTAGES) {
          it(`refuses while ${name}, and recovers`, async () => {
            const { fifo } = site;
            const watch = site.watch('device');
            const honest = () => fifo.feedHonestly();
            await watch.untilHealth('ok', honest);
            await watch.untilRefused();
            watch.forgetLog();
            breakIt(fifo);
            await watch.untilLogged('failing', detail);
            assertRefused(await watch.untilRefused());
            assert.equal(await watch.health(), 'unavailable');
            assert.equal((await site.watch('os').generate()).status, 200);
            mend(fifo);
            await watch.untilHealth('ok', honest);
            assert.equal((await watch.generate()).status, 200);
          });
        }
      });

      describe('qrng, the source of requests that name none', IN_ORDER, () => {
        for (const { name, fault, detail, retryAfter } of QRNG_OUTAGES) {
          it(`refuses while ${name}, and recovers`, async () => {
            const { server, qrng: fake } = site;
            const watch = site.watch('qrng');
            await watch.untilHealth('ok');
            watch.forgetLog();
            if (fault === 'gone') fake.service.leave();
            else fake.service.broken.entropy = fault;
            await watch.untilLogged('failing', detail, () => watch.generate());
            const refused = await watch.untilRefused();
            assertRefused(refused);
            assert.ok(!JSON.stringify(refused.body).includes('note of the server'));
            if (retryAfter) assert.equal(refused.headers.get('retry-after'), retryAfter);
            assertRefused(await server.generate({ security_level: 128 }));
            const { status, body } = await server.request('/readyz');
            assert.deepEqual([status, body.checks['entropy:qrng']], [503, 'unavailable']);
            assert.equal((await site.watch('os').generate()).status, 200);
            if (fault === 'gone') await fake.service.comeBack();
            delete fake.service.broken.entropy;
            await watch.untilHealth('ok');
            assert.equal((await server.generate({ security_level: 128 })).status, 200);
          });
        }
      });

      describe('ibm-quantum', IN_ORDER, () => {
        it('names the job whose shots fed the key, in the answer and in the ledger', async () => {
          const jobIds = new Map<string, string>();
          for (let i = 0; i < 4; i++) {
            const { body } = await nextKey(site.watch('ibm-quantum'), i === 3);
            assert.equal(body.quantum_hardware, true);
            assert.equal(body.source, 'ibm-quantum');
            jobIds.set(body.key_id, body.entropy_job_id);
          }
          const expected = jobsOfDraws(site.ibm.delivered).slice(0, 4);
          assert.deepEqual([...jobIds.values()], expected);
          assert.deepEqual(jobIdsInLedger(site.dataDir), jobIds);
        });

        for (const { name, route, faults } of IBM_OUTAGES) {
          it(`refuses while ${name}, and recovers`, async () => {
            const { service } = site.ibm;
            const watch = site.watch('ibm-quantum');
            for (const { fault, detail } of faults) {
              service.broken[route] = fault;
              const met = service.reached(route, service.count(route) + 1);
              // With a full pool the source would want no job.
              await watch.untilRefused();
              await met;
              watch.forgetLog();
              await watch.untilLogged('failing', detail);
              assertRefused(await watch.untilRefused());
              assert.equal(await watch.health(), 'unavailable');
              assert.equal((await site.watch('os').generate()).status, 200);
            }
            delete service.broken[route];
            await watch.untilHealth('ok');
            assert.equal((await watch.generate()).status, 200);
          });
        }

        it('refuses while the service is gone, and goes on with its job', async () => {
          const { service } = site.ibm;
          const watch = site.watch('ibm-quantum');
          await service.reached('create', service.count('create') + 1);
          const jobId = `job-${site.ibm.delivered.length}`;
          service.leave();
          assertRefused(await watch.untilRefused());
          assert.equal((await site.watch('os').generate()).status, 200);
          await service.comeBack();
          const { body } = await nextKey(watch);
          assert.equal(body.entropy_job_id, jobId);
          assert.equal(service.count('cancel'), 0);
        });
      });
    });

    it('cancels the job under way once when it ends, and has logged no secret', async () => {
      const { service } = site.ibm;
      site.ibm.states = ['Queued'];
      const queued = service.reached('state', service.count('state') + 2);
      // With a full pool the source would want no job.
      await site.watch('ibm-quantum').untilRefused();
      await queued;
      const jobId = `job-${site.ibm.delivered.length}`;
      assert.equal(await site.server.stop('SIGTERM'), 0);
      const cancelled = service.received.cancel?.map(({ path }) => path);
      assert.deepEqual(cancelled, [`/api/v1/jobs/${jobId}/cancel`]);
      site.assertLogIsClean();
    });
  });
});
