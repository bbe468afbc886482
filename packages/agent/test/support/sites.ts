/** Two sites with an agent each, on one simulated service. */
import type { Clock } from '../../src/clock.ts';
import type { KeyEvents } from '../../src/keys/events.ts';
import { Keeper } from '../../src/keys/keeper.ts';
import type { PoolOptions } from '../../src/keys/maker.ts';
import { type Agent, type Route, routeOf, type System } from '../../src/keys/route.ts';
import type { KeyBoxes } from '../../src/source/key-boxes.ts';
import { Journal } from '../../src/store/journal.ts';
import type { SimulatedDisk } from './simulated-disk.ts';

const agentOf = (name: string): Agent => ({
  name,
  recipient: name,
  thumbprint: `thumbprint of ${name}`,
});

const system = (name: string, agent: Agent): System => ({ name, agent });

export const SITE_A: Agent = agentOf('site-a');
export const SITE_B: Agent = agentOf('site-b');
const [A1, A2] = [system('a1', SITE_A), system('a2', SITE_A)];
const [B1, B2] = [system('b1', SITE_B), system('b2', SITE_B)];

const ORIGINS = ['keys.example/log'];

/** Both directions between a1 and b1, a pair within a site, a system with itself, and a group. */
export const ROUTES: readonly Route[] = [
  routeOf(A1, [B1], ORIGINS),
  routeOf(B1, [A1], ORIGINS),
  routeOf(A1, [A2], ORIGINS),
  routeOf(A1, [A1], ORIGINS),
  routeOf(A1, [B1, B2], ORIGINS),
];

export const POOLS: PoolOptions = {
  size: 256,
  seconds: 60,
  least: 4,
  most: 40,
  lifeMs: 3_600_000,
};

export const SILENT: KeyEvents = {
  handedOut: () => {},
  made: () => {},
  sourceFailed: () => {},
  sourceServed: () => {},
  copyRefused: () => {},
  journalFailed: () => {},
};

/** A service, or two as one. */
interface Service {
  boxesFor(thumbprint: string): KeyBoxes;
}

/** An agent with its disk, which can die and start again. */
export class Site {
  readonly agent: Agent;
  readonly disk: SimulatedDisk;
  readonly #service: Service;
  readonly #clock: Clock;
  readonly #events: KeyEvents;
  #life: Life | null = null;

  constructor(
    agent: Agent,
    parts: {
      readonly service: Service;
      readonly clock: Clock;
      readonly disk: SimulatedDisk;
      readonly events?: KeyEvents;
    },
  ) {
    this.agent = agent;
    this.disk = parts.disk;
    this.#service = parts.service;
    this.#clock = parts.clock;
    this.#events = parts.events ?? SILENT;
  }

  get life(): Life | null {
    return this.#life;
  }

  async start(): Promise<Life> {
    const life = new Life(await Journal.open(this.disk), this);
    this.#life = life;
    life.run(this.#service.boxesFor(this.agent.thumbprint), this.#clock, this.#events);
    return life;
  }

  /** Ends the process in the middle of everything. */
  crash(): void {
    this.#life?.end();
    this.#life = null;
    this.disk.crash();
  }
}

/** What a process does from its start to its end. Nothing that it begins has an effect after its end. */
export class Life {
  readonly #journal: Journal;
  readonly #agent: Agent;
  readonly #end = new AbortController();
  #keeper: Keeper | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(journal: Journal, { agent }: Site) {
    this.#journal = journal;
    this.#agent = agent;
  }

  get isAlive(): boolean {
    return !this.#end.signal.aborted;
  }

  get keeper(): Keeper {
    if (this.#keeper === undefined) throw new Error('this life has not begun');
    return this.#keeper;
  }

  run(boxes: KeyBoxes, clock: Clock, events: KeyEvents): void {
    this.#keeper = new Keeper({
      own: this.#agent.thumbprint,
      routes: ROUTES.filter(({ parties }) => parties.includes(this.#agent)),
      pools: POOLS,
      boxes: this.#whileAlive(boxes),
      journal: this.#journal,
      clock,
      events,
    });
    this.#done = this.#keeper.run(this.#end.signal);
  }

  end(): void {
    this.#end.abort();
  }

  /** Ends as on SIGTERM. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  #whileAlive(boxes: KeyBoxes): KeyBoxes {
    const guard = <T>(call: () => Promise<T>): Promise<T> =>
      this.isAlive ? call() : Promise.reject(new Error('this process is dead'));
    return {
      make: (order, signal) => guard(() => boxes.make(order, signal)),
      list: (after, signal) => guard(() => boxes.list(after, signal)),
      fetch: (ids, signal) => guard(() => boxes.fetch(ids, signal)),
      remove: (ids, signal) => guard(() => boxes.remove(ids, signal)),
      state: (id, signal) => guard(() => boxes.state(id, signal)),
    };
  }
}
