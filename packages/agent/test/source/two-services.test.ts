/** Two services as one: no key of one alone, one derivation at both ends, and halves that end. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, it } from 'node:test';
import { combine } from '../../src/source/combined-key.ts';
import type { Fetched, KeyBoxes, MakeOrder, OpenedCopy } from '../../src/source/key-boxes.ts';
import { TwoServices } from '../../src/source/two-services.ts';
import { MemoryService } from '../support/memory-service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

interface Vector {
  readonly bits: number;
  readonly id: string;
  readonly context: string;
  readonly copies: readonly [VectorCopy, VectorCopy];
  readonly derived: string;
}

interface VectorCopy {
  readonly service: string;
  readonly key_id: string;
  readonly commitment: string;
  readonly key: string;
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/two-services.json', import.meta.url), 'utf8'),
) as Vector[];

const copyOf = ({ id, context }: Vector, { key, ...origin }: VectorCopy): OpenedCopy => ({
  id,
  context,
  key: new Uint8Array(Buffer.from(key, 'hex')),
  thumbprints: ['a', 'b'],
  expiresAtMs: 1,
  origins: [origin],
});

describe('the key of two services', () => {
  it('is that of RFC 5869 as another implementation computes it, in any order', () => {
    for (const vector of VECTORS) {
      const [one, other] = vector.copies.map((copy) => copyOf(vector, copy));
      assert.ok(one && other);
      for (const made of [combine(one, other), combine(other, one)]) {
        assert.equal(Buffer.from(made.key).toString('hex'), vector.derived);
      }
    }
    assert.equal(VECTORS.length, 4);
  });

  it('depends on each bit of both keys, and on all that the services state', () => {
    const [vector] = VECTORS;
    assert.ok(vector);
    const [one, other] = vector.copies.map((copy) => copyOf(vector, copy));
    assert.ok(one && other);
    const [origin] = other.origins;
    assert.ok(origin);
    const flipped = new Uint8Array(other.key);
    flipped[15] = (flipped[15] ?? 0) ^ 1;
    const variants: [OpenedCopy, OpenedCopy][] = [
      [one, { ...other, key: flipped }],
      [one, { ...other, origins: [{ ...origin, key_id: 'x' }] }],
      [one, { ...other, origins: [{ ...origin, commitment: 'x' }] }],
      [one, { ...other, origins: [{ ...origin, service: 'x' }] }],
      [
        { ...one, id: 'x' },
        { ...other, id: 'x' },
      ],
      [
        { ...one, context: 'x' },
        { ...other, context: 'x' },
      ],
    ];
    const keys = [...variants, [one, other] as const].map(([a, b]) =>
      Buffer.from(combine(a, b).key).toString('hex'),
    );
    assert.equal(new Set(keys).size, variants.length + 1);
  });

  it('is refused for copies that do not belong together', () => {
    const [vector] = VECTORS;
    assert.ok(vector);
    const [one, other] = vector.copies.map((copy) => copyOf(vector, copy));
    assert.ok(one && other);
    const wrong: [Partial<OpenedCopy>, RegExp][] = [
      [{ id: 'x' }, /different deliveries/],
      [{ context: null }, /different contexts/],
      [{ key: new Uint8Array(32) }, /different sizes/],
      [{ thumbprints: ['a', 'c'] }, /different recipients/],
      [{ thumbprints: ['a', 'b', 'c'] }, /different recipients/],
    ];
    for (const [change, message] of wrong) {
      assert.throws(() => combine(one, { ...other, ...change }), { name: 'RangeError', message });
    }
    assert.ok(combine(one, { ...other, thumbprints: ['b', 'a'] }));
  });
});

const NEVER = new AbortController().signal;
const SITES = ['a', 'b'] as const;

let clock: SimulatedClock;
let services: readonly [MemoryService, MemoryService];
let ends: Record<(typeof SITES)[number], KeyBoxes>;

const order = (count: number): MakeOrder => ({
  ids: Array.from({ length: count }, () => randomUUID()),
  size: 256,
  parties: SITES.map((name) => ({ recipient: name, thumbprint: name })),
  context: 'c',
  lifeMs: 3_600_000,
});

const hex = ({ key }: Pick<OpenedCopy, 'key'>): string => Buffer.from(key).toString('hex');
const opened = (one: Fetched | undefined): OpenedCopy => {
  assert.ok(one?.kind === 'opened', one?.kind ?? 'nothing');
  return one.copy;
};

/** The place of a listing that has gone through both boxes. */
const END = JSON.stringify(SITES.map(() => ({ cursor: 'waiting', isEnd: true })));

/** Lists to the end, as an agent does. */
async function listed(boxes: KeyBoxes, after: string | null = null): Promise<string[]> {
  const { ids, cursor, isEnd } = await clock.settle(boxes.list(after, NEVER));
  return isEnd ? [...ids] : [...ids, ...(await listed(boxes, cursor))];
}

describe('two services', () => {
  beforeEach(() => {
    clock = new SimulatedClock();
    services = [
      new MemoryService(clock, Math.random, 'one.example/log'),
      new MemoryService(clock, Math.random, 'two.example/log'),
    ];
    const end = (site: string): KeyBoxes =>
      new TwoServices(
        [
          { name: 'one', boxes: services[0].boxesFor(site) },
          { name: 'two', boxes: services[1].boxesFor(site) },
        ],
        clock,
      );
    ends = { a: end('a'), b: end('b') };
  });

  it('give both ends one key, which is that of neither', async () => {
    const wanted = order(3);
    const made = await clock.settle(ends.a.make(wanted, NEVER));
    assert.deepEqual(
      made.map(({ id }) => id),
      wanted.ids,
    );
    const read = await clock.settle(ends.b.fetch(wanted.ids, NEVER));
    assert.deepEqual(
      read.map((one) => hex(opened(one))),
      made.map(hex),
    );
    for (const service of services) {
      const alone = await clock.settle(service.boxesFor('b').fetch(wanted.ids, NEVER));
      for (const one of alone) assert.ok(!made.map(hex).includes(hex(opened(one))));
    }
    await clock.settle(ends.b.remove(wanted.ids, NEVER));
    assert.deepEqual([services[0].idsOf('b'), services[1].idsOf('b')], [[], []]);
  });

  it('give nothing while one of them fails, and say which', async () => {
    for (const [i, name] of ['one', 'two'].entries()) {
      const failing = services[i];
      assert.ok(failing);
      const wanted = order(2);
      await clock.settle(ends.a.make(wanted, NEVER));
      failing.isDown = true;
      const refusal = { name: 'SourceError', message: `${name}: out of service` };
      for (const call of [
        () => ends.a.make(order(1), NEVER),
        () => ends.b.fetch(wanted.ids, NEVER),
        () => ends.b.list(null, NEVER),
        () => ends.b.remove(wanted.ids, NEVER),
      ]) {
        await assert.rejects(clock.settle<unknown>(call()), refusal);
      }
      failing.heal();
    }
  });

  it('list what both have, over many pages of either', async () => {
    const wanted = [order(45), order(10)];
    for (const one of wanted) await clock.settle(ends.a.make(one, NEVER));
    const extra = order(30);
    await clock.settle(services[1].boxesFor('a').make(extra, NEVER));
    const ids = wanted.flatMap((one) => one.ids);
    assert.deepEqual((await listed(ends.b)).sort(), [...ids].sort());
  });

  it('give no half, and remove it once its other half cannot come any more', async () => {
    const [half, whole] = [order(2), order(1)];
    await clock.settle(services[0].boxesFor('a').make(half, NEVER));
    const fetched = await clock.settle(ends.b.fetch(half.ids, NEVER));
    assert.deepEqual(
      fetched.map(({ kind }) => kind),
      ['gone', 'gone'],
    );
    assert.deepEqual(await listed(ends.b), []);
    await clock.advance(9 * 60_000);
    await clock.settle(ends.a.make(whole, NEVER));
    assert.deepEqual(await listed(ends.b), whole.ids);
    assert.equal(services[0].idsOf('b').length, 3);
    await clock.advance(2 * 60_000);
    await listed(ends.b);
    assert.deepEqual(services[0].idsOf('b'), whole.ids);
    // Each site empties its own box.
    assert.equal(services[0].idsOf('a').length, 3);
  });

  it('leave no half in any box after an outage of either, however many requests failed', async () => {
    for (const failing of services) {
      failing.isDown = true;
      for (let i = 0; i < 30; i += 1) {
        await assert.rejects(clock.settle<unknown>(ends.a.make(order(10), NEVER)));
      }
      failing.heal();
      // One request finds out which service fails. From then on the other makes no keys in vain.
      const left = services.map((service) => service.idsOf('b').length);
      assert.ok(
        left.every((count) => count <= 10),
        `${left}`,
      );
      for (const end of [ends.a, ends.b]) await listed(end);
      await clock.advance(11 * 60_000);
      for (const end of [ends.a, ends.b]) await listed(end);
      for (const site of SITES) {
        assert.deepEqual(
          services.map((service) => service.idsOf(site)),
          [[], []],
        );
      }
    }
  });

  it('list a new key behind more halves than a page has', async () => {
    for (let i = 0; i < 6; i += 1) {
      await clock.settle(services[0].boxesFor('a').make(order(20), NEVER));
    }
    const { cursor } = await clock.settle(ends.b.list(null, NEVER));
    const [first, second] = [order(1), order(1)];
    await clock.settle(ends.a.make(first, NEVER));
    const found = await listed(ends.b, cursor);
    await clock.settle(ends.a.make(second, NEVER));
    // Well before the halves are old.
    for (let i = 0; i < 10; i += 1) found.push(...(await listed(ends.b, END)));
    assert.deepEqual([...new Set(found)].sort(), [...first.ids, ...second.ids].sort());
  });

  it('remove no half whose other half is late', async () => {
    const late = order(1);
    await clock.settle(ends.a.make(late, NEVER));
    services[1].faults.delay = 1;
    const [fetched] = await clock.settle(ends.b.fetch(late.ids, NEVER));
    assert.equal(fetched?.kind, 'pending');
    await clock.advance(11 * 60_000);
    await listed(ends.b);
    services[1].heal();
    opened((await clock.settle(ends.b.fetch(late.ids, NEVER)))[0]);
  });

  it('wipe what they derive keys of, also if one fails', async () => {
    const seen: Uint8Array[] = [];
    const watched = (boxes: KeyBoxes): KeyBoxes => ({
      ...boxes,
      make: async (wanted, signal) => {
        const copies = await boxes.make(wanted, signal);
        seen.push(...copies.map(({ key }) => key));
        return copies;
      },
      fetch: async (ids, signal) => {
        const fetched = await boxes.fetch(ids, signal);
        seen.push(...fetched.flatMap((one) => (one.kind === 'opened' ? [one.copy.key] : [])));
        return fetched;
      },
    });
    const end = new TwoServices(
      [
        { name: 'one', boxes: watched(services[0].boxesFor('a')) },
        { name: 'two', boxes: watched(services[1].boxesFor('a')) },
      ],
      clock,
    );
    const wanted = order(3);
    await clock.settle(end.make(wanted, NEVER));
    await clock.settle(end.fetch(wanted.ids, NEVER));
    services[1].isDown = true;
    await assert.rejects(clock.settle<unknown>(end.make(order(3), NEVER)));
    await assert.rejects(clock.settle<unknown>(end.fetch(wanted.ids, NEVER)));
    assert.equal(seen.length, 6 + 6 + 3 + 3);
    assert.ok(seen.every((key) => key.every((byte) => byte === 0)));
  });

  it('give a key whose halves are listed at different times', async () => {
    const late = order(1);
    await clock.settle(services[0].boxesFor('a').make(late, NEVER));
    assert.deepEqual(await listed(ends.b), []);
    await clock.settle(services[1].boxesFor('a').make(late, NEVER));
    assert.deepEqual(await listed(ends.b), late.ids);
    opened((await clock.settle(ends.b.fetch(late.ids, NEVER)))[0]);
  });

  it('say that a copy is received once both have sent theirs', async () => {
    const wanted = order(1);
    const [id = ''] = wanted.ids;
    const state = async () => {
      const states = await clock.settle(ends.a.state(id, NEVER));
      return states && SITES.map((name) => states.get(name));
    };
    assert.equal(await state(), null);
    await clock.settle(services[0].boxesFor('a').make(wanted, NEVER));
    assert.deepEqual(await state(), ['gone', 'gone']);
    await clock.settle(services[1].boxesFor('a').make(wanted, NEVER));
    assert.deepEqual(await state(), ['waiting', 'waiting']);
    await clock.settle(services[0].boxesFor('b').fetch([id], NEVER));
    assert.deepEqual(await state(), ['waiting', 'waiting']);
    await clock.settle(ends.b.fetch([id], NEVER));
    assert.deepEqual(await state(), ['waiting', 'received']);
    await clock.settle(services[1].boxesFor('b').remove([id], NEVER));
    assert.deepEqual(await state(), ['waiting', 'gone']);
    services[1].isDown = true;
    await assert.rejects(clock.settle(ends.a.state(id, NEVER)), { message: 'two: out of service' });
  });

  for (const i of [0, 1] as const) {
    it(`say that a key is gone which only service ${i + 1} has made`, async () => {
      const wanted = order(1);
      await clock.settle(services[i].boxesFor('a').make(wanted, NEVER));
      const states = await clock.settle(ends.a.state(wanted.ids[0] ?? '', NEVER));
      assert.deepEqual(
        SITES.map((name) => states?.get(name)),
        ['gone', 'gone'],
      );
    });
  }

  it('refuse copies that do not belong together', async () => {
    const id = randomUUID();
    const copy = (service: string, thumbprints: readonly string[]): OpenedCopy => ({
      id,
      key: randomBytes(32),
      thumbprints,
      context: 'c',
      expiresAtMs: clock.nowMs() + 3_600_000,
      origins: [{ service, key_id: 'k', commitment: 'c' }],
    });
    services[0].plant('a', copy('one', ['a', 'b']));
    services[1].plant('a', copy('two', ['a', 'b', 'eve']));
    const [one] = await clock.settle(ends.a.fetch([id], NEVER));
    assert.ok(one?.kind === 'refused');
    assert.match(one.reason, /different recipients/);
  });
});
