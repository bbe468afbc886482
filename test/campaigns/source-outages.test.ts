/**
 * No induced fault of an entropy source yields a key: faults × sources on a real server. 20 s, most of it real
 * waits. The sources are a FIFO and two services on this machine, all under control of this test. Faults that
 * cannot be induced from outside are in `test/keys/source-faults.test.ts`. Lasting faults are in
 * `test/slow/service/source-faults.test.ts`, and one of them in `test/slow/service/noise-servers.test.ts`.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { toQubitMajor } from '../../src/entropy/sources/sampler-result.ts';
import { extractVonNeumann } from '../../src/entropy/sources/von-neumann.ts';
import { formatKeyId } from '../../src/keys/key-id.ts';
import type * as ibm from '../entropy/fake-ibm.ts';
import type { Answer, Misbehaviour } from '../entropy/fake-service.ts';
import { SHOTS, Site } from '../support/servers/faulty-sources.ts';
import type { NoiseFifo } from '../support/servers/noise-fifo.ts';
import { assertRefused, type SourceWatch } from '../support/servers/source-watch.ts';

// Suites inherit the concurrency of the suite around them.
const IN_ORDER = { concurrency: 1 };

interface DeviceOutage {
  readonly name: string;
  readonly detail: RegExp;
  readonly breakIt: (fifo: NoiseFifo) => void;
  readonly mend: (fifo: NoiseFifo) => void;
}

const DEVICE_OUTAGES: readonly DeviceOutage[] = [
  {
    name: 'its draws end too soon',
    detail: /ended after 100 of 256 bytes/,
    breakIt: (fifo) => {
      fifo.feed(randomBytes(100));
      fifo.unplug();
    },
    mend: (fifo) => fifo.plugIn(),
  },
  {
    name: 'nothing writes to it',
    detail: /ended after 0 of 256 bytes/,
    breakIt: (fifo) => fifo.unplug(),
    mend: (fifo) => fifo.plugIn(),
  },
  {
    name: 'it is missing',
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

const UNKNOWN_FORM = /in an unknown form/;
const NOTE = { message: 'note of the server' };

const QRNG_OUTAGES: readonly QrngOutage[] = [
  { name: 'connections are cut', fault: 'cut', detail: /could not be reached/ },
  { name: 'answers are cut', fault: 'cut-body', detail: /could not be reached/ },
  { name: 'answers have an unknown form', fault: { body: NOTE }, detail: UNKNOWN_FORM },
  {
    name: 'answers contain too few bytes',
    fault: { body: { entropy: [randomBytes(1_023).toString('base64')] } },
    detail: UNKNOWN_FORM,
  },
  {
    name: 'the API key is rejected',
    fault: { status: 401, body: NOTE },
    detail: /refused the credentials \(401\)/,
  },
  {
    name: 'its rate limit is exceeded',
    fault: { status: 429, headers: { 'retry-after': '2' }, body: NOTE },
    detail: /no more requests for now \(429\)/,
    retryAfter: '2',
  },
  {
    name: 'the service answers 500',
    fault: { status: 500, body: NOTE },
    detail: /out of service \(500\)/,
  },
  { name: 'the service is unreachable', fault: 'gone', detail: /could not be reached/ },
];

interface IbmOutage {
  readonly name: string;
  readonly route: ibm.IbmRoute;
  readonly faults: readonly { readonly fault: Answer | Misbehaviour; readonly detail: RegExp }[];
}

const IBM_OUTAGES: readonly IbmOutage[] = [
  {
    name: 'no job is accepted',
    route: 'create',
    faults: [
      {
        fault: { status: 429, headers: { 'retry-after': '1' }, body: NOTE },
        detail: /\(429\)/,
      },
      { fault: 'cut', detail: /could not be reached/ },
      // The source takes the first 401 for an expired token.
      { fault: { status: 401, body: NOTE }, detail: /credentials \(401\)/ },
      { fault: { status: 503, body: NOTE }, detail: /\(503\)/ },
    ],
  },
  {
    name: 'results have an unknown form or too few shots',
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

/** The jobs of successive draws, by the results of the service. */
function jobsOfDraws(delivered: readonly (readonly number[])[]): string[] {
  return delivered.flatMap((shots, i) => {
    const bytes = extractVonNeumann(toQubitMajor(Uint8Array.from(shots))).length;
    return new Array<string>(Math.floor(bytes / 40)).fill(`job-${i + 1}`);
  });
}

/** Returns the first key that succeeds. */
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

describe('a server with failing sources', () => {
  describe('during a temporary outage', () => {
    let site: Site;
    before(async () => {
      site = await Site.open();
      await site.startServer({ PHM_ENTROPY_SOURCE: 'qrng' });
    });
    after(() => site.close());

    describe('of one source at a time', { concurrency: true }, () => {
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

      describe('qrng, the default source', IN_ORDER, () => {
        for (const { name, fault, detail, retryAfter } of QRNG_OUTAGES) {
          it(`refuses while ${name}, and recovers`, async () => {
            const { server, qrng: fake } = site;
            const watch = site.watch('qrng');
            await watch.untilHealth('ok');
            watch.forgetLog();
            if (fault === 'gone') fake.service.leave();
            else fake.service.broken.entropy = fault;
            // With a full pool, the source would request nothing.
            await watch.untilRefused();
            await watch.untilLogged('failing', detail);
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
              // With a full pool, the source would need no job.
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

        it('refuses while the service is away, and continues with its job', async () => {
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

    it('cancels the job in progress once at shutdown, and has logged no secret', async () => {
      const { service } = site.ibm;
      site.ibm.states = ['Queued'];
      const queued = service.reached('state', service.count('state') + 2);
      // With a full pool, the source would need no job.
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
