/** Two sites, paris and lyon, with an agent each, on one key service or two: for tests that kill and start them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogSite } from '../ledgers/log-site.ts';
import type { Environment } from '../servers/server.ts';
import { AgentService } from './agent-service.ts';
import { AgentSite } from './agent-site.ts';

export class AgentSites {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'agent-sites-'));
  readonly paris: AgentSite;
  readonly lyon: AgentSite;
  readonly services: readonly AgentService[];

  /** `stores` are where one service, or each of two, keeps its data. */
  constructor(stores: readonly LogSite[] = [LogSite.sqlite()]) {
    this.paris = new AgentSite('paris', this.folder);
    this.lyon = new AgentSite('lyon', this.folder);
    this.services = stores.map((store) => new AgentService(store));
  }

  get both(): readonly [AgentSite, AgentSite] {
    return [this.paris, this.lyon];
  }

  /** The directions in which keys go: from a master to a slave. */
  get ways(): readonly (readonly [AgentSite, AgentSite])[] {
    return [
      [this.paris, this.lyon],
      [this.lyon, this.paris],
    ];
  }

  /** The service, or the first of two. */
  get service(): AgentService {
    const [first] = this.services;
    if (first === undefined) throw new Error('there is no service');
    return first;
  }

  /** Starts services and agents. `env` are variables of each service. */
  async start(env: Environment = {}): Promise<void> {
    await this.startServices(env);
    await this.startAgents();
  }

  async startServices(env: Environment = {}): Promise<void> {
    await Promise.all([
      ...this.services.map((service) => service.start(env)),
      ...this.both.map((site) => site.prepare()),
    ]);
  }

  /** Configures and starts the agents. `url` is where they reach the service, if not by the recording proxies. */
  async startAgents(url?: string): Promise<void> {
    for (const [site, peer] of this.ways) {
      const accesses = await Promise.all(
        this.services.map((one) => one.admit(site.name, site.publicKeyFile)),
      );
      site.configure(
        peer,
        accesses.map((access) => ({ ...access, ...(url && { url }) })),
      );
    }
    await Promise.all(this.both.map((site) => site.start()));
  }

  /** Resolves once each has so many keys ready for the other. */
  async filled(keys: number): Promise<void> {
    for (const [master, slave] of this.ways) await master.filled(slave, keys);
  }

  async stop(): Promise<void> {
    await Promise.all(this.both.map((site) => site.remove()));
    await Promise.all(this.services.map((service) => service.remove()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
