/** A key service that agents reach by a proxy each, which records everything and can lose it. */
import type { LogSite } from '../ledgers/log-site.ts';
import { RecordingProxy } from '../servers/recording-proxy.ts';
import type { Environment, Server } from '../servers/server.ts';

/** How an agent reaches a service. */
export interface ServiceAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly policy: string;
}

export class AgentService {
  readonly site: LogSite;
  readonly #proxies = new Map<string, RecordingProxy>();
  #env: Environment = {};
  #server: Server | undefined;

  constructor(site: LogSite) {
    this.site = site;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the service was not started');
    return this.#server;
  }

  /** The proxies of all agents. */
  get proxies(): readonly RecordingProxy[] {
    return [...this.#proxies.values()];
  }

  /** Starts the server, also again, with these variables beside those of the site. Agents reach it as before. */
  async start(env: Environment = this.#env): Promise<void> {
    this.#env = env;
    this.#server = await this.site.start(0, env);
    for (const proxy of this.proxies) proxy.target = this.#server.address;
  }

  /** Registers the public key of an agent under its name, and issues an API key. */
  async admit(name: string, publicKeyFile: string): Promise<ServiceAccess> {
    const of = ['--account', this.site.account.accountId];
    await this.register(name, publicKeyFile);
    const scopes = ['--scope', 'generate', '--scope', 'receive', '--recipient', name, '--json'];
    const { api_key } = JSON.parse(await this.site.run('api-key', 'issue', ...of, ...scopes));
    const proxy = await RecordingProxy.start(this.server.address);
    this.#proxies.set(name, proxy);
    const policy = await (await fetch(`${this.server.address}/log/policy`)).text();
    return { url: proxy.address, apiKey: api_key, policy };
  }

  async register(name: string, publicKeyFile: string): Promise<void> {
    const of = ['--account', this.site.account.accountId];
    await this.site.run('recipient', 'add', name, ...of, '--public-key', publicKeyFile);
  }

  /** Returns SQL that gives the bytes of a column in hexadecimal. */
  hexOf(column: string): string {
    return this.site.kind === 'sqlite' ? `lower(hex(${column}))` : `encode(${column}, 'hex')`;
  }

  /** Returns the context of the newest key that an agent has ordered, in base64. */
  async newestContext(): Promise<string> {
    const [row] = await this.site.execute(
      `SELECT ${this.hexOf('delivery_context')} AS context FROM ledger
       WHERE delivery_context IS NOT NULL ORDER BY key_id DESC LIMIT 1`,
    );
    return Buffer.from(String(row?.context), 'hex').toString('base64');
  }

  /** Returns the proxy between an agent and this service. */
  proxyOf(name: string): RecordingProxy {
    const proxy = this.#proxies.get(name);
    if (proxy === undefined) throw new Error(`${name} is not admitted`);
    return proxy;
  }

  async remove(): Promise<void> {
    for (const proxy of this.proxies) proxy.close();
    await this.site.remove();
  }
}
