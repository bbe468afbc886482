/**
 * Calls with an `Idempotency-Key` whose answers are lost, that race on two servers, or that meet a full disk, a
 * shutdown, a client that leaves, midnight, or a failover of PostgreSQL. Each makes its keys exactly once.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { newRecipient } from '#sealing';
import { IdempotentAudit } from '../support/clients/idempotent-audit.ts';
import {
  alreadyMade,
  type Call,
  IdempotentClients,
  isSameAnswer,
  keysOf,
  makeCall,
  mixedCalls,
  type Outcome,
  sendOnce,
} from '../support/clients/idempotent-calls.ts';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { crashSeed } from '../support/faults/crashes.ts';
import { fillDisk, mountDisk, noMount } from '../support/faults/disk.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { shiftUrl } from '../support/run/shift-clock.ts';
import { until } from '../support/run/until.ts';
import { RecordingProxy } from '../support/servers/recording-proxy.ts';
import type { Environment, Server } from '../support/servers/server.ts';

const CLIENTS = 8;
const RACES = 150;
const COPIES = 4;
const LOSSES = 300;

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const recipient = await newRecipient();
const PLAIN = { security_level: 256 };
const VALIDATED = { ...PLAIN, enable_nist_validation: true };

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`two servers on ${kind}`, { skip: kind === 'postgres' && noPostgres }, () => {
    let site: LogSite;
    let servers: Server[];
    before(async () => {
      site = kind === 'sqlite' ? LogSite.sqlite(2) : await LogSite.postgres(2);
      servers = [await site.start(0), await site.start(1)];
    });
    after(() => site?.remove());

    it('make the keys of racing and of lost calls once', async (test) => {
      const random = seededRandom(crashSeed(test));
      const clients = new IdempotentClients(site.apiKey, () => addresses);
      let addresses = servers.map(({ address }) => address);
      let answered = 0;
      const races = await mixedCalls(RACES, random);
      for (const call of races) answered += await clients.race(call, COPIES);

      const proxies = await Promise.all(addresses.map((address) => RecordingProxy.start(address)));
      for (const proxy of proxies) {
        proxy.loses = (chunk) => chunk.includes('HTTP/1.1 200 OK') && random() < 0.5;
      }
      addresses = proxies.map(({ address }) => address);
      const losses = await mixedCalls(LOSSES, random);
      await clients.run(losses, CLIENTS);
      for (const proxy of proxies) proxy.close();

      const audit = new IdempotentAudit(site, servers, clients);
      const figures = await audit.run(RACES + LOSSES);
      const lost = proxies.reduce((sum, proxy) => sum + proxy.lost, 0);
      test.diagnostic(
        `${RACES} races of ${COPIES} copies, ${answered} with an outcome; ${lost} of ${LOSSES} answers lost; ` +
          JSON.stringify(figures),
      );
    });
  });
}

describe('calls to one server', () => {
  let site: LogSite;
  let server: Server;
  beforeEach(() => {
    site = LogSite.sqlite();
  });
  afterEach(() => site.remove());

  const start = async (extra: Environment = {}) => {
    server = await site.start(0, extra);
  };
  const send = (call: Call, signal?: AbortSignal) =>
    sendOnce(server.address, site.apiKey, call, signal);

  async function settle(calls: readonly Call[]): Promise<IdempotentClients> {
    const clients = new IdempotentClients(site.apiKey, () => [server.address]);
    await clients.run(calls, CLIENTS);
    assert.deepEqual(clients.wrong, []);
    return clients;
  }

  /** Repeats the calls until they are settled, and compares everything. Returns the outcomes. */
  async function audit(calls: readonly Call[]): Promise<readonly Outcome[]> {
    const clients = await settle(calls);
    await new IdempotentAudit(site, [server], clients).run(calls.length);
    return clients.outcomes;
  }

  const countRows = async () => {
    const [row] = await site.execute('SELECT count(*) AS n FROM ledger');
    return Number(row?.n);
  };

  it('are refused on a full disk, leave nothing, and are made once', {
    skip: noMount,
  }, async () => {
    const disk = join(site.folder, 'data');
    const unmount = mountDisk(disk, '48m');
    try {
      await start();
      const plain = makeCall(PLAIN, null, 1_000);
      const calls = [plain, makeCall(PLAIN, recipient, 500), makeCall(PLAIN)];
      const ballast = join(disk, 'ballast');
      fillDisk(ballast);
      const codes: unknown[] = [];
      for (const call of calls) {
        const { status, body } = await send(call);
        assert.equal(status, 503);
        codes.push(body.code);
      }
      // A slow machine does not make a thousand keys in time, but one.
      assert.ok(codes.every((code) => code === 'ledger_unavailable' || code === 'overloaded'));
      assert.equal(codes.at(-1), 'ledger_unavailable');
      rmSync(ballast);
      assert.equal(await countRows(), 0, 'keys of refused calls');
      const outcomes = await audit(calls);
      const answers = outcomes.map(({ status, replayed }) => [status, replayed]);
      assert.deepEqual(answers, Array(calls.length).fill([200, false]));
    } finally {
      await server?.stop('SIGKILL');
      unmount();
    }
  });

  it('are answered although SIGTERM arrives, and repeated by the next server', async (test) => {
    await start();
    const calls = [
      makeCall(PLAIN, null, 1_000),
      makeCall(PLAIN, recipient, 1_000),
      makeCall(VALIDATED, recipient, 20),
      makeCall({ ...PLAIN, include: ['receipt'] }, recipient, 100),
    ];
    let answered = 0;
    const replies = calls.map(async (call) => {
      const reply = await send(call);
      answered += 1;
      return reply;
    });
    // The others are in progress then.
    await Promise.race(replies);
    const before = answered;
    assert.equal(await server.stop('SIGTERM'), 0);
    await start();
    const outcomes = await audit(calls);
    const received = await Promise.all(replies);
    assert.ok(received.some(({ status }) => status === 200));
    for (const [i, reply] of received.entries()) {
      const call = calls[i] as Call;
      // A slow machine does not make so many keys in time: the client hears that, and the next server makes them.
      if (reply.status === 503) {
        assert.equal(reply.body.code, 'overloaded', reply.text);
        continue;
      }
      assert.equal(reply.status, 200, reply.text);
      const outcome = outcomes.find((one) => one.call === call);
      if (call.recipient) assert.ok(isSameAnswer(call, reply.text, outcome?.text ?? ''), call.path);
      else
        assert.deepEqual(
          keysOf(reply.body).map(({ key_id }) => key_id),
          outcome?.keyIds,
        );
    }
    test.diagnostic(`${calls.length - before} of ${calls.length} batches in progress at SIGTERM`);
  });

  it('whose clients leave have all their keys or none', async (test) => {
    await start();
    const calls = Array.from({ length: 12 }, (_, i) =>
      makeCall(PLAIN, i % 2 === 0 ? null : recipient, 300),
    );
    for (const [i, call] of calls.entries()) {
      const left = AbortSignal.timeout(5 + 25 * i);
      await send(call, left).catch(() => {});
    }
    const outcomes = await audit(calls);
    const fresh = outcomes.filter(({ status, replayed }) => status === 200 && !replayed).length;
    test.diagnostic(`${calls.length - fresh} of ${calls.length} batches were recorded`);
  });

  it('free the suite workers when their client leaves', async (test) => {
    // One worker has work for seconds. Many workers could be done before the client leaves.
    await start({ PHM_WORKERS: '1', PHM_METRICS_PORT: '0' });
    const streams = async () =>
      Number(
        /^phm_streams_judged_total\{result="passed"\} (\d+)$/m.exec(await server.scrape())?.[1],
      );
    const [first, small] = [0, 1].map(() => makeCall(VALIDATED, recipient, 20)) as [Call, Call];
    const before = await streams();
    await settle([first]);
    const ofSmall = (await streams()) - before;
    /** Leaves a batch once a worker has some of its keys. Returns its size: a slow server refuses the largest. */
    const leave = async (): Promise<number> => {
      for (let count = 1_000; count > 50; count /= 2) {
        const end = new AbortController();
        let isAnswered = false;
        const answered = () => {
          isAnswered = true;
        };
        const idle = await streams();
        const over = send(makeCall(VALIDATED, null, count), end.signal).then(answered, () => {});
        await until(
          'a worker has some keys',
          async () => isAnswered || (await streams()) > idle + ofSmall,
        );
        end.abort();
        await over;
        if (!isAnswered) return count;
      }
      assert.fail('the server refuses every batch');
    };
    const idle = await streams();
    const count = await leave();
    await settle([small]);
    const keys = Math.round((20 * ((await streams()) - idle)) / ofSmall) - 20;
    // A late batch would free its worker too.
    const ended = /^phm_problems_total\{code="request_timeout"\} 1$/m;
    assert.match(await server.scrape(), ended, 'the batch ended with its client');
    assert.ok(keys < 0.9 * count, `${keys} of ${count} keys were tested`);
    await audit([first, small]);
    test.diagnostic(`${keys} of ${count} keys were tested for a client that left`);
  });

  it('are repeated across midnight for 24 hours, and then made again', async () => {
    // 23:55 of the day before.
    const eve = -(Date.now() % DAY_MS) - 5 * MINUTE_MS;
    const at = (shift: number) => start({ NODE_OPTIONS: `--import=${shiftUrl(shift)}` });
    const calls = [makeCall(PLAIN), makeCall(PLAIN, recipient), makeCall(PLAIN, recipient, 10)];
    await at(eve);
    const made = (await settle(calls)).outcomes;
    assert.deepEqual(
      made.map(({ status }) => status),
      [200, 200, 200],
    );
    for (const later of [10 * MINUTE_MS, DAY_MS - 10 * MINUTE_MS]) {
      await server.stop('SIGKILL');
      await at(eve + later);
      for (const { call, keyIds, text } of made) {
        const reply = await send(call);
        if (call.recipient) assert.equal(reply.text, text);
        else assert.deepEqual(alreadyMade(reply), keyIds);
      }
    }
    await server.stop('SIGKILL');
    await at(eve + DAY_MS + 10 * MINUTE_MS);
    for (const call of calls) {
      const { status, replayed } = await send(call);
      assert.deepEqual([status, replayed], [200, false]);
    }
    assert.equal(await countRows(), 2 * 12);
  });
});
