/**
 * Configuration: environment variables in, one checked record out.
 *
 * Everything wrong is reported at once; every message names the variable and the fix. Messages never
 * quote a value that may be secret.
 */
import { resolve } from 'node:path';
import {
  type EnabledSources,
  readSourceSettings,
  readSources,
  requireSettings,
  type SourceSettings,
} from './entropy-sources.ts';
import { CLIENT_ENVIRONMENT, ENVIRONMENT } from './environment.ts';
import { type ProxyRange, readTrustedProxies } from './proxies.ts';
import { isLoopback, printable, Reader } from './reader.ts';
import { readBasePath, readCorsOrigins } from './web.ts';

export { type ClientConfig, type ClientConfigResult, readClientConfig } from './client.ts';
export {
  type IbmQuantumConfig,
  missingSettings,
  QRNG_PROFILES,
  type QrngConfig,
  type QrngProfileName,
  type SourceSettings,
} from './entropy-sources.ts';
export { CLIENT_ENVIRONMENT, ENVIRONMENT } from './environment.ts';
export type { ProxyRange } from './proxies.ts';
export { type Credential, isLoopback, isServiceUrl } from './reader.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `auto` is pretty where stderr is a terminal. */
const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/**
 * Where the master secret comes from; `managed` is the file in the data directory. Without
 * `currentVersion` its highest version is current.
 */
export type MasterSecretOrigin = { readonly currentVersion?: number } & (
  | { readonly kind: 'environment'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'managed'; readonly path: string }
);

export interface Config extends EnabledSources {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** PostgreSQL address, or null for SQLite in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Whether a server's start changes the schema of a PostgreSQL database. */
  readonly migrate: 'auto' | 'off';
  /** How far this machine's clock may be from that of PostgreSQL. */
  readonly maxClockSkewSeconds: number;
  /** Days that ledger rows are kept; null is for ever. */
  readonly retentionDays: number | null;
  readonly masterSecret: MasterSecretOrigin;
  readonly sourceSettings: SourceSettings;
  readonly tls: {
    readonly certFile: string;
    readonly keyFile: string;
    /** Refuse clients without a hybrid group. */
    readonly requireHybrid: boolean;
  } | null;
  /** Path before all addresses, such as `/phm`; empty: the root. */
  readonly basePath: string;
  /** Origins whose web pages may call the API. */
  readonly corsOrigins: readonly string[];
  /** Addresses of proxies whose word on the client's address is taken. */
  readonly trustedProxies: readonly ProxyRange[];
  /** How long a start waits for the database. */
  readonly startWaitSeconds: number;
  /** How long `/readyz` fails before the listener closes, after SIGTERM. */
  readonly drainSeconds: number;
  /** Connections that are served at a time. */
  readonly maxConnections: number;
  readonly demoKeys: 'auto' | 'on' | 'off';
  readonly rateLimits: boolean;
  readonly suiteWorkers: number;
  /** The listener for Prometheus, or null for none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** What the machine and the stages know and the environment does not. */
export interface ConfigContext {
  readonly cores: number;
  readonly knownSources: readonly string[];
  /** A server is to be started: commands listen nowhere, and most need no secret. */
  readonly serves: boolean;
}

/** Warnings come with problems too: a misspelt variable is often what is missing. */
export type ConfigResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }
);

const MAX_WORKERS = 64;
const MAX_DRAIN_SECONDS = 300;
const MOST_CONNECTIONS = 1_000_000;
const MAX_START_WAIT_SECONDS = 86_400;
const MAX_SECRET_VERSION = 65_535;

/** A day: with more, a wrong clock would be noticed when it has done its harm. */
const MAX_CLOCK_SKEW_SECONDS = 86_400;

/** A hundred years. */
export const MAX_RETENTION_DAYS = 36_500;

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
  const databaseUrl = readDatabaseUrl(reader);
  const tls = readTls(reader, context);
  if (context.serves && !tls && !isLoopback(host) && !allowCleartext) {
    problems.push(
      `PHM_HOST is ${host}, which other machines can reach, and there is no certificate: set ` +
        'PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE, or PHM_ALLOW_CLEARTEXT=on behind a proxy that ends TLS',
    );
  }
  const masterSecret = readMasterSecretOrigin(reader, dataDir);
  if (context.serves && databaseUrl !== null && masterSecret.kind === 'managed') {
    problems.push(
      'the ledger is in PostgreSQL and the master secret is not set: set PHM_MASTER_KEY or ' +
        'PHM_MASTER_KEY_FILE, the same on every server of this database',
    );
  }
  const sourceSettings = readSourceSettings(reader);
  const sources = readSources(reader, context.knownSources);
  requireSettings(reader, [...sources.entropySources, ...sources.entropyMix], sourceSettings);
  const config: Config = {
    host,
    port: reader.integer('PHM_PORT', 0, 65_535),
    dataDir,
    databaseUrl,
    migrate: reader.choice('PHM_MIGRATE', ['auto', 'off']),
    maxClockSkewSeconds: reader.integer('PHM_MAX_CLOCK_SKEW_SECONDS', 1, MAX_CLOCK_SKEW_SECONDS),
    retentionDays: reader.text('PHM_RETENTION_DAYS')
      ? reader.integer('PHM_RETENTION_DAYS', 1, MAX_RETENTION_DAYS)
      : null,
    masterSecret,
    ...sources,
    sourceSettings,
    tls,
    basePath: readBasePath(reader),
    corsOrigins: readCorsOrigins(reader),
    trustedProxies: readTrustedProxies(reader),
    startWaitSeconds: reader.integer('PHM_START_WAIT_SECONDS', 0, MAX_START_WAIT_SECONDS),
    drainSeconds: reader.integer('PHM_DRAIN_SECONDS', 0, MAX_DRAIN_SECONDS),
    maxConnections: reader.integer('PHM_MAX_CONNECTIONS', 1, MOST_CONNECTIONS),
    demoKeys: reader.choice('PHM_DEMO_KEYS', ['auto', 'on', 'off']),
    rateLimits: reader.flag('PHM_RATE_LIMITS'),
    suiteWorkers: reader.text('PHM_WORKERS')
      ? reader.integer('PHM_WORKERS', 1, MAX_WORKERS)
      : Math.min(MAX_WORKERS, Math.max(1, context.cores - 1)),
    metrics: readMetrics(reader),
    logLevel: reader.choice('PHM_LOG_LEVEL', LOG_LEVELS),
    logFormat: reader.choice('PHM_LOG_FORMAT', LOG_FORMATS),
  };
  const warnings = unknownVariables(env);
  return problems.length === 0 ? { ok: true, config, warnings } : { ok: false, problems, warnings };
}

function readMetrics(reader: Reader): Config['metrics'] {
  if (!reader.text('PHM_METRICS_PORT')) return null;
  const host = reader.text('PHM_METRICS_HOST').replace(/^\[|\]$/g, '');
  return { host, port: reader.integer('PHM_METRICS_PORT', 0, 65_535) };
}

function readTls(reader: Reader, { serves }: ConfigContext): Config['tls'] {
  const certFile = reader.text('PHM_TLS_CERT_FILE');
  const keyFile = reader.text('PHM_TLS_KEY_FILE');
  const requireHybrid = reader.flag('PHM_TLS_REQUIRE_HYBRID');
  if (!certFile && !keyFile) {
    if (requireHybrid && serves) {
      reader.problems.push(
        'PHM_TLS_REQUIRE_HYBRID is on and there is no certificate: set PHM_TLS_CERT_FILE and ' +
          'PHM_TLS_KEY_FILE; if a proxy ends TLS, unset it and require the groups there',
      );
    }
    return null;
  }
  if (!certFile || !keyFile) {
    const missing = certFile ? 'PHM_TLS_KEY_FILE' : 'PHM_TLS_CERT_FILE';
    reader.problems.push(`${missing} is missing: a certificate and its key go together`);
  }
  return { certFile, keyFile, requireHybrid };
}

/**
 * The user and the database are asked for, because the driver would take missing ones from variables
 * that worker threads do not see. The value may hold a password: it is never quoted.
 */
function readDatabaseUrl(reader: Reader): string | null {
  const given = reader.text('PHM_DATABASE_URL');
  const file = reader.text('PHM_DATABASE_URL_FILE');
  if (!given && !file) return null;
  if (given && file) {
    reader.problems.push(
      'PHM_DATABASE_URL and PHM_DATABASE_URL_FILE are both set: keep one of them',
    );
  }
  const text = given || reader.fileText('PHM_DATABASE_URL_FILE');
  if (text !== null && !isPostgresUrl(text)) {
    const where = given ? 'PHM_DATABASE_URL' : 'the text in the file PHM_DATABASE_URL_FILE';
    reader.problems.push(
      `${where} is not the address of a PostgreSQL database: write it as ` +
        'postgres://user:password@host:5432/database, or unset the variable for SQLite',
    );
  }
  for (const name of unknownParameters(text ?? '')) {
    reader.problems.push(
      `the PostgreSQL address has a parameter ${printable(name)} that is not known, or not with this value; ` +
        `known are ${Object.keys(URL_PARAMETERS).join(', ')}, and sslmode is one of ` +
        `${URL_PARAMETERS.sslmode?.join(', ')}`,
    );
  }
  return text ?? '';
}

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  const isPostgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:';
  return isPostgres && url.username !== '' && url.hostname !== '' && url.pathname.length > 1;
}

/** Parameters of an address and what they may be; null: anything. */
const URL_PARAMETERS: Readonly<Record<string, readonly string[] | null>> = {
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  sslrootcert: null,
  sslcert: null,
  sslkey: null,
};

/** The driver passes over what it does not know: a misspelt `sslmode` would be a connection in clear. */
function unknownParameters(text: string): string[] {
  return [...(URL.parse(text)?.searchParams ?? [])]
    .filter(([name, value]) => {
      const allowed = Object.hasOwn(URL_PARAMETERS, name) ? URL_PARAMETERS[name] : [];
      return allowed !== null && !allowed?.includes(value);
    })
    .map(([name]) => name);
}

function readMasterSecretOrigin(reader: Reader, dataDir: string): MasterSecretOrigin {
  const text = reader.text('PHM_MASTER_KEY');
  const path = reader.text('PHM_MASTER_KEY_FILE');
  if (text && path) {
    reader.problems.push('PHM_MASTER_KEY and PHM_MASTER_KEY_FILE are both set: keep one of them');
  }
  const version = reader.text('PHM_MASTER_KEY_VERSION')
    ? { currentVersion: reader.integer('PHM_MASTER_KEY_VERSION', 1, MAX_SECRET_VERSION) }
    : {};
  if (text) return { ...version, kind: 'environment', text };
  if (path) return { ...version, kind: 'file', path: resolve(path) };
  return { ...version, kind: 'managed', path: resolve(dataDir, 'master.key') };
}

/** A misspelt variable would silently leave its default in force, so it is named. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('PHM_'))
    .filter((name) => !Object.hasOwn(ENVIRONMENT, name) && !Object.hasOwn(CLIENT_ENVIRONMENT, name))
    .map((name) => `${printable(name)} is not a variable of this service and has no effect`);
}
