/**
 * Single requests and small batches of one account are answered while another account keeps generating batches of 1,000
 * keys. Prints the latencies beside those of an idle server. `test/service/suite/pool.test.ts` shows the turns of the
 * queue.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newRecipient, type RecipientKey } from '#sealing';
import { makeCall, sendOnce } from '../support/clients/idempotent-calls.ts';
import { sqliteIn } from '../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../support/ledgers/books.ts';
import { reportTime, sized } from '../support/run/campaign.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

const MEASURE_MS = sized({ sample: 1_000, full: 4_000 });
const PAUSE_MS = 5;

/**
 * No request may wait for a whole batch of validated keys, which takes seconds. A machine that does other work needs more
 * time for the requests alone too.
 */
const longestMedianMs = (alone: Latency) => 500 + 10 * alone.median;

const PLAIN = { security_level: 256 };
const VALIDATED = { ...PLAIN, enable_nist_validation: true };

/** Median and 99th percentile in milliseconds. */
interface Latency {
  readonly median: number;
  readonly p99: number;
  readonly count: number;
}

type Latencies = Readonly<Record<string, Latency>>;

describe('batches of one account', () => {
  const dataDir = makeDataDir();
  let recipient: RecipientKey;
  const requests = {
    plain: () => makeCall(PLAIN),
    sealed: () => makeCall(PLAIN, recipient),
    validated: () => makeCall(VALIDATED),
    'a batch of 10': () => makeCall(PLAIN, null, 10),
  };
  let server: Server;
  let accounts: readonly [Account, Account];
  before(async () => {
    recipient = await newRecipient();
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    const added = await addAccounts(sqliteIn(dataDir), ['enterprise', 'enterprise']);
    accounts = added as [Account, Account];
  });
  after(async () => {
    await server?.stop('SIGKILL');
    removeDataDir(dataDir);
  });

  async function measure(kind: keyof typeof requests): Promise<Latency> {
    const times: number[] = [];
    for (const end = Date.now() + MEASURE_MS; Date.now() < end; await delay(PAUSE_MS)) {
      let began = performance.now();
      // On a machine that does other work, the queue may be full for a moment.
      for (;;) {
        const answer = await sendOnce(server.address, accounts[0].apiKey, requests[kind]());
        if (answer.status === 200) break;
        assert.equal(answer.body.code, 'overloaded', answer.text);
        await delay(PAUSE_MS);
        began = performance.now();
      }
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(share * (times.length - 1))] as number;
    return { median: at(0.5), p99: at(0.99), count: times.length };
  }

  async function measureAll(): Promise<Latencies> {
    const kinds = Object.keys(requests) as (keyof typeof requests)[];
    const latencies = await Promise.all(kinds.map(measure));
    return Object.fromEntries(kinds.map((kind, i) => [kind, latencies[i] as Latency]));
  }

  /** Generates batches of plain and of validated keys until the returned function is called. */
  function keepGenerating(): () => Promise<number> {
    let running = true;
    let keys = 0;
    const generate = async (fields: object) => {
      let count = 1_000;
      while (running) {
        const call = makeCall({ ...fields }, null, count);
        const { status, body } = await sendOnce(server.address, accounts[1].apiKey, call);
        if (status === 413) count = body.max_count;
        else if (status === 200) keys += count;
        else assert.match(body.code, /^(overloaded|entropy_unavailable)$/);
      }
    };
    const all = Promise.all([generate(PLAIN), generate(VALIDATED)]);
    return async () => {
      running = false;
      await all;
      return keys;
    };
  }

  it('delay the requests of another only a little', async (test) => {
    const alone = await measureAll();
    const end = keepGenerating();
    await delay(500);
    const beside = await measureAll();
    const keys = await end();
    for (const [kind, one] of Object.entries(alone)) {
      const other = beside[kind] as Latency;
      const ratio = (name: 'median' | 'p99') =>
        `${name} ${one[name].toFixed(1)} → ${other[name].toFixed(1)} ms (× ${(other[name] / one[name]).toFixed(1)})`;
      test.diagnostic(`${kind}: ${ratio('median')}, ${ratio('p99')}, ${other.count} requests`);
      const median = { name: `the median of ${kind}`, value: other.median, unit: 'ms' };
      reportTime(test, { ...median, atMost: longestMedianMs(one) });
    }
    test.diagnostic(`${keys} keys in batches meanwhile`);
  });
});
