/** What each end does in each state, by the simulated clock. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { generatorOf } from '../support/generator.ts';
import { MemoryService } from '../support/memory-service.ts';
import { End, type EndName, type EndOptions, partyOf } from '../support/psk-ends.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const INTERVAL_MS = 300_000;

/** From the middle of an epoch until both ends have taken a key of the next one back. */
const LATE_MS = 400_000;

let clock: SimulatedClock;
let service: MemoryService;
let a: End;
let b: End;

/** Makes both ends, whose clocks differ, in the middle of an epoch. */
async function make(options: Partial<EndOptions> = {}): Promise<void> {
  clock = new SimulatedClock();
  const random = generatorOf(7);
  service = new MemoryService(clock, random);
  const end = (name: EndName): End =>
    new End({
      name,
      intervalMs: INTERVAL_MS,
      clock,
      aheadMs: name === 'a' ? 30_000 : -30_000,
      random,
      hasConfirm: true,
      boxes: (thumbprint) => service.boxesFor(thumbprint),
      origins: ['keys.example/log'],
      ...options,
    });
  [a, b] = [end('a'), end('b')];
  [a.other, b.other] = [b, a];
  await clock.advance(INTERVAL_MS / 2);
  for (const one of [a, b]) await one.start();
}

const pass = (intervals: number): Promise<void> => clock.advance(intervals * INTERVAL_MS);

/** Returns the present epoch by the right clock, in the middle of which the tests look. */
const epoch = (): number => Math.floor(clock.nowMs() / INTERVAL_MS);

const confirmedAt = ({ rotation }: End): number | undefined => rotation?.confirmed?.epoch;

function assertInStep(): void {
  assert.deepEqual([confirmedAt(a), confirmedAt(b)], [epoch(), epoch()], `${a.log}\n${b.log}`);
  assert.ok(a.installed !== null);
  assert.equal(a.installed, b.installed);
}

const counts = ({ log }: End, begin: string): number =>
  log.filter((line) => line.startsWith(begin)).length;

describe('two ends of a link', () => {
  beforeEach(() => make());

  it('use a new key in each epoch, at both ends, from the first that can be agreed', async () => {
    await pass(1);
    for (let i = 0; i < 8; i += 1) {
      assertInStep();
      await pass(1);
    }
    for (const one of [a, b]) {
      assert.equal(counts(one, 'taken back'), 0);
      assert.equal(counts(one, 'refused'), 0);
      assert.equal(one.rotation?.ahead, 3);
    }
    for (const one of [a, b]) await clock.settle(one.stop());
  });

  it('go on through an outage of two intervals, and keep the old key through a longer one', async () => {
    await pass(3);
    service.isDown = true;
    await pass(2);
    assertInStep();
    await pass(5);
    const kept = a.installed;
    assert.equal(b.installed, kept);
    assert.ok(counts(a, 'stayed') >= 2);
    service.isDown = false;
    await pass(2);
    assertInStep();
    assert.notEqual(a.installed, kept);
  });

  it('use nothing that one of them has not received', async () => {
    b.crash();
    await pass(3);
    assert.deepEqual([a.installed, counts(a, 'agreed')], [null, 0]);
    await b.start();
    await pass(2);
    assertInStep();
    a.crash();
    const old = b.installed;
    await pass(6);
    // Of what was agreed before, the other end uses the rest, and takes it back: nobody answers.
    assert.equal(counts(b, 'taken back'), 3);
    assert.equal(b.installed, old);
  });

  it('have the key again after a restart, without its bytes on disk', async () => {
    await pass(2);
    for (const one of [a, b]) {
      const [{ installed }, id] = [one, one.installedId ?? ''];
      one.crash();
      assert.ok(one.disk.content.includes(id));
      // The machine has restarted, too.
      one.installed = null;
      await one.start();
      await clock.advance(20_000);
      assert.equal(one.installed, installed);
    }
    await pass(1);
    assertInStep();
  });

  it('take the old key back if the new one is not confirmed, and do not try that epoch again', async () => {
    await pass(2);
    const old = a.installed;
    a.faults.confirm = 1;
    b.faults.confirm = 1;
    await clock.advance(LATE_MS);
    for (const one of [a, b]) {
      assert.deepEqual([one.installed, counts(one, 'taken back')], [old, 1], `${one.log}`);
    }
    a.faults.confirm = 0;
    b.faults.confirm = 0;
    for (const { disk } of [a, b]) assert.match(disk.content, /"stage":"failed"/);
    // Even if the epoch begins again.
    for (const one of [a, b]) one.setClock(-200_000);
    await clock.advance(60_000);
    assert.deepEqual([a.installed, b.installed], [old, old]);
    for (const one of [a, b]) one.setClock(200_000);
    await clock.advance(140_000);
    assertInStep();
  });

  it('come back together if one of them cannot install', async () => {
    await pass(2);
    const old = a.installed;
    b.faults.install = 1;
    await clock.advance(LATE_MS);
    assert.deepEqual([a.installed, b.installed], [old, old], `${a.log}\n${b.log}`);
    b.faults.install = 0;
    await pass(1);
    assertInStep();
  });

  it('agree on one key of an epoch after the leader has lost its record', async () => {
    await pass(2);
    a.crash();
    a.disk.content = '';
    await a.start();
    await pass(1);
    assertInStep();
    await pass(3);
    assertInStep();
  });

  /** Removes new copies of `b` for an interval, and returns how many keys were made meanwhile. */
  async function loseCopies(kept: readonly string[]): Promise<number> {
    const { thumbprint } = partyOf('b');
    const box = service.boxesFor(thumbprint);
    const before = service.made;
    for (let ms = 0; ms < INTERVAL_MS; ms += 500) {
      const fresh = service.idsOf(thumbprint).filter((id) => !kept.includes(id));
      await clock.settle(box.remove(fresh, new AbortController().signal));
      await clock.advance(450);
    }
    return service.made - before;
  }

  it('agree on a key of an epoch whose copies were lost, once none is lost any more', async () => {
    await pass(1);
    // The first epoch whose keys are not made yet comes within reach.
    const made = await loseCopies(service.idsOf(partyOf('b').thumbprint));
    assert.ok(made > 5 && made <= 16, `${made} keys were made`);
    for (let i = 0; i < 4; i += 1) {
      await pass(1);
      assertInStep();
    }
  });

  it('make five keys of each epoch at once, and ten in an interval for all epochs together', async () => {
    // Three epochs are within reach, and a fourth within the interval.
    const made = await loseCopies([]);
    assert.ok(made > 20 && made <= 4 * 5 + 11, `${made} keys were made`);
  });

  it('remove what they use no more', async () => {
    await pass(9);
    for (const name of ['a', 'b'] as const) {
      assert.ok(service.idsOf(partyOf(name).thumbprint).length <= 5);
    }
  });

  it('refuse keys that are sealed to others, and leave those of another use alone', async () => {
    await pass(1);
    const copy = {
      key: new Uint8Array(32),
      thumbprints: ['thumbprint of a', 'thumbprint of b'],
      context: 'another use',
      expiresAtMs: clock.nowMs() + 86_400_000,
      origins: [],
    };
    service.plant('thumbprint of b', { ...copy, id: 'foreign' });
    await pass(1);
    assert.equal(counts(b, 'refused foreign: its context is of no epoch of this link'), 1);
    assert.ok(service.idsOf('thumbprint of b').includes('foreign'));
    assertInStep();
  });
});

describe('two ends without a confirmation', () => {
  it('switch late rather than not at all', async () => {
    await make({ hasConfirm: false });
    await pass(1);
    assertInStep();
    b.faults.install = 1;
    // Until half of the next epoch is over.
    await pass(1);
    assert.notEqual(a.installed, b.installed);
    b.faults.install = 0;
    await clock.advance(30_000);
    assert.equal(a.installed, b.installed);
  });
});
