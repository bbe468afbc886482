/** Two ends of a link in memory: clocks that differ, disks that fail, and a tunnel that works if both have the same key. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import type { PskEvents } from '../../src/psk/events.ts';
import { Link } from '../../src/psk/link.ts';
import { PskRecord } from '../../src/psk/record.ts';
import { Rotation } from '../../src/psk/rotation.ts';
import { InstallError, type Installer } from '../../src/psk/switcher.ts';
import { type KeyBoxes, type Party, SourceError } from '../../src/source/key-boxes.ts';
import type { JournalFile } from '../../src/store/journal.ts';
import { SimulatedDisk } from './simulated-disk.ts';

export type EndName = 'a' | 'b';

export const END_NAMES = ['a', 'b'] as const;

/** The thumbprint of `a` is the lower one: it leads. */
const PARTIES: Readonly<Record<EndName, Party>> = {
  a: { recipient: 'site-a', thumbprint: 'thumbprint of a' },
  b: { recipient: 'site-b', thumbprint: 'thumbprint of b' },
};

export const partyOf = (name: EndName): Party => PARTIES[name];

/** A clock that is wrong. */
class WrongClock implements Clock {
  byMs: number;
  readonly #clock: Clock;

  constructor(clock: Clock, byMs: number) {
    this.#clock = clock;
    this.byMs = byMs;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.byMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

export interface EndOptions {
  readonly name: EndName;
  readonly intervalMs: number;
  readonly clock: Clock;
  /** How much the clock of this end is ahead. */
  readonly aheadMs: number;
  readonly random: () => number;
  readonly hasConfirm: boolean;
  readonly boxes: (thumbprint: string) => KeyBoxes;
  readonly origins: readonly string[];
  /** Sees each key that the system takes, before it does. */
  readonly onInstall?: (end: End, id: string) => void;
  readonly onConfirm?: (end: End, epoch: number, id: string) => void;
}

/** An end with its disk and its system, which can die and start again. The system keeps its key meanwhile. */
export class End {
  readonly name: EndName;
  readonly disk: SimulatedDisk;
  /** Digest of the key that the system has. */
  installed: string | null = null;
  installedId: string | null = null;
  other: End | null = null;
  /** How often the system does not take a key, takes it and says that it did not, or says that it does not work. */
  readonly faults: Record<'install' | 'deceive' | 'confirm', number> = {
    install: 0,
    deceive: 0,
    confirm: 0,
  };
  readonly log: string[] = [];
  readonly #given: EndOptions;
  readonly #clock: WrongClock;
  #life: { readonly end: AbortController; readonly rotation: Rotation } | null = null;
  #done: Promise<void> = Promise.resolve();

  constructor(given: EndOptions) {
    this.name = given.name;
    this.disk = new SimulatedDisk(given.clock, given.random);
    this.#given = given;
    this.#clock = new WrongClock(given.clock, given.aheadMs);
  }

  get rotation(): Rotation | null {
    return this.#life?.rotation ?? null;
  }

  /** Sets the clock of this end. */
  setClock(byMs: number): void {
    this.#clock.byMs += byMs;
  }

  async start(): Promise<void> {
    if (this.#life !== null) return;
    const { intervalMs, origins, hasConfirm } = this.#given;
    const link = new Link({
      own: partyOf(this.name),
      peer: partyOf(this.name === 'a' ? 'b' : 'a'),
      origins,
      intervalMs,
    });
    const end = new AbortController();
    const record = await PskRecord.open(this.#diskOf(end.signal), link.id);
    const rotation = new Rotation({
      link,
      intervalMs,
      boxes: this.#whileAlive(end.signal),
      record,
      installer: this.#installer(end.signal),
      confirm: hasConfirm ? async (signal) => this.#confirm(signal) : null,
      clock: this.#clock,
      events: this.#events(end.signal),
    });
    this.#life = { end, rotation };
    this.#done = rotation.run(end.signal);
  }

  /** Ends the process in the middle of everything. */
  crash(): void {
    this.#life?.end.abort();
    this.#life = null;
    this.disk.crash();
  }

  /** Ends as on SIGTERM. */
  async stop(): Promise<void> {
    this.#life?.end.abort();
    this.#life = null;
    await this.#done;
  }

  /** A dead process writes nothing. */
  #diskOf(life: AbortSignal): JournalFile {
    const guard = (write: () => Promise<void>): Promise<void> =>
      life.aborted ? Promise.reject(new Error('this process is dead')) : write();
    return {
      read: () => this.disk.read(),
      append: (text) => guard(() => this.disk.append(text)),
      replace: (text) => guard(() => this.disk.replace(text)),
    };
  }

  #happens(fault: keyof End['faults']): boolean {
    return this.#given.random() < this.faults[fault];
  }

  #installer(life: AbortSignal): Installer {
    return {
      install: async (key, id) => {
        await this.#given.clock.sleep(this.#given.random() * 2_000, life);
        if (life.aborted) return;
        const isFailure = this.#happens('install');
        if (!isFailure) this.#take(key, id);
        if (isFailure || this.#happens('deceive')) {
          throw new InstallError('the command failed: it exited with code 1');
        }
      },
    };
  }

  #take(key: Uint8Array, id: string): void {
    this.#given.onInstall?.(this, id);
    this.installed = createHash('sha256').update(key).digest('hex');
    this.installedId = id;
  }

  /** As a ping through the tunnel. */
  async #confirm(signal: AbortSignal): Promise<boolean> {
    await this.#given.clock.sleep(this.#given.random() * 1_000, signal);
    return !this.#happens('confirm') && this.installed === this.other?.installed;
  }

  #events(life: AbortSignal): PskEvents {
    const say = (text: string): void => {
      if (!life.aborted) this.log.push(text);
    };
    return {
      agreed: (epoch, id) => say(`agreed ${epoch} ${id}`),
      installed: (epoch, id) => say(`installed ${epoch} ${id}`),
      installFailed: (epoch) => say(`install failed ${epoch}`),
      confirmed: (epoch, id) => {
        say(`confirmed ${epoch} ${id}`);
        if (!life.aborted) this.#given.onConfirm?.(this, epoch, id);
      },
      takenBack: (epoch, hasOld) => say(`taken back ${epoch}${hasOld ? '' : ', no old key'}`),
      stayed: (epoch) => say(`stayed ${epoch}`),
      copyRefused: (id, reason) => say(`refused ${id}: ${reason}`),
      journalFailed: () => say('journal failed'),
      sourceFailed: () => {},
      sourceServed: () => {},
    };
  }

  #whileAlive(life: AbortSignal): KeyBoxes {
    const boxes = this.#given.boxes(partyOf(this.name).thumbprint);
    const guard = <T>(call: () => Promise<T>): Promise<T> =>
      life.aborted ? Promise.reject(new SourceError('this process is dead')) : call();
    return {
      make: (order, signal) => guard(() => boxes.make(order, signal)),
      list: (after, signal) => guard(() => boxes.list(after, signal)),
      fetch: (ids, signal) => guard(() => boxes.fetch(ids, signal)),
      remove: (ids, signal) => guard(() => boxes.remove(ids, signal)),
      state: (id, signal) => guard(() => boxes.state(id, signal)),
    };
  }
}
