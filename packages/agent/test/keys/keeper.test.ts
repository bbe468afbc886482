/** Masters get keys from pools, slaves get the same keys by ID, and no system gets one twice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Keeper, LEAST_LIFE_MS, Refusal } from '../../src/keys/keeper.ts';
import { MemoryService } from '../support/memory-service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { SimulatedDisk } from '../support/simulated-disk.ts';
import { POOLS, ROUTES, SILENT, SITE_A, SITE_B, Site } from '../support/sites.ts';

interface World {
  readonly clock: SimulatedClock;
  readonly service: MemoryService;
  readonly a: Site;
  readonly b: Site;
  readonly refused: string[];
}

async function world(): Promise<World> {
  const clock = new SimulatedClock();
  const service = new MemoryService(clock);
  const refused: string[] = [];
  const events = { ...SILENT, copyRefused: (_: string, reason: string) => refused.push(reason) };
  const [a, b] = [SITE_A, SITE_B].map(
    (agent) => new Site(agent, { service, clock, disk: new SimulatedDisk(clock), events }),
  ) as [Site, Site];
  await a.start();
  await b.start();
  await clock.advance(5_000);
  return { clock, service, a, b, refused };
}

const keeperOf = (site: Site): Keeper => site.life?.keeper as Keeper;

function refusal(code: Refusal['code']) {
  return (error: unknown) => error instanceof Refusal && error.code === code;
}

describe('keys for a pair', () => {
  it('are ready before a master asks, and equal at both ends', async () => {
    const { clock, a, b } = await world();
    assert.equal(keeperOf(a).pair('a1', 'b1').ready, POOLS.least);
    const keys = await clock.settle(keeperOf(a).take('a1', ['b1'], 3, 256));
    const ids = keys.map(({ id }) => id);
    const read = await clock.settle(keeperOf(b).read('b1', 'a1', ids));
    assert.deepEqual(
      read.map(({ id, key }) => [id, Buffer.from(key).toString('hex')]),
      keys.map(({ id, key }) => [id, Buffer.from(key).toString('hex')]),
    );
    assert.equal(new Set(ids).size, 3);
  });

  it('are made while the master waits if the pool has too few, in any size', async () => {
    const { clock, a, b } = await world();
    const many = await clock.settle(keeperOf(a).take('a1', ['b1'], 128, 256));
    assert.equal(many.length, 128);
    for (const size of [128, 384] as const) {
      const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, size));
      assert.equal(key?.key.length, size / 8);
      await clock.settle(keeperOf(b).read('b1', 'a1', [key?.id ?? '']));
    }
  });

  it('outlast an outage that is shorter than the pool, which then fills again', async () => {
    const { clock, service, a, b } = await world();
    service.isDown = true;
    const keys = await clock.settle(keeperOf(a).take('a1', ['b1'], POOLS.least, 256));
    await clock.settle(
      keeperOf(b).read(
        'b1',
        'a1',
        keys.map(({ id }) => id),
      ),
    );
    const late = keeperOf(a).take('a1', ['b1'], 1, 256);
    await assert.rejects(clock.settle(late), refusal('unavailable'));
    service.heal();
    await clock.advance(120_000);
    assert.ok(keeperOf(a).pair('a1', 'b1').ready >= POOLS.least);
  });

  it('grow in number with the demand', async () => {
    const { clock, a } = await world();
    for (let i = 0; i < 20; i += 1) {
      await clock.settle(keeperOf(a).take('a1', ['b1'], 5, 256));
      await clock.advance(1_000);
    }
    const { ready, seconds } = keeperOf(a).pair('a1', 'b1');
    assert.equal(ready, POOLS.most);
    assert.ok(seconds !== null && seconds > 5 && seconds < 30, `${seconds}`);
  });

  it('are handed out with ten minutes to live at least, and removed when they are older', async () => {
    const { clock, service, a } = await world();
    const first = new Set(service.idsOf(SITE_A.thumbprint));
    await clock.advance(POOLS.lifeMs - LEAST_LIFE_MS + 60_000);
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    assert.ok(key && key.expiresAtMs - clock.nowMs() >= LEAST_LIFE_MS);
    await clock.advance(10_000);
    const left = service.idsOf(SITE_A.thumbprint).filter((id) => first.has(id));
    // Those of the other direction: their master's agent removes its own copies.
    assert.equal(first.size, 4 * POOLS.least);
    assert.equal(left.length, POOLS.least);
    assert.ok(!service.idsOf(SITE_B.thumbprint).some((id) => left.includes(id)));
  });

  it('are removed from both boxes once both have read them', async () => {
    const { clock, service, a, b } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    const id = key?.id ?? '';
    await clock.advance(3_000);
    assert.ok(!service.idsOf(SITE_A.thumbprint).includes(id));
    assert.ok(service.idsOf(SITE_B.thumbprint).includes(id));
    await clock.settle(keeperOf(b).read('b1', 'a1', [id]));
    await clock.advance(3_000);
    assert.ok(!service.idsOf(SITE_B.thumbprint).includes(id));
  });
});

describe('a key', () => {
  it('is not handed out again: not at once, not after a restart, not if the service brings it back', async () => {
    const { clock, service, a, b } = await world();
    service.faults.revive = 1;
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    const id = key?.id ?? '';
    await clock.settle(keeperOf(b).read('b1', 'a1', [id]));
    for (const site of [a, b]) {
      site.crash();
      await site.start();
    }
    await clock.advance(10_000);
    await assert.rejects(clock.settle(keeperOf(b).read('b1', 'a1', [id])), refusal('not-found'));
    const others = await clock.settle(keeperOf(a).take('a1', ['b1'], 40, 256));
    assert.ok(!others.some((one) => one.id === id));
  });

  it('that is asked for twice in one request, or in two at once, goes out at most once', async () => {
    const { clock, a, b } = await world();
    const keys = await clock.settle(keeperOf(a).take('a1', ['b1'], 2, 256));
    const [one = '', two = ''] = keys.map(({ id }) => id);
    const twice = keeperOf(b).read('b1', 'a1', [one, one]);
    await assert.rejects(clock.settle(twice), refusal('not-found'));
    const both = await clock.settle(
      Promise.allSettled([1, 2].map(() => keeperOf(b).read('b1', 'a1', [one, two]))),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  it('is refused with all others of the request if one of them is unknown', async () => {
    const { clock, a, b } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    const ids = [key?.id ?? '', '00000000-0000-4000-8000-000000000000'];
    await assert.rejects(clock.settle(keeperOf(b).read('b1', 'a1', ids)), refusal('not-found'));
    assert.equal((await clock.settle(keeperOf(b).read('b1', 'a1', ids.slice(0, 1)))).length, 1);
  });

  it('goes only to the systems of its route', async () => {
    const { clock, a, b } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    const id = key?.id ?? '';
    const refused = refusal('not-allowed');
    await assert.rejects(clock.settle(keeperOf(b).read('b2', 'a1', [id])), refused);
    await assert.rejects(clock.settle(keeperOf(b).read('b1', 'b1', [id])), refused);
    await assert.rejects(clock.settle(keeperOf(b).take('a1', ['b1'], 1, 256)), refused);
    await assert.rejects(clock.settle(keeperOf(a).take('a2', ['b1'], 1, 256)), refused);
    await assert.rejects(clock.settle(keeperOf(a).take('a1', ['b2'], 1, 256)), refused);
  });

  it('of a group is made for each request, and goes to each of its slaves once', async () => {
    const { clock, a, b } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b2', 'b1'], 1, 256));
    const id = key?.id ?? '';
    await clock.settle(keeperOf(b).read('b1', 'a1', [id]));
    await assert.rejects(clock.settle(keeperOf(b).read('b1', 'a1', [id])), refusal('not-found'));
    await clock.settle(keeperOf(b).read('b2', 'a1', [id]));
    await assert.rejects(clock.settle(keeperOf(b).read('b2', 'a1', [id])), refusal('not-found'));
    await clock.advance(3_000);
    assert.ok(!(await clock.settle(Promise.resolve(keeperOf(b).counts))).toRemove);
  });

  it('of a system with itself goes to it once as master and once as slave', async () => {
    const { clock, a } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['a1'], 1, 256));
    const id = key?.id ?? '';
    const [read] = await clock.settle(keeperOf(a).read('a1', 'a1', [id]));
    assert.deepEqual(read?.key, key?.key);
    await assert.rejects(clock.settle(keeperOf(a).read('a1', 'a1', [id])), refusal('not-found'));
  });
});

describe('keys whose answer was lost', () => {
  it('are found in the box, and handed out', async () => {
    const { clock, service, a } = await world();
    service.faults.loseMade = 1;
    const keys = await clock.settle(keeperOf(a).take('a1', ['b1'], 20, 256));
    assert.equal(keys.length, 20);
  });
});

describe('a copy in the box', () => {
  const id = '11111111-1111-4111-8111-111111111111';
  const [route] = ROUTES;
  const thumbprints = [SITE_A.thumbprint, SITE_B.thumbprint];
  const copies = {
    'sealed to a further recipient': {
      thumbprints: [...thumbprints, 'thumbprint of a stranger'],
      context: route?.context ?? '',
      length: 32,
    },
    'without the other recipient': {
      thumbprints: [SITE_A.thumbprint],
      context: route?.context ?? '',
      length: 32,
    },
    'of another use': { thumbprints, context: 'of another program', length: 32 },
    'without a use': { thumbprints, context: null, length: 32 },
    'of another length': { thumbprints, context: route?.context ?? '', length: 31 },
  };
  for (const [what, { length, ...copy }] of Object.entries(copies)) {
    it(`${what} is never handed out`, async () => {
      const { clock, service, a, b, refused } = await world();
      const expiresAtMs = clock.nowMs() + POOLS.lifeMs;
      const key = new Uint8Array(length);
      for (const thumbprint of thumbprints) {
        service.plant(thumbprint, { id, key, expiresAtMs, origins: [], ...copy });
      }
      await clock.advance(10_000);
      assert.equal(refused.length, 2);
      await assert.rejects(clock.settle(keeperOf(b).read('b1', 'a1', [id])), refusal('not-found'));
      const keys = await clock.settle(keeperOf(a).take('a1', ['b1'], 40, 256));
      assert.ok(!keys.some((one) => one.id === id));
    });
  }
});

describe('a full disk', () => {
  it('lets no key out, and keys go out again once there is space', async () => {
    const { clock, a, b } = await world();
    const [key] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    a.disk.isFull = true;
    const failed = keeperOf(a).take('a1', ['b1'], 1, 256);
    await assert.rejects(clock.settle(failed), refusal('unavailable'));
    a.disk.isFull = false;
    const [next] = await clock.settle(keeperOf(a).take('a1', ['b1'], 1, 256));
    assert.notEqual(next?.id, key?.id);
    a.crash();
    await a.start();
    await clock.settle(keeperOf(b).read('b1', 'a1', [key?.id ?? '', next?.id ?? '']));
  });
});
