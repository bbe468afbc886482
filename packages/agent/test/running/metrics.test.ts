/** What both kinds of agent count and log of the service, the box and the journal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../../src/clock.ts';
import type { Keeper } from '../../src/keys/keeper.ts';
import type { Rotation } from '../../src/psk/rotation.ts';
import { Log } from '../../src/running/log.ts';
import { Metrics } from '../../src/running/metrics.ts';
import { PskMetrics } from '../../src/running/psk-metrics.ts';

const clock = { nowMs: () => 1_800_000_000_000 } as unknown as Clock;

const KEEPER = {
  pairs: () => [],
  counts: { held: 0, toFetch: 0, toRemove: 0, journal: 0 },
} as unknown as Keeper;
const ROTATION = { epoch: 1, confirmed: null, ahead: 0 } as unknown as Rotation;

function logged() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: new Log((line) => lines.push(JSON.parse(line)), clock) };
}

const KINDS = [
  {
    name: 'an agent that serves systems',
    make: (log: Log) => new Metrics(log, clock),
    page: (metrics: Metrics | PskMetrics) => (metrics as Metrics).text(KEEPER),
    journal: 'no key goes out: the journal failed',
  },
  {
    name: 'an agent that rotates a key',
    make: (log: Log) => new PskMetrics(log, clock),
    page: (metrics: Metrics | PskMetrics) => (metrics as PskMetrics).text(ROTATION),
    journal: 'no key is changed: the record failed',
  },
];

for (const { name, make, page, journal } of KINDS) {
  describe(`the metrics of ${name}`, () => {
    it('have the counters from the start', () => {
      const text = page(make(logged().log));
      assert.match(text, /^phm_agent_copies_refused_total 0$/m);
      assert.match(text, /^phm_agent_journal_failures_total 0$/m);
      assert.match(text, /^phm_agent_service_answer_timestamp_seconds 0$/m);
    });

    it('count each event, and log those that differ by a request once', () => {
      const { lines, log } = logged();
      const metrics = make(log);
      for (let i = 1; i <= 100; i++) {
        metrics.sourceFailed('fetch', new Error(`no answer (request ${i})`));
        metrics.copyRefused(`d${i}`, `its receipt is not valid (request ${i})`);
        metrics.journalFailed(new Error('ENOSPC'));
      }
      metrics.sourceServed();
      const text = page(metrics);
      assert.match(text, /^phm_agent_source_failures_total\{call="fetch"\} 100$/m);
      assert.match(text, /^phm_agent_copies_refused_total 100$/m);
      assert.match(text, /^phm_agent_journal_failures_total 100$/m);
      assert.match(text, /^phm_agent_service_answer_timestamp_seconds 1800000000$/m);
      const said = lines.map(({ message }) => message);
      assert.deepEqual(said, [
        'a call of the service failed',
        'a copy in the box was refused',
        journal,
      ]);
    });
  });
}
