/**
 * Chooses the server that all connections of a ledger lead to, among the hosts of its address.
 *
 * With several hosts all are asked at once, and the first that fits is used; but of several servers that write, the one
 * with the highest timeline, because the others were replaced by its promotion. They are asked again every two seconds,
 * so a server that was replaced is left although it still answers. One thread of a process asks; the others follow the
 * timeline that it sees. All connections change together: none reads from one server what another has not recorded.
 */
import type pg from 'pg';
import {
  describeHost,
  type PostgresAddress,
  type PostgresHost,
} from '../../config/postgres-address.ts';
import type { LedgerIdentity } from '../identity.ts';
import { HostProbe } from './host-probe.ts';
import { requireSameBackend } from './pooler.ts';
import { type Lineage, SeenTimeline, type TimelineMemory } from './seen-timeline.ts';
import {
  type HostState,
  judgeSession,
  NoHostError,
  refuseRivals,
  type Session,
  UnfitServerError,
} from './session-check.ts';
import { admitLedger, readLedger } from './session-ledger.ts';
import { type Limits, type OpenedSession, Site } from './site.ts';

/** Time between two looks at all hosts. */
const WATCH_MS = 2_000;

/** Time after which a session is asked again which ledger it leads to: a schema can be renamed under it. */
const LEDGER_MS = 2_000;

/** Time between two comparisons with what another thread has seen. */
const FOLLOW_MS = 250;

const NOT_YET: HostState = { kind: 'silent', error: new Error('no answer yet') };

export interface HostOptions extends TimelineMemory {
  /** Called with the host that all connections lead to from here on, except the first. */
  readonly onMove?: (host: string) => void;
  /** Receives warnings for the operator. */
  readonly warn?: (message: string) => void;
  /** The ledger that the process works with. Without it, the first session decides. */
  readonly ledger?: LedgerIdentity;
}

export class Hosts {
  readonly #address: PostgresAddress;
  readonly #limits: Limits;
  /** In the order of the hosts; empty if there is nothing to choose. */
  readonly #probes: readonly HostProbe[];
  #site: Site | null = null;
  readonly #seen: SeenTimeline;
  #looks: Promise<readonly HostState[]> | null = null;
  readonly #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The host of the last site, also while there is none. */
  #lastHost: PostgresHost | null = null;
  readonly #options: HostOptions;
  #lookedMs = 0;
  /** As in `SeenTimeline`, at the last comparison. */
  #changes: bigint;
  #ledger: LedgerIdentity | null;
  /** When each session last told which ledger it leads to. */
  readonly #askedMs = new WeakMap<pg.ClientBase, number>();
  /** The process of the server that each session reached first. */
  readonly #backends = new WeakMap<pg.ClientBase, number>();

  /** Throws `SetupError` if the file of the newest timeline cannot be read. */
  constructor(address: PostgresAddress, limits: Limits, options: HostOptions = {}) {
    this.#address = address;
    this.#limits = limits;
    this.#options = options;
    this.#seen = new SeenTimeline(options);
    this.#ledger = options.ledger ?? null;
    this.#changes = this.#seen.changes;
    const isChoice = address.hosts.length > 1;
    this.#probes = isChoice ? address.hosts.map((host) => new HostProbe(address, host)) : [];
    if (isChoice) this.#timer = setInterval(() => this.#tick(), FOLLOW_MS).unref();
  }

  /** The host that all connections lead to; null while there is none. */
  get used(): string | null {
    return this.#site && describeHost(this.#site.host);
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

  /**
   * Asks a session which ledger it leads to, unless it has just told, and returns that; null if there is none yet. Rejects
   * with `ForeignLedgerError` if it is another one than before, and with `PoolerError` if the session was not kept.
   */
  async confirmLedger(client: pg.ClientBase, afterMs = LEDGER_MS): Promise<LedgerIdentity | null> {
    const nowMs = performance.now();
    if (nowMs - (this.#askedMs.get(client) ?? 0) < afterMs) return this.#ledger;
    const { ledger, backend } = await readLedger(client, this.#ledger);
    requireSameBackend(this.#backends.get(client), backend);
    this.#ledger = admitLedger(this.#ledger, ledger);
    this.#askedMs.set(client, nowMs);
    return this.#ledger;
  }

  /** Looks at all hosts, because one may have changed. */
  lookAgain(): void {
    if (this.#probes.length > 0) this.#choose(false).catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#seen.leave();
    for (const probe of this.#probes) probe.close();
    await this.#site?.close();
  }

  /** Looks at all hosts if this thread watches them, or if another one has left its server or seen a successor. */
  #tick(): void {
    this.#seen.keep();
    const isDue = performance.now() - this.#lookedMs >= WATCH_MS && this.#seen.watches();
    const newest = this.#seen.used?.timeline ?? 0;
    const isBehind = this.#site?.timeline != null && this.#site.timeline < newest;
    const { changes } = this.#seen;
    if (isDue || isBehind || changes !== this.#changes) this.lookAgain();
    this.#changes = changes;
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
      const isWatcher = !this.#isClosed && this.#seen.watches();
      if (!isWatcher) for (const probe of this.#probes) probe.close();
    });
    const states = refuseRivals(hosts, await this.#looks);
    if (this.#isClosed) return;
    const best = bestOf(states);
    if (best !== null) this.#note(best);
    if (!this.#mayStay(states, best, isNeeded)) {
      this.#replaceBy(best && (hosts[best.index] as PostgresHost), best?.timeline ?? null);
    }
    if (isNeeded && best === null) throw new NoHostError(hosts, states);
  }

  /**
   * Resolves with the states of all hosts. If one writes a higher timeline than the server in use, the others need not
   * answer: it is their successor.
   */
  #lookAtAll(): Promise<readonly HostState[]> {
    this.#lookedMs = performance.now();
    return new Promise((resolve) => {
      const mine = this.#site?.timeline ?? this.#seen.newest?.timeline ?? 0;
      const states: HostState[] = this.#probes.map(() => NOT_YET);
      let awaited = states.length;
      for (const [i, probe] of this.#probes.entries()) {
        probe.look(this.#seen).then((state) => {
          states[i] = state;
          awaited--;
          const isSuccessor = mine > 0 && state.kind === 'fits' && state.timeline > mine;
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
    if (this.#site !== null) this.#seen.announce();
    this.#site?.abandon();
    const admit = (site: Site, opened: OpenedSession) => this.#admit(site, opened);
    const schema = () => this.#ledger?.schema ?? null;
    const [address, limits] = [this.#address, this.#limits];
    this.#site = host && new Site({ address, host, limits, timeline, schema, admit });
    if (host === null) return;
    if (this.#lastHost !== null && this.#lastHost !== host) {
      this.#options.onMove?.(describeHost(host));
    }
    this.#lastHost = host;
  }

  /** Judges a new session of a site. A name may meanwhile lead to another server or to another ledger. */
  #admit(site: Site, { client, session, ledger, backend }: OpenedSession): void {
    this.#backends.set(client, backend);
    if (session !== null) this.#admitServer(site, session);
    this.#ledger = admitLedger(this.#ledger, ledger);
    this.#askedMs.set(client, performance.now());
  }

  #admitServer(site: Site, session: Session): void {
    const state = judgeSession(session, this.#address.target, this.#seen);
    if (state.kind !== 'fits') throw state.error;
    this.#note(state);
    site.timeline ??= state.timeline;
    if (state.timeline === site.timeline) return;
    if (site === this.#site) this.#replaceBy(site.host, state.timeline);
    throw new UnfitServerError('it was promoted since the other connections were opened');
  }

  #note(lineage: Lineage): void {
    if (lineage.timeline === 0) return;
    const error = this.#seen.note(lineage);
    if (error === null) return;
    this.#options.warn?.(
      `the newest timeline of the database cannot be kept, so a start of this server may use an old primary: ${error.message}`,
    );
  }
}

interface Best extends Lineage {
  /** Position of the host. */
  readonly index: number;
}

/** Returns the first host with the highest timeline among those that fit; null if none does. */
function bestOf(states: readonly HostState[]): Best | null {
  let best: Best | null = null;
  for (const [index, state] of states.entries()) {
    if (state.kind !== 'fits' || (best && state.timeline <= best.timeline)) continue;
    best = { index, timeline: state.timeline, cluster: state.cluster };
  }
  return best;
}

/** Returns true if all connections of a pool were in use for too long. Its server may work. */
function isBusy(cause: unknown): boolean {
  return (cause as Error).message.startsWith('timeout exceeded when trying to connect');
}

/**
 * Resolves with the host that a single connection should lead to. Rejects with `NoHostError` if none fits, and with
 * `SetupError` if the file of the newest timeline cannot be read.
 */
export async function chooseHost(
  address: PostgresAddress,
  memory: TimelineMemory,
): Promise<PostgresHost> {
  const { hosts } = address;
  if (hosts.length === 1) return hosts[0] as PostgresHost;
  const probes = hosts.map((host) => new HostProbe(address, host));
  const seen = new SeenTimeline(memory);
  const states = refuseRivals(hosts, await Promise.all(probes.map((probe) => probe.look(seen))));
  for (const probe of probes) probe.close();
  const best = bestOf(states);
  if (best === null) throw new NoHostError(hosts, states);
  return hosts[best.index] as PostgresHost;
}
