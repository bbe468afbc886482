/**
 * A site that makes sealed keys, and everything that an observer could see of it: recorded traffic, logs, traces,
 * metrics, files, database, the output of commands, and the server's memory.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  type AnsweredKey,
  type Call,
  IdempotentClients,
  keysOf,
  sendOnce,
} from '../clients/idempotent-calls.ts';
import type { LogSite } from '../ledgers/log-site.ts';
import { fetchReceipt } from '../ledgers/log-watch.ts';
import { storedFiles, storedValues } from '../ledgers/stored.ts';
import { openByThePage } from '../texts/sealed-key-by-the-page.ts';
import { Collector } from './collector.ts';
import { LeakSearch } from './leak-search.ts';
import { noMemory, readMemory } from './process-memory.ts';
import { RecordingProxy } from './recording-proxy.ts';
import type { Server } from './server.ts';

const CLIENTS = 8;

/** One answer of 200 in so many is lost on its way, so that its client repeats the call. */
const LOST_SHARE = 20;

/** One call in so many is repeated after its answer. */
const REPEATED_SHARE = 4;

/** A place where keys must not be. */
export interface Place {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** True if the canary of the site is there. */
  readonly hasCanary: boolean;
}

export class WatchedSite {
  /** Finds the keys of this site and their openings. */
  readonly search: LeakSearch = new LeakSearch();
  /** Bytes that the site carries to the places where text from outside may be. */
  readonly canary: Buffer;
  readonly #site: LogSite;
  readonly #server: Server;
  readonly #collector: Collector;
  readonly #proxy: RecordingProxy;
  readonly #keyIds = new Set<string>();
  #outputs = '';

  private constructor(
    canary: Buffer,
    site: LogSite,
    server: Server,
    collector: Collector,
    proxy: RecordingProxy,
  ) {
    this.canary = canary;
    this.#site = site;
    this.#server = server;
    this.#collector = collector;
    this.#proxy = proxy;
  }

  /** Starts a server that logs, traces and counts as much as it can. */
  static async start(site: LogSite): Promise<WatchedSite> {
    const canary = randomBytes(24);
    const collector = await Collector.start();
    const server = await site.start(0, {
      PHM_LOG_LEVEL: 'trace',
      PHM_METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_SERVICE_NAME: canary.toString('hex'),
    });
    const proxy = await RecordingProxy.start(server.address);
    return new WatchedSite(canary, site, server, collector, proxy);
  }

  /** Number of keys that have been opened. */
  get keys(): number {
    return this.#keyIds.size;
  }

  /** Makes sealed keys through the proxy, opens them all, and repeats some calls. Returns figures in words. */
  async makeKeys(calls: readonly Call[]): Promise<string> {
    let answers = 0;
    this.#proxy.loses = (chunk) =>
      chunk.includes('HTTP/1.1 200 OK') && ++answers % LOST_SHARE === 0;
    const clients = new IdempotentClients(this.#site.apiKey, () => [this.#proxy.address]);
    await clients.run(calls, CLIENTS);
    const repeated = calls.filter((_, i) => i % REPEATED_SHARE === 0);
    await clients.run(repeated, CLIENTS);
    this.#proxy.loses = () => false;
    assert.deepEqual(clients.wrong, []);
    for (const { call, text } of clients.outcomes) {
      for (const key of keysOf(JSON.parse(text))) this.#open(call.recipient, key);
    }
    const replays = clients.outcomes.filter(({ replayed }) => replayed).length;
    return `${this.keys} keys, ${this.#proxy.lost} answers lost, ${replays} replays`;
  }

  /** Of several recipients, that of the call is the first. */
  #open(recipient: Call['recipient'], answered: AnsweredKey): void {
    const { key_id: keyId, sealed_keys: [sealed_key] = [answered.sealed_key] } = answered;
    if (this.#keyIds.has(keyId)) return;
    this.#keyIds.add(keyId);
    assert.ok(recipient && sealed_key);
    const { key, opening, header } = openByThePage(sealed_key, Buffer.from(recipient.privateKey));
    assert.equal(header.key_id, keyId);
    this.search.add(`the key ${keyId}`, key);
    this.search.add(`the opening of ${keyId}`, opening);
  }

  /** Sends what fails, reads what the service tells about keys, and plants the canary. */
  async lookAround(call: Call): Promise<void> {
    const { address } = this.#proxy;
    const { apiKey } = this.#site;
    for (const [security_level, status] of [
      [192, 400],
      [384, 422],
    ]) {
      const other = { ...call, body: { ...call.body, security_level } };
      assert.equal((await sendOnce(address, apiKey, other)).status, status);
    }
    const headers = { 'X-API-Key': apiKey, 'X-Request-Id': this.canary.toString('base64url') };
    await (await fetch(`${address}/api/v2/metrics`, { headers })).text();
    const proxied = { request: (path, init) => this.#through(path, init) } as Server;
    for (const keyId of [...this.#keyIds].slice(0, 20)) {
      await fetchReceipt(proxied, apiKey, keyId);
      this.#outputs += await this.#site.run('ledger', 'find', keyId);
    }
    const name = this.canary.toString('hex');
    await this.#site.run('account', 'create', '--name', name, '--plan', 'research');
    for (const command of [
      ['account', 'list'],
      ['ledger', 'verify'],
      ['log', 'check'],
    ]) {
      this.#outputs += await this.#site.run(...command);
    }
  }

  async #through(path: string, init: RequestInit = {}) {
    const response = await fetch(`${this.#proxy.address}${path}`, init);
    const { status, headers } = response;
    return { status, headers, body: await response.json() };
  }

  /** Kills the server, so that nothing tidies up behind it, and returns every place to search. */
  async places(): Promise<Place[]> {
    const metrics = await this.#server.scrape();
    const memory = this.#memory();
    await this.#server.stop('SIGKILL');
    // First, because whoever opens SQLite's database empties its write-ahead log.
    const files = await storedFiles(this.#site);
    return [
      place('requests', this.#proxy.sent),
      place('answers', this.#proxy.received),
      place('log and standard error', this.#server.log),
      place('traces', this.#collector.bodies.join('\n')),
      place('output of commands', this.#outputs),
      place('metrics', metrics, false),
      place('values in the database', await storedValues(this.#site)),
      place('files', files),
      ...memory,
    ];
  }

  /** Returns the memory of the server, on one store: the store makes no difference, and the search takes long. */
  #memory(): Place[] {
    const isSkipped = noMemory || this.#site.kind === 'postgres';
    return isSkipped ? [] : [place('memory', readMemory(this.#server.pid))];
  }

  async remove(): Promise<void> {
    this.#proxy.close();
    await this.#site.remove();
    await this.#collector.close();
  }
}

export function place(name: string, content: string | Buffer, hasCanary = true): Place {
  return { name, bytes: Buffer.from(content), hasCanary };
}
