/** An agent as a process, with the system that it serves. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  type RecipientKey,
  thumbprintOf,
} from '#sealing';
import { until } from '../run/until.ts';
import { alternativeName, makeCertificate, selfSigned } from '../servers/certificate.ts';
import { RecordingProxy } from '../servers/recording-proxy.ts';
import type { Environment } from '../servers/server.ts';
import type { ServiceAccess } from './agent-service.ts';

const SOURCE = new URL('../../../packages/agent/src/bin.ts', import.meta.url).pathname;

/** Listeners for systems, in the order of the configuration: plain HTTP, and mutual TLS. */
const LEGS = ['plain', 'tls', 'skip'] as const;
type Leg = (typeof LEGS)[number];

/** A key as ETSI GS QKD 014 gives it. */
export interface Key {
  readonly key_ID: string;
  readonly key: string;
}

/** A key as SKIP gives it. */
interface SkipKey {
  readonly keyId: string;
  readonly key: string;
}

interface Answer {
  readonly status: number;
  readonly keys: readonly Key[];
  readonly json: Readonly<Record<string, unknown>>;
}

/** Paths of the files that a client of mutual TLS needs. */
interface ClientFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export class AgentSite {
  readonly name: string;
  /** The name of its only system. */
  readonly system: string;
  readonly folder: string;
  /** What the agent has written, over all its lives. */
  log = '';
  /** Node and the program: from source, or as packed. */
  program: readonly string[] = [process.execPath, '--disable-sigusr1', SOURCE];
  /** Variables of the agent beside those of this process. */
  env: Environment = {};
  /** The member of its configuration. */
  pools: Readonly<Record<string, unknown>> = { least: 8 };
  readonly #legs = new Map<Leg, RecordingProxy>();
  #recipientKey: RecipientKey | undefined;
  #thumbprint = '';
  #stateAddress = '';
  #process: ChildProcess | undefined;

  constructor(name: string, parent: string) {
    this.name = name;
    this.system = `system-of-${name}`;
    this.folder = join(parent, name);
    mkdirSync(join(this.folder, 'state'), { recursive: true, mode: 0o700 });
  }

  #place(name: string): string {
    return join(this.folder, name);
  }

  /** The public key, as services register it. */
  get publicKeyFile(): string {
    return this.#place('own.recipient');
  }

  get recipientKey(): RecipientKey {
    assert.ok(this.#recipientKey, 'the site has no key pair yet');
    return this.#recipientKey;
  }

  /** The client certificate of its system. */
  get client(): ClientFiles {
    const [cert, key, ca] = ['system.pem', 'system.key', 'listener.pem'].map((one) =>
      this.#place(one),
    ) as [string, string, string];
    return { cert, key, ca };
  }

  /** Makes the site's key pair, and the certificates of its listener and of its system. */
  async prepare(): Promise<void> {
    const pair = await newRecipient();
    this.#recipientKey = pair;
    this.#thumbprint = Buffer.from(await thumbprintOf(pair.publicKey)).toString('base64');
    writeFileSync(this.publicKeyFile, formatRecipient(pair));
    writeFileSync(this.#place('own.recipient-key'), formatRecipientKey(pair), { mode: 0o600 });
    const { cert, key, ca } = this.client;
    makeCertificate(ca, this.#place('listener.key'));
    const made = selfSigned(['a router'], [alternativeName.uri(this.system)]);
    writeFileSync(cert, made.certificate);
    writeFileSync(key, made.key, { mode: 0o600 });
  }

  configure(peer: AgentSite, services: readonly ServiceAccess[]): void {
    const place = this.#place.bind(this);
    const tls = {
      certificate_file: this.client.ca,
      key_file: place('listener.key'),
      client_ca_file: this.client.cert,
    };
    const on = { host: '127.0.0.1', port: 0 };
    const config = {
      name: `kme-of-${this.name}`,
      recipient: this.name,
      private_key_file: place('own.recipient-key'),
      state_dir: place('state'),
      systems: [this.system],
      services: services.map((one, i) => this.#serviceMember(one, i)),
      peers: [
        {
          name: `kme-of-${peer.name}`,
          recipient: peer.name,
          thumbprint: peer.#thumbprint,
          systems: [peer.system],
        },
      ],
      access: [
        { master: this.system, slaves: [peer.system] },
        { master: peer.system, slaves: [this.system] },
      ],
      listeners: [
        { interface: 'etsi-014', ...on, caller: this.system },
        { interface: 'etsi-014', ...on, tls },
        { interface: 'skip', ...on, tls },
      ],
      metrics: on,
      pools: this.pools,
    };
    writeFileSync(place('agent.json'), JSON.stringify(config));
  }

  #serviceMember({ url, apiKey, policy }: ServiceAccess, i: number): object {
    const [apiKeyFile, policyFile] = [this.#place(`api-key-${i}`), this.#place(`log-${i}.policy`)];
    writeFileSync(apiKeyFile, apiKey, { mode: 0o600 });
    writeFileSync(policyFile, policy);
    return { url, api_key_file: apiKeyFile, policy_file: policyFile };
  }

  async start(): Promise<void> {
    const [node = '', ...args] = [...this.program, 'run', this.#place('agent.json')];
    const env = { ...process.env, ...this.env };
    const child = spawn(node, args, { stdio: ['ignore', 'inherit', 'pipe'], env });
    this.#process = child;
    let addresses: string[] = [];
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      this.log += `${line}\n`;
      const said = line.startsWith('{') ? JSON.parse(line) : {};
      if (said.addresses !== undefined) addresses = said.addresses.split(' ');
    });
    await until(`${this.name} listens`, () => {
      assert.equal(child.exitCode, null, this.log);
      return addresses.length > 0;
    });
    this.#stateAddress = `http://${addresses.at(-1)}`;
    for (const [i, leg] of LEGS.entries()) await this.#record(leg, `http://${addresses[i]}`);
  }

  /** Has a proxy before each listener, which its systems call as long as the site lives. */
  async #record(leg: Leg, address: string): Promise<void> {
    const known = this.#legs.get(leg);
    if (known === undefined) this.#legs.set(leg, await RecordingProxy.start(address));
    else known.target = address;
  }

  /** What the system and the agent send each other. */
  leg(leg: Leg): RecordingProxy {
    const proxy = this.#legs.get(leg);
    if (proxy === undefined) throw new Error('the agent was not started');
    return proxy;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.end('SIGTERM');
    for (const proxy of this.#legs.values()) proxy.close();
  }

  #pathTo(other: AgentSite, rest: string): string {
    return `/api/v1/keys/${encodeURIComponent(other.system)}/${rest}`;
  }

  /** Calls the interface as this site's system. Rejects if the connection breaks. */
  async call(other: AgentSite, rest: string, body?: object): Promise<Answer> {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${this.leg('plain').address}${this.#pathTo(other, rest)}`, post);
    return answerOf(response.status, await response.text());
  }

  /** As `call`, by mutual TLS. */
  async callByTls(other: AgentSite, rest: string, body: object): Promise<Answer> {
    const { status, text } = await this.#sendByTls('tls', this.#pathTo(other, rest), body);
    return answerOf(status, text);
  }

  /** Resolves with the keys of a call, which is repeated while the agent has none: on a slow machine, others are not made in time. */
  async keys(
    other: AgentSite,
    rest: 'enc_keys' | 'dec_keys',
    body: object,
    leg: 'plain' | 'tls' = 'plain',
  ): Promise<readonly Key[]> {
    let answer: Answer | undefined;
    await until(`${this.name} has an answer`, async () => {
      answer = await (leg === 'tls'
        ? this.callByTls(other, rest, body)
        : this.call(other, rest, body));
      assert.ok([200, 503].includes(answer.status), JSON.stringify(answer.json));
      return answer.status === 200;
    });
    return answer?.keys ?? [];
  }

  /** Gets a new key by SKIP, or the one with this ID. Rejects if there is none. */
  async skipKey(other: AgentSite, id?: string): Promise<SkipKey> {
    const path = `/key${id === undefined ? '' : `/${id}`}?remoteSystemID=${other.system}`;
    const { status, text } = await this.#sendByTls('skip', path, null);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  }

  async #sendByTls(
    leg: Leg,
    path: string,
    body: object | null,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { cert, key, ca } = this.client;
    const port = Number(new URL(this.leg(leg).address).port);
    const method = body === null ? 'GET' : 'POST';
    const sent = request({
      ...{ host: '127.0.0.1', port, path, method, agent: false },
      ...{ cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) },
    });
    sent.end(body === null ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, text };
  }

  /** Returns the page of the agent's metrics. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.#stateAddress}/metrics`)).text();
  }

  /** Returns a figure of the agent's metrics that has no labels. */
  async figure(name: string): Promise<number> {
    return Number(new RegExp(`^phm_agent_${name} (\\d+)$`, 'm').exec(await this.metrics())?.[1]);
  }

  /** Returns the number of keys that are ready for another system. */
  async ready(other: AgentSite): Promise<number> {
    const { json } = await this.call(other, 'status');
    return Number(json.stored_key_count);
  }

  /** Resolves once so many keys are ready for another system. */
  async filled(other: AgentSite, keys: number): Promise<void> {
    await until(`${this.name} has ${keys} keys`, async () => (await this.ready(other)) >= keys);
  }
}

function answerOf(status: number, text: string): Answer {
  const json = JSON.parse(text) as Answer['json'];
  return { status, json, keys: (json.keys ?? []) as Key[] };
}

/** Returns the body of a request for the keys of these. */
export function idsOf(keys: readonly Pick<Key, 'key_ID'>[]): object {
  return { key_IDs: keys.map(({ key_ID }) => ({ key_ID })) };
}
