/** Readiness through minutes of slow, hung and failing commits, in simulated time. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { ProbeOrder } from '../../../src/ledger/index.ts';
import { type Batch, LedgerSimulation, type World } from './simulation.ts';

const FROM_MS = 10_000;
const END_MS = 70_000;
const LOCK_TIMEOUT_MS = 4_000;

describe('readiness based on commits', () => {
  let simulation: LedgerSimulation;

  beforeEach(() => {
    mock.method(process.hrtime, 'bigint', () => BigInt(simulation.nowMs) * 1_000_000n);
  });
  afterEach(() => mock.restoreAll());

  const changes = async (world: World, untilMs = 80_000) => {
    simulation = new LedgerSimulation(world);
    await simulation.run(untilMs);
    assert.ok(simulation.hiddenMs <= 6_000, `ready for ${simulation.hiddenMs} ms without a key`);
    return simulation.changes;
  };
  const lasting = (ms: number): Batch => ({
    accounts: ['a'],
    fate: (tookMs) => (tookMs >= ms ? 'recorded' : undefined),
  });
  /** Batches fail between the two times, and are quick before and after. */
  const failing = (ms: number): Batch => ({
    accounts: ['a'],
    fate: (tookMs, nowMs) => {
      if (nowMs < FROM_MS || nowMs >= END_MS) return tookMs >= 50 ? 'recorded' : undefined;
      return tookMs >= ms ? 'failed' : undefined;
    },
  });
  const assertOnce = (seen: LedgerSimulation['changes'], name: string) => {
    const text = `${name}: ${JSON.stringify(seen)}`;
    assert.deepEqual(
      seen.map(({ ready }) => ready),
      [false, true],
      text,
    );
    const [unready = 0, ready = 0] = seen.map(({ atMs }) => atMs);
    assert.ok(unready >= FROM_MS && unready <= FROM_MS + 5_000, text);
    assert.ok(ready >= END_MS && ready <= END_MS + 3_000, text);
  };

  it('does not change while commits take up to four seconds and succeed', async () => {
    for (const ms of [50, 1_000, 2_000, 2_400, 2_600, 3_000, 4_000]) {
      for (const probeMs of [50, Math.min(ms, 2_000)]) {
        assert.deepEqual(await changes({ next: () => lasting(ms), probeMs }), [], `${ms} ms`);
      }
    }
  });

  it('does not change while a single client has commits of two seconds with pauses', async () => {
    for (const pauseMs of [1_000, 3_000, 6_000, 7_000, 9_000]) {
      let free = true;
      let restMs = 0;
      const next = (nowMs: number): Batch | null => {
        if (!free || nowMs < restMs) return null;
        free = false;
        const fate: Batch['fate'] = (tookMs, atMs) => {
          if (tookMs < 2_200) return undefined;
          free = true;
          // Two at a time, then a pause.
          restMs = restMs > atMs - 3_000 ? atMs + pauseMs : atMs;
          return 'recorded';
        };
        return { accounts: ['a'], fate };
      };
      assert.deepEqual(await changes({ next, probeMs: 2_200, inFlight: 1 }), [], `${pauseMs} ms`);
    }
  });

  it('changes once if each commit takes longer than four seconds', async () => {
    for (const ms of [4_600, 5_000, 5_900]) {
      const seen = await changes({ next: () => lasting(ms), probeMs: 50 });
      assert.equal(seen.length, 1, `${ms} ms: ${JSON.stringify(seen)}`);
    }
  });

  it('changes once and on time if a commit hangs', async () => {
    const fate: Batch['fate'] = (tookMs, nowMs) =>
      tookMs < 50 || (nowMs >= FROM_MS && nowMs < END_MS) ? undefined : 'recorded';
    assertOnce(await changes({ next: () => ({ accounts: ['a'], fate }) }), 'hung');
  });

  it('changes once and on time if a series of commits fails', async () => {
    for (const ms of [50, 1_000, 2_000, LOCK_TIMEOUT_MS]) {
      const probe = (_: ProbeOrder, nowMs: number) => {
        if (nowMs >= FROM_MS && nowMs < END_MS) throw new Error('staged');
        return false;
      };
      const next = () => failing(ms);
      assertOnce(await changes({ next, probe }), `${ms} ms, and checks that fail`);
      assertOnce(await changes({ next }), `${ms} ms, and checks that succeed`);
    }
  });

  /** A lock on the rows of account `a`. */
  const locked: Required<Pick<World, 'probe'>> = {
    probe: ({ accountIds }, nowMs) =>
      accountIds.includes('a') && nowMs >= FROM_MS && nowMs < END_MS,
  };
  const of = (accounts: readonly string[]): Batch => ({
    accounts,
    fate: (tookMs, nowMs) => {
      const waits = accounts.includes('a') && nowMs >= FROM_MS && nowMs < END_MS;
      if (!waits) return tookMs >= 50 ? 'recorded' : undefined;
      return tookMs >= LOCK_TIMEOUT_MS ? 'failed' : undefined;
    },
  });

  it('changes once each way while a locked account and others keep sending', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      let random = seed;
      const next = () => {
        random = (random * 48_271) % 2_147_483_647;
        return of(random % 2 === 0 ? ['a', 'b'] : ['b']);
      };
      const seen = await changes({ next, ...locked });
      const text = `seed ${seed}: ${JSON.stringify(seen)}`;
      assert.ok(seen.length === 0 || seen.length === 2, text);
      if (seen.length === 2) assert.ok((seen[1]?.atMs ?? 0) <= END_MS + 3_000, text);
    }
  });

  it('changes once each way while only a locked account sends', async () => {
    assertOnce(await changes({ next: () => of(['a']), ...locked }), 'alone');
  });

  it('does not change for one request of a locked account, with or without others', async () => {
    for (const others of [true, false]) {
      let sent = false;
      const next = (nowMs: number) => {
        if (nowMs >= FROM_MS && !sent) {
          sent = true;
          return of(['a']);
        }
        return others ? of(['b']) : null;
      };
      assert.deepEqual(await changes({ next, ...locked }), [], `others: ${others}`);
    }
  });
});
