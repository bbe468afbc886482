/** Agents of two sites that run in this process, with real listeners and files, on one service in memory. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatRecipientKey, newRecipient, thumbprintOf } from '../../../../sdk/src/index.ts';
import {
  alternativeName,
  makeCertificate,
  selfSigned,
} from '../../../../test/support/servers/certificate.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load.ts';
import { runAgent } from '../../src/running/agent.ts';
import { Log } from '../../src/running/log.ts';
import { newFolder } from './folders.ts';
import { MemoryService } from './memory-service.ts';

/** A file of a configuration that can be changed before it is written. */
export type Json = Record<string, unknown>;

export interface Site {
  readonly folder: string;
  readonly configFile: string;
  readonly config: Json;
  readonly thumbprint: string;
}

/** Files of a client, as other programs take them. */
export interface Client {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface RunningSite {
  /** Base URL of the listener with mutual TLS. */
  readonly url: string;
  /** Base URL of the listener without TLS, on which the first system calls. */
  readonly plainUrl: string;
  /** Base URL of SKIP with mutual TLS. */
  readonly skipUrl: string;
  /** Base URL of SKIP with the pre-shared key of the first system. */
  readonly pskUrl: string;
  readonly stateUrl: string;
  readonly lines: string[];
  stop(): Promise<void>;
}

const POLICY = (
  JSON.parse(
    readFileSync(new URL('../../../../test/vectors/sealing/served.json', import.meta.url), 'utf8'),
  ) as { policy: string }
).policy;

/** The pre-shared key of the first system of each site, in hexadecimal. */
export const PRE_SHARED_KEY: string = '0123456789abcdef'.repeat(4);

/** A free port of this machine. */
const PLACE = { host: '127.0.0.1', port: 0 } as const;

/** A folder with the certificates of all, and a site for each name. Site `a` has the systems `a1` and `a2`. */
export class LocalAgents {
  readonly service: MemoryService = new MemoryService(SYSTEM_CLOCK);
  readonly folder: string;
  readonly serverFile: string;
  readonly #clients = new Map<string, Client>();
  readonly #stops: (() => Promise<void>)[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.serverFile = join(folder, 'server.pem');
    makeCertificate(this.serverFile, join(folder, 'server.key'));
  }

  static async create(): Promise<LocalAgents> {
    return new LocalAgents(newFolder());
  }

  /** Returns the certificate of a system. Call it before the sites start: they let in those that exist then. */
  client(name: string): Client {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = {
      certFile: join(this.folder, `${name}.pem`),
      keyFile: join(this.folder, `${name}.key`),
    };
    const { certificate, key } = selfSigned([`host of ${name}`], [alternativeName.uri(name)]);
    writeFileSync(client.certFile, certificate);
    writeFileSync(client.keyFile, key, { mode: 0o600 });
    this.#clients.set(name, client);
    return client;
  }

  /** Writes the configurations of two sites, with every pair between them, and of `a1` with itself. */
  async sites(): Promise<{ readonly a: Site; readonly b: Site }> {
    const [a, b] = [await this.#site('a'), await this.#site('b')];
    const access = [
      { master: 'a1', slaves: ['b1'] },
      { master: 'b1', slaves: ['a1'] },
      { master: 'a1', slaves: ['b1', 'b2'] },
    ];
    for (const [site, peer, name] of [
      [a, b, 'b'],
      [b, a, 'a'],
    ] as const) {
      const { thumbprint } = peer;
      const systems = [`${name}1`, `${name}2`];
      site.config.peers = [
        { name: `site-${name}`, recipient: `site-${name}`, thumbprint, systems },
      ];
      site.config.access = [...access];
    }
    a.config.access = [...access, { master: 'a1', slaves: ['a1'] }];
    for (const site of [a, b]) writeFileSync(site.configFile, JSON.stringify(site.config));
    return { a, b };
  }

  async #site(name: string): Promise<Site> {
    const folder = join(this.folder, name);
    await mkdir(join(folder, 'state'), { recursive: true, mode: 0o700 });
    const recipient = await newRecipient();
    const thumbprint = Buffer.from(await thumbprintOf(recipient.publicKey)).toString('base64');
    const file = (base: string, text: string): string => {
      writeFileSync(join(folder, base), text, { mode: 0o600 });
      return join(folder, base);
    };
    const tls = {
      certificate_file: this.serverFile,
      key_file: join(this.folder, 'server.key'),
      client_ca_file: join(this.folder, 'clients.pem'),
    };
    const psk = [
      { system: `${name}1`, file: file('psk', `${PRE_SHARED_KEY}\n`) },
      { system: `${name}2`, file: file('psk-2', `${'fedcba9876543210'.repeat(4)}\n`) },
    ];
    const config = {
      name: `site-${name}`,
      recipient: `site-${name}`,
      private_key_file: file('recipient-key', formatRecipientKey(recipient)),
      state_dir: join(folder, 'state'),
      systems: [`${name}1`, `${name}2`],
      services: [
        {
          url: 'https://keys.example',
          api_key_file: file('api-key', 'phmsk_x\n'),
          policy_file: file('log.policy', POLICY),
        },
      ],
      listeners: [
        { interface: 'etsi-014', ...PLACE, tls },
        { interface: 'etsi-014', ...PLACE, caller: `${name}1` },
        { interface: 'skip', ...PLACE, tls },
        { interface: 'skip', ...PLACE, psk },
      ],
      metrics: PLACE,
      pools: { least: 4 },
    };
    return { folder, configFile: join(folder, 'agent.json'), config, thumbprint };
  }

  /** Starts the agent of a site. */
  async start({ configFile, thumbprint }: Site): Promise<RunningSite> {
    const certificates = [...this.#clients.values()].map(({ certFile }) =>
      readFileSync(certFile, 'utf8'),
    );
    writeFileSync(join(this.folder, 'clients.pem'), certificates.join(''));
    const config = await loadConfig(configFile, {});
    const boxes = this.service.boxesFor(thumbprint);
    const lines: string[] = [];
    const log = new Log((line) => lines.push(line), SYSTEM_CLOCK);
    const end = new AbortController();
    const options = { config, boxes, clock: SYSTEM_CLOCK, log };
    let ended: Promise<void> = Promise.resolve();
    const urls = await new Promise<string[]>((resolve, reject) => {
      ended = runAgent(options, end.signal, (listeners) =>
        resolve(listeners.map(({ address: { port } }) => `127.0.0.1:${port}`)),
      );
      ended.catch(reject);
    });
    const stop = async (): Promise<void> => {
      end.abort();
      await ended;
    };
    this.#stops.push(stop);
    const [tls, plain, skip, psk, state] = urls;
    return {
      url: `https://${tls}`,
      plainUrl: `http://${plain}`,
      skipUrl: `https://${skip}`,
      pskUrl: `https://${psk}`,
      stateUrl: `http://${state}`,
      lines,
      stop,
    };
  }

  /** Stops all agents. */
  async stop(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
  }
}
