/** The configuration as a whole: the JSON file, and the files that it names. */
import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  parseReceiptText,
  parseRecipientKey,
  type RecipientKey,
  thumbprintOf,
} from '../../../../sdk/src/index.ts';
import { CommandError, requireOwnDirectory } from '../../../platform/src/commands/index.ts';
import { fileProblem, readFailure, readTextFile } from '../../../platform/src/files/index.ts';
import { parsePolicy } from '../../../tlog/src/index.ts';
import type { Agent, Route } from '../keys/route.ts';
import type { Security, Tls } from '../listeners/security.ts';
import { Faults } from './members.ts';
import { routesOf } from './routes.ts';
import {
  type ListenerShape,
  type Place,
  type PoolShape,
  readShape,
  type ServiceShape,
  type Shape,
} from './shape.ts';

export interface AgentConfig {
  readonly own: Agent;
  readonly recipientKey: RecipientKey;
  /** One, or two of which each makes a half of each key. */
  readonly services: readonly ServiceConfig[];
  readonly stateDirectory: string;
  readonly peers: readonly Agent[];
  readonly routes: readonly Route[];
  readonly listeners: readonly ListenerConfig[];
  readonly metrics: Place | null;
  readonly pools: PoolShape;
}

interface ServiceConfig {
  readonly url: string;
  readonly apiKey: string;
  readonly policy: string;
  /** The name of the service's log. */
  readonly origin: string;
}

interface ListenerConfig extends Place {
  readonly interface: ListenerShape['interface'];
  readonly security: Security;
}

/** A configuration that cannot be used. `faults` are sentences. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a configuration and all that it names. Rejects with `ConfigError`, which has every fault. */
export async function loadConfig(path: string, env: Environment): Promise<AgentConfig> {
  const faults = new Faults();
  const shape = readShape(parsed(path), faults);
  const loader = new Loader(faults, env);
  const recipientKey = loader.recipientKey(shape.privateKeyFile);
  const thumbprint = recipientKey === null ? '' : await thumbprintText(recipientKey);
  const own = { name: shape.name, recipient: shape.recipient, thumbprint };
  const services = shape.services.map((one, i) => loader.service(one, `services[${i}]`));
  checkServices(services, faults);
  const origins = services.map(({ origin }) => origin);
  const routes = routesOf(shape, own, origins, faults);
  const listeners = shape.listeners.map((one, i) => loader.listener(one, i, shape));
  checkSkipNames(shape, faults);
  loader.directory(shape.stateDirectory);
  if (faults.list.length > 0 || recipientKey === null) throw new ConfigError(faults.list);
  const { stateDirectory, peers, metrics, pools } = shape;
  return { own, recipientKey, services, stateDirectory, peers, routes, listeners, metrics, pools };
}

const MOST_ORIGIN_BYTES = 400;

/** Two names for one service would not be two services. */
function checkServices([one, other]: readonly ServiceConfig[], faults: Faults): void {
  if (one === undefined || other === undefined) return;
  const isSameUrl = one.url !== '' && one.url === other.url;
  if (isSameUrl || (one.origin !== '' && one.origin === other.origin)) {
    faults.add('services[1]', 'is the first service again: two services have two logs');
  }
  // Node's HKDF takes 1,024 bytes of what it binds to a key, most of which are these names.
  if (Buffer.byteLength(JSON.stringify([one.origin, other.origin])) > MOST_ORIGIN_BYTES) {
    faults.add('services', `the names of both logs have more than ${MOST_ORIGIN_BYTES} bytes`);
  }
  const others = logKeysOf(other);
  if (logKeysOf(one).some((key) => others.includes(key))) {
    faults.add('services[1].policy_file', 'has the public key of the log of the first service');
  }
}

function logKeysOf({ policy, origin }: ServiceConfig): string[] {
  if (policy === '') return [];
  const logs = parsePolicy(policy).logs.filter(({ key }) => key.name === origin);
  return logs.map(({ key }) => Buffer.from(key.publicKey).toString('hex'));
}

/** draft-cisco-skip-02 §4.1.2: encryptors read these characters as patterns. */
function checkSkipNames({ listeners, systems, peers }: Shape, faults: Faults): void {
  if (!listeners.some((one) => one.interface === 'skip')) return;
  const names = [...systems, ...peers.flatMap((peer) => peer.systems)];
  for (const name of names.filter((one) => /[*?[\]]/.test(one))) {
    const text = JSON.stringify(name);
    faults.add('', `SKIP reads *, ?, [ and ] as patterns, so no system can be named ${text}`);
  }
}

function parsed(path: string): unknown {
  try {
    return parseReceiptText(readTextFile(path));
  } catch (error) {
    throw new ConfigError([`${path}: ${problemOf(error)}`]);
  }
}

async function thumbprintText({ publicKey }: RecipientKey): Promise<string> {
  return Buffer.from(await thumbprintOf(publicKey)).toString('base64');
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** Returns what is wrong in words that quote no secret. */
function problemOf(error: unknown): string {
  if (isSystemError(error)) return readFailure(error);
  return error instanceof Error ? error.message : 'it cannot be read';
}

/** Reads the files that a configuration names. What fails is a fault. */
class Loader {
  readonly #faults: Faults;
  readonly #env: Environment;

  constructor(faults: Faults, env: Environment) {
    this.#faults = faults;
    this.#env = env;
  }

  recipientKey(file: string): RecipientKey | null {
    return this.#read('private_key_file', file, true, parseRecipientKey);
  }

  service(service: ServiceShape, at: string): ServiceConfig {
    const { url, policyFile } = service;
    const policy = this.#read(`${at}.policy_file`, policyFile, false, (text) => {
      parsePolicy(text);
      return text;
    });
    const apiKey = this.#apiKey(at, service);
    return {
      url,
      apiKey,
      policy: policy ?? '',
      origin: this.#origin(at, service.origin, policy),
    };
  }

  #apiKey(at: string, { apiKeyFile, apiKeyVariable }: ServiceShape): string {
    if (apiKeyFile !== undefined) {
      const text = this.#read(`${at}.api_key_file`, apiKeyFile, true, (one) => one.trim());
      if (text === '') this.#faults.add(`${at}.api_key_file`, 'it is empty');
      return text ?? '';
    }
    const value = this.#env[apiKeyVariable ?? ''] ?? '';
    if (value === '' && apiKeyVariable !== undefined) {
      this.#faults.add(`${at}.api_key_env`, `the variable ${apiKeyVariable} is not set`);
    }
    return value;
  }

  /** The name of the log in the service's receipts: both ends must have the same. */
  #origin(at: string, origin: string | undefined, policy: string | null): string {
    if (policy === null) return '';
    const names = [...new Set(parsePolicy(policy).logs.map(({ key }) => key.name))];
    const [only = ''] = names;
    if (origin === undefined && names.length === 1) return only;
    if (origin !== undefined && names.includes(origin)) return origin;
    const list = names.map((name) => JSON.stringify(name)).join(', ');
    this.#faults.add(`${at}.origin`, `expected one of the logs of the policy: ${list}`);
    return '';
  }

  listener(shape: ListenerShape, i: number, { systems }: Shape): ListenerConfig {
    const { interface: spoken, host, port } = shape;
    const security = this.#security(shape, `listeners[${i}]`, systems);
    return { interface: spoken, host, port, security };
  }

  #security(
    { tls, psk, caller = '' }: ListenerShape,
    path: string,
    systems: readonly string[],
  ): Security {
    if (tls !== null) return { tls: this.#tls(tls, `${path}.tls`) };
    if (psk !== null) return { psk: this.#preSharedKeys(psk, `${path}.psk`, systems) };
    if (caller !== '' && !systems.includes(caller)) {
      this.#faults.add(`${path}.caller`, 'expected one of "systems"');
    }
    return { caller };
  }

  #tls(tls: NonNullable<ListenerShape['tls']>, path: string): Tls {
    const read = (name: string, file: string, isSecret: boolean): string =>
      this.#read(`${path}.${name}`, file, isSecret, (text) => text) ?? '';
    const pem = {
      certificate: read('certificate_file', tls.certificateFile, false),
      key: read('key_file', tls.keyFile, true),
      clientAuthorities: read('client_ca_file', tls.clientAuthorityFile, false),
    };
    this.#checkTls(path, pem);
    return pem;
  }

  #preSharedKeys(
    psk: NonNullable<ListenerShape['psk']>,
    path: string,
    systems: readonly string[],
  ): Map<string, Uint8Array> {
    const keys = new Map<string, Uint8Array>();
    for (const [i, { system, file }] of psk.entries()) {
      const at = `${path}[${i}]`;
      if (system !== '' && !systems.includes(system)) {
        this.#faults.add(`${at}.system`, 'expected one of "systems"');
      }
      if (keys.has(system)) this.#faults.add(`${at}.system`, 'is there twice');
      const key = this.#read(`${at}.file`, file, true, preSharedKeyOf);
      if (key === null) continue;
      if ([...keys.values()].some((one) => Buffer.compare(one, key) === 0)) {
        this.#faults.add(`${at}.file`, 'has the key of another system: each needs its own');
      }
      keys.set(system, key);
    }
    return keys;
  }

  #checkTls(path: string, { certificate, key, clientAuthorities }: Tls): void {
    // A file that cannot be read is a fault already.
    if ([certificate, key, clientAuthorities].includes('')) return;
    try {
      createSecureContext({ cert: certificate, key, ca: clientAuthorities });
    } catch (error) {
      this.#faults.add(path, `TLS refuses these files: ${problemOf(error)}`);
    }
  }

  directory(path: string): void {
    if (path === '') return;
    try {
      if (!statSync(path).isDirectory()) throw new Error('it is no directory');
      requireOwnDirectory(path);
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const problem = isMissing ? 'there is no such directory' : problemOf(error);
      this.#faults.add('state_dir', error instanceof CommandError ? error.message : problem);
    }
  }

  /** Reads a file and takes what `parse` makes of it; null with a fault. */
  #read<T>(at: string, file: string, isSecret: boolean, parse: (text: string) => T): T | null {
    if (file === '') return null;
    try {
      const problem = fileProblem(file) ?? (isSecret ? secrecyProblem(file) : null);
      if (problem !== null) throw new Error(problem);
      return parse(readTextFile(file));
    } catch (error) {
      this.#faults.add(at, problemOf(error));
      return null;
    }
  }
}

/** 256 bits at least, so that it resists a quantum computer as the keys do. */
function preSharedKeyOf(text: string): Uint8Array {
  const digits = text.trim();
  if (!/^(?:[0-9A-Fa-f]{2}){32,64}$/.test(digits)) {
    throw new Error('expected 64 to 128 hexadecimal digits: openssl rand -hex 32 makes such a key');
  }
  if (/^(..)\1*$/.test(digits)) throw new Error('one byte is repeated: this is no random key');
  return Buffer.from(digits, 'hex');
}

const OTHERS_READ = 0o004;

/** systemd lets a group in by an access list, which shows as the mode of the group. */
function secrecyProblem(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  const isOpen = stats?.isFile() && (stats.mode & OTHERS_READ) !== 0;
  return isOpen ? `every user of this machine can read it: run chmod o-r ${file}` : null;
}
