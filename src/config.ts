/**
 * Configuration: environment variables in, one validated record out.
 *
 * Everything wrong is reported at once; every message names the variable and the fix. Messages never
 * quote a value that may be secret.
 */
import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';

export const ENVIRONMENT = {
  PHM_HOST: { default: '127.0.0.1', help: 'address to listen on' },
  PHM_PORT: { default: '8080', help: 'port to listen on; 0 takes a free one' },
  PHM_DATA_DIR: { default: './data', help: 'directory of the database and the master secret' },
  PHM_DATABASE_URL: { default: '', help: 'unset: SQLite in the data directory' },
  PHM_MASTER_KEY: { default: '', help: 'the master secret: 64 hex digits, or "version:hex" list' },
  PHM_MASTER_KEY_FILE: { default: '', help: 'file that holds the master secret' },
  PHM_ENTROPY_SOURCE: { default: 'os', help: 'source of keys whose request names none' },
  PHM_ENTROPY_SOURCES: { default: 'os,quantum-simulator', help: 'sources a request may name' },
  PHM_TLS_CERT_FILE: {
    default: '',
    help: 'PEM certificate chain; with it the listener is TLS 1.3',
  },
  PHM_TLS_KEY_FILE: { default: '', help: 'PEM private key of that certificate' },
  PHM_ALLOW_CLEARTEXT: { default: 'off', help: 'on: listen without TLS beyond loopback' },
  PHM_DEMO_KEYS: { default: 'auto', help: 'auto, on or off' },
  PHM_RATE_LIMITS: { default: 'on', help: 'on or off' },
  PHM_WORKERS: { default: '', help: 'suite workers; default: cores - 1, at least 1' },
  PHM_LOG_LEVEL: { default: 'info', help: 'fatal, error, warn, info, debug, trace or silent' },
} as const satisfies Record<string, { default: string; help: string }>;

type Variable = keyof typeof ENVIRONMENT;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where the master secret comes from; `managed` is the file in the data directory. */
export type MasterSecretOrigin =
  | { readonly kind: 'environment'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'managed'; readonly path: string };

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** PostgreSQL address, or null for SQLite in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly masterSecret: MasterSecretOrigin;
  readonly entropySource: string;
  readonly entropySources: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly demoKeys: 'auto' | 'on' | 'off';
  readonly rateLimits: boolean;
  readonly suiteWorkers: number;
  readonly logLevel: LogLevel;
}

/** What the machine and the stages know and the environment does not. */
export interface ConfigContext {
  readonly cores: number;
  readonly knownSources: readonly string[];
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const MAX_WORKERS = 64;

/** True when only this machine can reach an address. Takes `[::1]` as well as `::1`. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** Reads the configuration from an environment. Problems are values: the caller prints them. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  context: ConfigContext,
): ConfigResult {
  const problems: string[] = [];
  const reader = new Reader(env, problems);
  const host = reader.text('PHM_HOST').replace(/^\[|\]$/g, '');
  const allowCleartext = reader.flag('PHM_ALLOW_CLEARTEXT');
  const dataDir = resolve(reader.text('PHM_DATA_DIR'));
  const databaseUrl = reader.text('PHM_DATABASE_URL') || null;
  const tls = readTls(reader);
  if (!tls && !isLoopback(host) && !allowCleartext) {
    problems.push(
      `PHM_HOST is ${host}, which other machines can reach, and there is no certificate: set ` +
        'PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE, or PHM_ALLOW_CLEARTEXT=on behind a proxy that ends TLS',
    );
  }
  if (databaseUrl !== null) {
    problems.push(
      'PHM_DATABASE_URL is set, but this version keeps its ledger in SQLite only: unset it',
    );
  }
  const sources = readSources(reader, context.knownSources);
  const config: Config = {
    host,
    port: reader.integer('PHM_PORT', 0, 65_535),
    dataDir,
    databaseUrl,
    masterSecret: readMasterSecretOrigin(reader, dataDir),
    ...sources,
    tls,
    demoKeys: reader.choice('PHM_DEMO_KEYS', ['auto', 'on', 'off']),
    rateLimits: reader.flag('PHM_RATE_LIMITS'),
    suiteWorkers: reader.text('PHM_WORKERS')
      ? reader.integer('PHM_WORKERS', 1, MAX_WORKERS)
      : Math.min(MAX_WORKERS, Math.max(1, context.cores - 1)),
    logLevel: reader.choice('PHM_LOG_LEVEL', LOG_LEVELS),
  };
  return problems.length === 0
    ? { ok: true, config, warnings: unknownVariables(env) }
    : { ok: false, problems };
}

function readTls(reader: Reader): Config['tls'] {
  const certFile = reader.text('PHM_TLS_CERT_FILE');
  const keyFile = reader.text('PHM_TLS_KEY_FILE');
  if (!certFile && !keyFile) return null;
  if (!certFile || !keyFile) {
    const missing = certFile ? 'PHM_TLS_KEY_FILE' : 'PHM_TLS_CERT_FILE';
    reader.problems.push(`${missing} is missing: a certificate and its key go together`);
  }
  return { certFile, keyFile };
}

function readSources(
  reader: Reader,
  known: readonly string[],
): Pick<Config, 'entropySource' | 'entropySources'> {
  const entropySource = reader.choice('PHM_ENTROPY_SOURCE', known);
  const named = reader
    .text('PHM_ENTROPY_SOURCES')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of named) {
    if (!known.includes(name)) {
      reader.problems.push(
        `PHM_ENTROPY_SOURCES names "${printable(name)}": use a comma-separated list of ${known.join(', ')}`,
      );
    }
  }
  return { entropySource, entropySources: [...new Set([entropySource, ...named])] };
}

function readMasterSecretOrigin(reader: Reader, dataDir: string): MasterSecretOrigin {
  const text = reader.text('PHM_MASTER_KEY');
  const path = reader.text('PHM_MASTER_KEY_FILE');
  if (text && path) {
    reader.problems.push('PHM_MASTER_KEY and PHM_MASTER_KEY_FILE are both set: keep one of them');
  }
  if (text) return { kind: 'environment', text };
  if (path) return { kind: 'file', path: resolve(path) };
  return { kind: 'managed', path: resolve(dataDir, 'master.key') };
}

class Reader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly problems: string[];

  constructor(env: Readonly<Record<string, string | undefined>>, problems: string[]) {
    this.#env = env;
    this.problems = problems;
  }

  text(name: Variable): string {
    return this.#env[name]?.trim() || ENVIRONMENT[name].default;
  }

  integer(name: Variable, min: number, max: number): number {
    const text = this.text(name);
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.problems.push(`${name} is "${printable(text)}": use a whole number from ${min} to ${max}`);
    return min;
  }

  choice<T extends string>(name: Variable, allowed: readonly T[]): T {
    const text = this.text(name);
    const value = allowed.find((one) => one === text);
    if (value !== undefined) return value;
    this.problems.push(`${name} is "${printable(text)}": use one of ${allowed.join(', ')}`);
    return allowed[0] as T;
  }

  flag(name: Variable): boolean {
    return this.choice(name, ['on', 'off']) === 'on';
  }
}

/** A misspelt variable would silently leave its default in force, so it is named. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('PHM_') && !Object.hasOwn(ENVIRONMENT, name))
    .map((name) => `${printable(name)} is not a variable of this service and has no effect`);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60);
}
