/**
 * Two agents on a key service, and everything that an observer could see of the chain: recorded traffic on every leg, logs,
 * traces, metrics, files, databases, the output of commands, state folders, and the memory of the service.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatRecipient, newRecipient } from '#sealing';
import type { LogSite } from '../ledgers/log-site.ts';
import { filesBelow, storedFiles, storedValues } from '../ledgers/stored.ts';
import { until } from '../run/until.ts';
import { Collector } from '../servers/collector.ts';
import { LeakSearch } from '../servers/leak-search.ts';
import { noMemory, readMemory } from '../servers/process-memory.ts';
import { type Place, place } from '../servers/watched-site.ts';
import { type AgentSite, idsOf } from './agent-site.ts';
import { AgentSites } from './agent-sites.ts';

/** Keys of one request. */
const MOST = 40;

/** One answer of 200 in so many is lost on its way to an agent, which repeats the call. */
const LOST_SHARE = 20;

const SKIP_KEYS = 5;

export class WatchedAgents {
  /** Finds the keys that systems got. */
  readonly search: LeakSearch = new LeakSearch();
  /** A UUID that the chain carries to every place where text from outside may be. */
  readonly canary: string = randomUUID();
  readonly #sites: AgentSites;
  readonly #collector: Collector;
  #outputs = '';

  private constructor(sites: AgentSites, collector: Collector) {
    this.#sites = sites;
    this.#collector = collector;
  }

  /** Starts a service that logs, traces and counts as much as it can, and the agents. */
  static async start(store: LogSite): Promise<WatchedAgents> {
    const watched = new WatchedAgents(new AgentSites([store]), await Collector.start());
    const sites = watched.#sites;
    for (const site of sites.both) site.pools = { least: MOST };
    await sites.start({
      PHM_LOG_LEVEL: 'trace',
      PHM_METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: watched.#collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_SERVICE_NAME: watched.canary,
    });
    return watched;
  }

  get #store(): LogSite {
    return this.#sites.service.site;
  }

  /** Number of answers that were lost. */
  get lost(): number {
    return this.#sites.service.proxies.reduce((sum, proxy) => sum + proxy.lost, 0);
  }

  /** Exchanges keys in both directions, by ETSI GS QKD 014 and some by SKIP, with mutual TLS. */
  async exchange(keys: number): Promise<void> {
    let answers = 0;
    for (const proxy of this.#sites.service.proxies) {
      proxy.loses = (chunk) => chunk.includes('HTTP/1.1 200 OK') && ++answers % LOST_SHARE === 0;
    }
    await Promise.all(
      this.#sites.ways.map(([master, slave]) => this.#exchangeOneWay(master, slave, keys / 2)),
    );
    for (const proxy of this.#sites.service.proxies) proxy.loses = () => false;
  }

  async #exchangeOneWay(master: AgentSite, slave: AgentSite, keys: number): Promise<void> {
    for (let left = keys - SKIP_KEYS; left > 0; ) {
      // Keys of other sizes than the pool's are made to order.
      const size = [256, 256, 128, 384][Math.floor(left / MOST) % 4];
      const number = Math.min(MOST, left);
      const taken = await master.keys(slave, 'enc_keys', { number, size }, 'tls');
      const read = await slave.keys(master, 'dec_keys', idsOf(taken), 'tls');
      assert.deepEqual(read, taken);
      for (const { key_ID, key } of taken) this.search.add(key_ID, Buffer.from(key, 'base64'));
      left -= taken.length;
    }
    await master.filled(slave, SKIP_KEYS);
    for (let i = 0; i < SKIP_KEYS; i += 1) {
      const taken = await master.skipKey(slave);
      assert.deepEqual(await slave.skipKey(master, taken.keyId), taken);
      this.search.add(taken.keyId, Buffer.from(taken.key, 'hex'));
    }
  }

  /** Reads what the service tells, and plants the canary in the service and in both agents. */
  async lookAround(): Promise<void> {
    const { service, both } = this.#sites;
    const [proxy] = service.proxies;
    const headers = { 'X-API-Key': this.#store.apiKey, 'X-Request-Id': this.canary };
    for (const path of ['metrics', 'keys?limit=100', `deliveries/${randomUUID()}`]) {
      await (await fetch(`${proxy?.address}/api/v2/${path}`, { headers })).text();
    }
    await this.#store.run('account', 'create', '--name', this.canary, '--plan', 'research');
    for (const command of [
      ['account', 'list'],
      ['ledger', 'verify'],
      ['log', 'check'],
    ]) {
      this.#outputs += await this.#store.run(...command);
    }
    await this.#handOutCanary();
    await this.#refuseCanary();
    await until('all have logged it', () => both.every(({ log }) => log.includes(this.canary)));
  }

  /** A copy with a further recipient, whose ID is the canary: agents log it. */
  async #refuseCanary(): Promise<void> {
    const file = join(this.#sites.folder, 'eve.recipient');
    writeFileSync(file, formatRecipient(await newRecipient()));
    await this.#sites.service.register('eve', file);
    await this.#deliver(['paris', 'lyon', 'eve'], { id: this.canary });
  }

  /** A key of the route whose ID has the bytes of the canary, too: agents write it into their journals. It ends first, so it goes first. */
  async #handOutCanary(): Promise<void> {
    const context = await this.#sites.service.newestContext();
    const id = `${this.canary.slice(0, -1)}${this.canary.endsWith('0') ? '1' : '0'}`;
    await this.#deliver(['paris', 'lyon'], { id, context, for: '20m' });
    await until('it is handed out', async () => {
      for (const [master, slave] of this.#sites.ways) {
        const taken = await master.keys(slave, 'enc_keys', {}, 'tls');
        await slave.keys(master, 'dec_keys', idsOf(taken), 'tls');
        for (const { key_ID, key } of taken) this.search.add(key_ID, Buffer.from(key, 'base64'));
        if (taken.some(({ key_ID }) => key_ID === id)) return true;
      }
      return false;
    });
  }

  async #deliver(names: readonly string[], deliver: object): Promise<void> {
    const { service } = this.#sites;
    const seal_to = names.map((recipient) => ({ recipient }));
    const body = { security_level: 256, seal_to, deliver };
    const { apiKey } = this.#store;
    const { status, body: answer } = await service.server.post(
      '/api/v2/generate/sealed',
      body,
      apiKey,
    );
    assert.equal(status, 200, JSON.stringify(answer));
  }

  /**
   * Kills the server, so that nothing tidies up behind it, and returns every place to search: with the memory, which takes longest, if
   * `hasMemory`.
   */
  async places(hasMemory: boolean): Promise<Place[]> {
    const { service, both } = this.#sites;
    const { server } = service;
    const metrics = await server.scrape();
    const pages = await Promise.all(both.map((site) => site.metrics()));
    const memory =
      noMemory || !hasMemory ? [] : [place('memory of the service', readMemory(server.pid))];
    await server.stop('SIGKILL');
    await Promise.all(both.map((site) => site.end('SIGTERM')));
    // First, because whoever opens SQLite's database empties its write-ahead log.
    const files = await storedFiles(this.#store);
    return [
      ...both.flatMap((site) => this.#placesOf(site)),
      place('log of the service', server.log),
      place('traces', this.#collector.bodies.join('\n')),
      place('output of commands', this.#outputs),
      place('metrics', [metrics, ...pages].join('\n'), false),
      place('files of the service', files),
      place('values in the database', await storedValues(this.#store)),
      ...memory,
    ];
  }

  #placesOf(site: AgentSite): Place[] {
    const { name } = site;
    const proxy = this.#sites.service.proxyOf(name);
    const byTls = ['tls', 'skip'] as const;
    const legs = byTls.map((leg) => site.leg(leg));
    return [
      place(`requests of ${name}`, proxy.sent),
      place(`answers to ${name}`, proxy.received),
      place(`state of ${name}`, Buffer.concat(filesBelow(join(site.folder, 'state')))),
      place(`log of ${name}`, site.log),
      // Whoever sees the canary there sees through TLS.
      place(
        `traffic of the system of ${name}`,
        Buffer.concat(legs.flatMap(({ sent, received }) => [sent, received])),
        false,
      ),
    ];
  }

  async remove(): Promise<void> {
    await this.#sites.stop();
    await this.#collector.close();
  }
}
