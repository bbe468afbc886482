/**
 * Chooses the server that all connections of a ledger lead to, among the hosts of its address.
 *
 * With several hosts all are asked at once, and the first that fits is used; but of several servers that write, the one
 * with the highest timeline, because the others were replaced by its promotion. They are asked again every two seconds,
 * so a server that was replaced is left although it still answers. All connections change together: none reads from
 * one server what another has not recorded.
 */
import {
  describeHost,
  type PostgresAddress,
  type PostgresHost,
} from '../../config/postgres-address.ts';
import { HostProbe } from './host-probe.ts';
import {
  type HostState,
  judgeSession,
  NoHostError,
  type Session,
  UnfitServerError,
} from './session-check.ts';
import { type Limits, Site } from './site.ts';

/** Time between two looks at all hosts. */
const WATCH_MS = 2_000;

const NOT_YET: HostState = { kind: 'silent', error: new Error('no answer yet') };

/** Called with the host that all connections lead to from here on, except the first. */
export type OnMove = (host: string) => void;

export class Hosts {
  readonly #address: PostgresAddress;
  readonly #limits: Limits;
  /** In the order of the hosts; empty if there is nothing to choose. */
  readonly #probes: readonly HostProbe[];
  #site: Site | null = null;
  /** The highest timeline seen so far. */
  #newest = 0;
  #looks: Promise<readonly HostState[]> | null = null;
  readonly #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The host of the last site, also while there is none. */
  #lastHost: PostgresHost | null = null;
  readonly #onMove: OnMove;

  constructor(address: PostgresAddress, limits: Limits, onMove: OnMove = () => {}) {
    this.#address = address;
    this.#limits = limits;
    this.#onMove = onMove;
    const isChoice = address.hosts.length > 1;
    this.#probes = isChoice ? address.hosts.map((host) => new HostProbe(address, host)) : [];
    if (isChoice) this.#timer = setInterval(() => this.lookAgain(), WATCH_MS).unref();
  }

  /** Resolves with the site in use. Rejects with `NoHostError` if no host fits. */
  async site(): Promise<Site> {
    if (this.#site === null && !this.#isClosed) await this.#choose(true);
    if (this.#site === null || this.#isClosed) throw new Error('the connection is closed');
    return this.#site;
  }

  /**
   * Resolves with the site to use after `failed` gave no connection: another one, or the same if its server still
   * answers. Rejects with `cause` if there is no choice.
   */
  async after(failed: Site, cause: unknown): Promise<Site> {
    if (this.#site === failed) {
      if (this.#probes.length === 0 || isBusy(cause)) throw cause;
      await this.#choose(true);
    }
    return this.site();
  }

  /** Looks at all hosts, because one may have changed. */
  lookAgain(): void {
    if (this.#probes.length > 0) this.#choose(false).catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const probe of this.#probes) probe.close();
    await this.#site?.close();
  }

  /** `isNeeded`: a request waits for a connection. Then rejects if no host fits. */
  async #choose(isNeeded: boolean): Promise<void> {
    const { hosts } = this.#address;
    if (this.#probes.length === 0) {
      this.#replaceBy(hosts[0] as PostgresHost, null);
      return;
    }
    this.#looks ??= this.#lookAtAll().finally(() => {
      this.#looks = null;
    });
    const states = await this.#looks;
    if (this.#isClosed) return;
    const best = bestOf(states);
    if (best !== null) this.#newest = Math.max(this.#newest, best.timeline);
    if (!this.#mayStay(states, best, isNeeded)) {
      this.#replaceBy(best && (hosts[best.index] as PostgresHost), best?.timeline ?? null);
    }
    if (isNeeded && best === null) throw new NoHostError(hosts, states);
  }

  /**
   * Resolves with the states of all hosts. If one writes a higher timeline than was ever seen, the others need not
   * answer: it is their successor.
   */
  #lookAtAll(): Promise<readonly HostState[]> {
    return new Promise((resolve) => {
      const newest = this.#newest;
      const states: HostState[] = this.#probes.map(() => NOT_YET);
      let awaited = states.length;
      for (const [i, probe] of this.#probes.entries()) {
        probe.look(newest).then((state) => {
          states[i] = state;
          awaited--;
          const isSuccessor = newest > 0 && state.kind === 'fits' && state.timeline > newest;
          if (awaited === 0 || isSuccessor) resolve([...states]);
        });
      }
    });
  }

  #mayStay(states: readonly HostState[], best: Best | null, isNeeded: boolean): boolean {
    const site = this.#site;
    const mine = site && states[this.#address.hosts.indexOf(site.host)];
    if (!site || !mine) return false;
    if (mine.kind === 'fits') return site.timeline === best?.timeline;
    if (mine.kind === 'unfit') return false;
    // A server that is silent may be busy. It is left if another is its successor, or if it gives no connection.
    return best === null || (!isNeeded && best.timeline <= (site.timeline ?? 0));
  }

  #replaceBy(host: PostgresHost | null, timeline: number | null): void {
    this.#site?.abandon();
    const admit = (site: Site, session: Session) => this.#admit(site, session);
    const [address, limits] = [this.#address, this.#limits];
    this.#site = host && new Site({ address, host, limits, timeline, admit });
    if (host === null) return;
    if (this.#lastHost !== null && this.#lastHost !== host) this.#onMove(describeHost(host));
    this.#lastHost = host;
  }

  /** Judges a new session of a site. A name may meanwhile lead to another server. */
  #admit(site: Site, session: Session): void {
    const state = judgeSession(session, this.#address.target, this.#newest);
    if (state.kind !== 'fits') throw state.error;
    this.#newest = Math.max(this.#newest, state.timeline);
    site.timeline ??= state.timeline;
    if (state.timeline === site.timeline) return;
    if (site === this.#site) this.#replaceBy(site.host, state.timeline);
    throw new UnfitServerError('it was promoted since the other connections were opened');
  }
}

interface Best {
  /** Position of the host. */
  readonly index: number;
  readonly timeline: number;
}

/** Returns the first host with the highest timeline among those that fit; null if none does. */
function bestOf(states: readonly HostState[]): Best | null {
  let best: Best | null = null;
  for (const [index, state] of states.entries()) {
    if (state.kind !== 'fits' || (best && state.timeline <= best.timeline)) continue;
    best = { index, timeline: state.timeline };
  }
  return best;
}

/** Returns true if all connections of a pool were in use for too long. Its server may work. */
function isBusy(cause: unknown): boolean {
  return (cause as Error).message.startsWith('timeout exceeded when trying to connect');
}

/** Resolves with the host that a single connection should lead to. Rejects with `NoHostError` if none fits. */
export async function chooseHost(address: PostgresAddress): Promise<PostgresHost> {
  const { hosts } = address;
  if (hosts.length === 1) return hosts[0] as PostgresHost;
  const probes = hosts.map((host) => new HostProbe(address, host));
  const states = await Promise.all(probes.map((probe) => probe.look(0)));
  for (const probe of probes) probe.close();
  const best = bestOf(states);
  if (best === null) throw new NoHostError(hosts, states);
  return hosts[best.index] as PostgresHost;
}
