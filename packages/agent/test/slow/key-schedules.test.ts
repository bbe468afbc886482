/**
 * Random schedules of two agents: requests, crashes, outages, lost answers, late receipts, full disks, and copies that come
 * back. Whatever happens, no system gets a key twice, both ends get the same key, and once all is well everything works.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LEAST_LIFE_MS, Refusal } from '../../src/keys/keeper.ts';
import type { HandedKey } from '../../src/keys/stock.ts';
import { disturb, disturbance } from '../support/disturbance.ts';
import { generatorOf } from '../support/generator.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { SimulatedDisk } from '../support/simulated-disk.ts';
import { type Life, SITE_A, SITE_B, Site } from '../support/sites.ts';
import { TwoMemoryServices } from '../support/two-memory-services.ts';

/** What masters and slaves may ask for, by the place of each. */
const MASTERS = [
  { site: 'a', master: 'a1', slaves: ['b1'] },
  { site: 'b', master: 'b1', slaves: ['a1'] },
  { site: 'a', master: 'a1', slaves: ['a2'] },
  { site: 'a', master: 'a1', slaves: ['a1'] },
  { site: 'a', master: 'a1', slaves: ['b1', 'b2'] },
] as const;

const SLAVES = [
  { site: 'a', name: 'a1' },
  { site: 'a', name: 'a2' },
  { site: 'b', name: 'b1' },
  { site: 'b', name: 'b2' },
] as const;

type SiteName = 'a' | 'b';

const site = fc.constantFrom<SiteName>('a', 'b');

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      way: fc.nat(MASTERS.length - 1),
      count: fc.integer({ min: 1, max: 6 }),
      size: fc.constantFrom(256 as const, 256 as const, 384 as const),
    }),
  },
  {
    weight: 8,
    // One of the keys that masters got, or of those that slaves got: mostly the right slave, sometimes another.
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      pick: fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(50) }),
      slave: fc.option(fc.nat(SLAVES.length - 1), { freq: 3 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(4_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constant(600_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), site }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), site }) },
  { weight: 2, arbitrary: disturbance },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('disk' as const), site, isFull: fc.boolean() }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly id: string;
  readonly master: string;
  readonly slaves: readonly string[];
}

class Run {
  readonly clock = new SimulatedClock();
  readonly #services: readonly MemoryService[];
  readonly sites: Record<SiteName, Site>;
  /** Keys that masters got, in their order. */
  readonly known: Known[] = [];
  readonly #keys = new Map<string, string>();
  readonly #readings = new Set<string>();
  readonly problems: string[] = [];

  constructor(seed: number, services: 1 | 2) {
    const random = generatorOf(seed);
    const two = new TwoMemoryServices(this.clock, random);
    this.#services = services === 1 ? two.both.slice(0, 1) : two.both;
    const service = services === 1 ? two.both[0] : two;
    const made = (agent: typeof SITE_A): Site =>
      new Site(agent, {
        service,
        clock: this.clock,
        disk: new SimulatedDisk(this.clock, random),
      });
    this.sites = { a: made(SITE_A), b: made(SITE_B) };
    for (const { disk } of Object.values(this.sites)) disk.slowMs = 30;
  }

  async do(one: Step): Promise<void> {
    if (one.do === 'take') this.take(MASTERS[one.way] ?? MASTERS[0], one.count, one.size);
    else if (one.do === 'read') this.#readSome(one.pick, one.slave);
    else if (one.do === 'pass') await this.clock.advance(one.ms);
    else if (one.do === 'crash') this.sites[one.site].crash();
    else if (one.do === 'start') await this.start(one.site);
    else if (one.do === 'disk') this.sites[one.site].disk.isFull = one.isFull;
    else disturb(this.#services, one);
  }

  async start(name: SiteName): Promise<void> {
    if (this.sites[name].life === null) await this.sites[name].start();
  }

  take(way: (typeof MASTERS)[number], count: number, size: 256 | 384): Promise<HandedKey[]> {
    const { master, slaves } = way;
    const life = this.sites[way.site].life;
    return this.#answer(life, `master ${master}`, (keeper) =>
      keeper.take(master, slaves, count, size),
    ).then((keys) => {
      const nowMs = this.clock.nowMs();
      for (const { id, expiresAtMs } of keys) {
        this.known.push({ id, master, slaves });
        // The journal takes some milliseconds.
        if (expiresAtMs - nowMs < LEAST_LIFE_MS - 1_000) this.problems.push(`${id} was too old`);
      }
      return keys;
    });
  }

  #readSome(pick: number, slave: number | null): void {
    const known = this.known[this.known.length - 1 - (pick % Math.max(1, this.known.length))];
    if (known === undefined) return;
    const right = SLAVES.find(({ name }) => known.slaves.some((one) => one === name));
    const asking = (slave === null ? right : SLAVES[slave]) ?? SLAVES[0];
    this.read(asking, known).then((keys) => {
      if (keys.length > 0 && !known.slaves.includes(asking.name)) {
        this.problems.push(`${asking.name} got a key of ${known.slaves}`);
      }
    });
  }

  read(slave: (typeof SLAVES)[number], { id, master }: Known): Promise<HandedKey[]> {
    const { life } = this.sites[slave.site];
    return this.#answer(life, `slave ${slave.name}`, (keeper) =>
      keeper.read(slave.name, master, [id]),
    );
  }

  /** Takes note of an answer that arrives: those of dead processes do not. */
  async #answer(
    life: Life | null,
    reader: string,
    ask: (keeper: Life['keeper']) => Promise<HandedKey[]>,
  ): Promise<HandedKey[]> {
    if (life === null) return [];
    try {
      const keys = await ask(life.keeper);
      if (!life.isAlive) return [];
      for (const key of keys) this.#note(reader, key);
      return keys;
    } catch (error) {
      if (!(error instanceof Refusal)) this.problems.push(`${error}`);
      return [];
    }
  }

  #note(reader: string, { id, key }: HandedKey): void {
    const reading = `${id} to ${reader}`;
    if (this.#readings.has(reading)) this.problems.push(`twice: ${reading}`);
    this.#readings.add(reading);
    const text = Buffer.from(key).toString('hex');
    if ((this.#keys.get(id) ?? text) !== text) this.problems.push(`two keys under ${id}`);
    if (/^0+$/.test(text)) this.problems.push(`${id} was wiped before its answer`);
    this.#keys.set(id, text);
    // As the interface does after the answer.
    key.fill(0);
  }

  /** Ends all faults, and shows that every way works and that boxes and journals get empty. */
  async recover(): Promise<void> {
    for (const service of this.#services) service.heal();
    for (const name of ['a', 'b'] as const) {
      this.sites[name].disk.isFull = false;
      await this.start(name);
    }
    await this.clock.advance(120_000);
    for (const way of MASTERS) {
      // More than pools hold, so that old keys are among them.
      const taken = await this.clock.settle(this.take(way, 6, 256));
      assert.equal(taken.length, 6, `no keys for ${way.master} and ${way.slaves}`);
      for (const slave of SLAVES.filter(({ name }) => way.slaves.some((one) => one === name))) {
        for (const { id } of taken) {
          const read = await this.clock.settle(this.read(slave, { ...way, id }));
          assert.equal(read.length, 1, `no key for ${slave.name}`);
        }
      }
    }
    await this.clock.advance(10_000);
    for (const { life } of Object.values(this.sites)) {
      assert.deepEqual([life?.keeper.counts.toFetch, life?.keeper.counts.toRemove], [0, 0]);
    }
  }

  async stop(): Promise<void> {
    for (const { life } of Object.values(this.sites)) await life?.stop();
  }
}

const RUNS = Number(process.env.PHM_AGENT_RUNS ?? 40);

async function follow(services: 1 | 2, seed: number, steps: readonly Step[]): Promise<void> {
  const run = new Run(seed, services);
  await run.start('a');
  await run.start('b');
  for (const one of steps) await run.do(one);
  await run.recover();
  await run.stop();
  assert.deepEqual(run.problems, []);
}

describe('two agents under random schedules', () => {
  const steps = fc.array(step, { minLength: 5, maxLength: 60 });
  for (const services of [1, 2] as const) {
    it(`give no key twice, give equal keys to both ends, and recover, on ${services === 1 ? 'one service' : 'two services'}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer(), steps, (seed, list) => follow(services, seed, list)),
        { numRuns: services === 1 ? RUNS : Math.ceil(RUNS / 2), interruptAfterTimeLimit: 100_000 },
      );
    });
  }
});
