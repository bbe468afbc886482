/**
 * Faults of a chain of agents and key services, one after another, of random kinds: processes that die, answers that are
 * lost, clocks that differ, and whoever may write to the service or to its database.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatRecipient, newRecipient } from '#sealing';
import type { Postgres } from '../ledgers/postgres.ts';
import { shiftUrl } from '../run/shift-clock.ts';
import { until } from '../run/until.ts';
import type { RecordingProxy } from '../servers/recording-proxy.ts';
import type { AgentBooks } from './agent-books.ts';
import type { AgentService } from './agent-service.ts';
import type { AgentSites } from './agent-sites.ts';

interface Given {
  readonly sites: AgentSites;
  readonly books: AgentBooks;
  readonly random: () => number;
  /** The server of a service's database, if a service has one that may be stopped. */
  readonly postgres: Postgres | null;
}

/** A copy in a box, as the database has it. */
interface Copy {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly keyId: string;
  readonly recipient: string;
  readonly text: string;
}

interface Reply {
  readonly status: number;
  readonly code: string | undefined;
}

const MINUTE_MS = 60_000;

/** A recipient that no agent serves. */
const STRANGER = 'eve';

/** Keys whose recipients the services do not refuse at once, and then go by themselves. */
const SHORT = '60s';

const IN_BOX = "state IN ('waiting', 'received')";

export class AgentFaults {
  /** Number of faults of each kind. */
  readonly counts = new Map<string, number>();
  readonly #given: Given;
  /** IDs of keys that no system may get. */
  readonly #foreign = new Set<string>();
  #deck: string[] = [];

  constructor(given: Given) {
    this.#given = given;
  }

  /** Each kind once in a round, and those that take no restart twice. */
  get #kinds(): ReadonlyMap<string, () => Promise<void>> {
    const { postgres } = this.#given;
    return new Map([
      ['agent killed', () => this.#restartAgent('SIGKILL')],
      ['agent stopped', () => this.#restartAgent('SIGTERM')],
      ['clock of an agent shifted', () => this.#shiftClock()],
      ['service killed', () => this.#killService()],
      ...(postgres === null
        ? []
        : [['PostgreSQL stopped', () => this.#stopDatabase(postgres)] as const]),
      ...this.#quickKinds,
    ]);
  }

  get #quickKinds(): readonly (readonly [string, () => Promise<void>])[] {
    const { both } = this.#given.sites;
    const toService = () => this.#service.proxies;
    const toSystems = () => both.map((site) => site.leg('plain'));
    return [
      ['answers of a service lost', () => this.#lose(toService(), 'loses')],
      ['requests to a service lost', () => this.#lose(toService(), 'losesRequest')],
      ['answers to a system lost', () => this.#lose(toSystems(), 'loses')],
      ['requests of a system lost', () => this.#lose(toSystems(), 'losesRequest')],
      ['delivery ID repeated', () => this.#repeatId()],
      ['box filled', () => this.#fillBox()],
      ['copies expired', () => this.#expire(0.3)],
      ['keys revoked', () => this.#revoke()],
      ['copies of two deliveries swapped', () => this.#swap('recipient')],
      ['copies of two recipients swapped', () => this.#swap('id')],
      ['keys by a foreign sender', () => this.#sendForeign()],
    ];
  }

  /** Registers the stranger. */
  async begin(): Promise<void> {
    const { sites } = this.#given;
    const file = join(sites.folder, `${STRANGER}.recipient`);
    writeFileSync(file, formatRecipient(await newRecipient()));
    await Promise.all(sites.services.map((service) => service.register(STRANGER, file)));
  }

  /** One fault, and some time with and without it. */
  async next(): Promise<void> {
    if (this.#deck.length === 0) this.#deck = this.#shuffled();
    const kind = this.#deck.pop() as string;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    await this.#kinds.get(kind)?.();
    await this.#pause(300);
    // What is recorded would fill the memory.
    for (const { proxies } of this.#given.sites.services) for (const one of proxies) one.forget();
    for (const site of this.#given.sites.both) site.leg('plain').forget();
  }

  /** Ends all faults. The copies that they have left expire. */
  async end(): Promise<void> {
    for (const site of this.#given.sites.both) {
      site.env = {};
      await site.end('SIGTERM');
    }
    for (const service of this.#given.sites.services) await this.#expire(1, service);
    await Promise.all(this.#given.sites.both.map((site) => site.start()));
    const got = [...this.#foreign].filter((id) => this.#given.books.has(id));
    assert.deepEqual(got, [], 'keys of a foreign sender');
  }

  #shuffled(): string[] {
    const quick = this.#quickKinds.map(([kind]) => kind);
    const kinds = [...this.#kinds.keys(), ...quick];
    return kinds
      .map((kind) => [this.#given.random(), kind] as const)
      .sort(([a], [b]) => a - b)
      .map(([, kind]) => kind);
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#given.random() * all.length)] as T;
  }

  get #service(): AgentService {
    return this.#pick(this.#given.sites.services);
  }

  #pause(mostMs: number): Promise<void> {
    return delay(this.#given.random() * mostMs);
  }

  async #restartAgent(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const site = this.#pick(this.#given.sites.both);
    await site.end(signal);
    await this.#pause(500);
    await site.start();
  }

  /** Two agents are a minute apart, or again at one time. */
  async #shiftClock(): Promise<void> {
    const site = this.#pick(this.#given.sites.both);
    const ms = this.#pick([MINUTE_MS, -MINUTE_MS]);
    for (const one of this.#given.sites.both) one.env = {};
    site.env = { NODE_OPTIONS: `--import=${shiftUrl(ms)}` };
    await site.end('SIGKILL');
    await site.start();
  }

  async #killService(): Promise<void> {
    const service = this.#service;
    await service.server.stop('SIGKILL');
    await this.#pause(800);
    await service.start();
  }

  async #stopDatabase(postgres: Postgres): Promise<void> {
    await postgres.stop(this.#pick(['QUIT', 'KILL']));
    await this.#pause(500);
    await postgres.restart();
  }

  /** Loses every second piece that goes one way, until some are lost. */
  async #lose(proxies: readonly RecordingProxy[], way: 'loses' | 'losesRequest'): Promise<void> {
    const proxy = this.#pick(proxies);
    const enough = proxy.lost + 1 + Math.floor(this.#given.random() * 3);
    proxy[way] = () => this.#given.random() < 0.5;
    await until('pieces are lost', () => proxy.lost >= enough);
    proxy[way] = () => false;
  }

  async #repeatId(): Promise<void> {
    const service = this.#service;
    const rows = await service.site.execute(
      `SELECT ${service.hexOf('delivery_id')} AS id FROM deliveries ORDER BY key_id DESC LIMIT 50`,
    );
    if (rows.length === 0) return;
    const id = uuidOf(String(this.#pick(rows).id));
    const { status, code = '' } = await this.#deliver(service, [id], ['paris', 'lyon'], null);
    const isRefused = status === 409 && ['delivery_exists', 'delivery_box_full'].includes(code);
    assert.ok(isRefused || status === 503, `${status} ${code}`);
  }

  async #fillBox(): Promise<void> {
    const service = this.#service;
    const { name } = this.#pick(this.#given.sites.both);
    const ids: string[] = [];
    for (const size of [50, 10, 1]) {
      for (let status = 200; status === 200; ) {
        const more = Array.from({ length: size }, () => randomUUID());
        ({ status } = await this.#deliver(service, more, [name], null));
        ids.push(...more);
      }
    }
    await this.#pause(1_000);
    for (let i = 0; i < ids.length; i += 100) {
      const body = { recipient: name, ids: ids.slice(i, i + 100) };
      await this.#post(service, '/api/v2/deliveries/remove', body);
    }
  }

  /** A share of all copies, as if their time were over. */
  async #expire(share: number, service: AgentService = this.#service): Promise<void> {
    const copies = await this.#copies(service);
    const chosen = copies.filter(() => this.#given.random() < share);
    if (chosen.length === 0) return;
    this.#spoil(chosen);
    const these = chosen.map((copy) => matching(service, copy)).join(' OR ');
    await service.site.execute(`UPDATE delivery_copies SET until_ms = 1 WHERE ${these}`);
  }

  async #revoke(): Promise<void> {
    const service = this.#service;
    const copies = await this.#copies(service);
    const chosen = Array.from({ length: Math.min(3, copies.length) }, () => this.#pick(copies));
    this.#spoil(chosen);
    for (const { keyId } of chosen) {
      const path = `/api/v2/keys/phm_${BigInt(`0x${keyId}`)}/revoke`;
      const { status } = await this.#post(service, path, { reason: 'key_compromise' });
      assert.ok(status === 200 || status === 503, `${status}`);
    }
  }

  /** Swaps the sealed keys of two copies that are alike in this. */
  async #swap(alike: 'recipient' | 'id'): Promise<void> {
    const service = this.#service;
    const copies = await this.#copies(service);
    if (copies.length === 0) return;
    const one = this.#pick(copies);
    const others = copies.filter((copy) => copy !== one && copy[alike] === one[alike]);
    if (others.length === 0) return;
    const other = this.#pick(others);
    this.#spoil([one, other]);
    const [isOne, isOther] = [one, other].map((copy) => matching(service, copy));
    await service.site.execute(
      `UPDATE delivery_copies SET sealed_key = CASE WHEN ${isOne} THEN '${other.text}' ELSE '${one.text}' END
       WHERE ${IN_BOX} AND (${isOne} OR ${isOther})`,
    );
  }

  /** Makes keys of a route that are sealed to others than its agents, or by one of two services alone. */
  async #sendForeign(): Promise<void> {
    const { services, ways } = this.#given.sites;
    const service = this.#service;
    const context = await service.newestContext();
    const sets = [
      ['paris', 'lyon', STRANGER],
      ['paris', STRANGER],
      ['lyon', STRANGER],
      ['paris'],
      ['lyon'],
      ...(services.length > 1 ? [['paris', 'lyon']] : []),
    ];
    const ids = Array.from({ length: 1 + Math.floor(this.#given.random() * 3) }, () =>
      randomUUID(),
    );
    for (const id of ids) this.#foreign.add(id);
    await this.#deliver(service, ids, this.#pick(sets), context);
    for (const [master, slave] of ways) {
      const body = { key_IDs: [{ key_ID: this.#pick(ids) }] };
      const read = await slave.call(master, 'dec_keys', body).catch(() => null);
      assert.ok(read?.status !== 200, 'a slave got a key of a foreign sender');
    }
  }

  #deliver(
    service: AgentService,
    ids: readonly string[],
    names: readonly string[],
    context: string | null,
  ): Promise<Reply> {
    return this.#post(service, '/api/v2/generate/sealed/batch', {
      security_level: 256,
      count: ids.length,
      seal_to: names.map((recipient) => ({ recipient })),
      deliver: { ids, for: SHORT, ...(context === null ? {} : { context }) },
    });
  }

  async #post(service: AgentService, path: string, body: object): Promise<Reply> {
    const answer = await service.server.post(path, body, service.site.apiKey);
    return { status: answer.status, code: answer.body?.code };
  }

  async #copies(service: AgentService): Promise<Copy[]> {
    const rows = await service.site.execute(
      `SELECT ${service.hexOf('delivery_id')} AS id, ${service.hexOf('key_id')} AS key_id, recipient, sealed_key
       FROM delivery_copies WHERE ${IN_BOX}`,
    );
    return rows.map((row) => ({
      id: String(row.id),
      keyId: String(row.key_id),
      recipient: String(row.recipient),
      text: String(row.sealed_key),
    }));
  }

  #spoil(copies: readonly Copy[]): void {
    for (const { id } of copies) this.#given.books.spoilt.add(uuidOf(id));
  }
}

/** Returns a condition in SQL that one copy meets. */
function matching({ site }: AgentService, { id, recipient }: Copy): string {
  const bytes = site.kind === 'sqlite' ? `x'${id}'` : `'\\x${id}'`;
  return `(recipient = '${recipient}' AND delivery_id = ${bytes})`;
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
