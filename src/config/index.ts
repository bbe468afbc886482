/**
 * Turns environment variables into one checked configuration record.
 *
 * All problems are reported together. Every message names the variable and the fix, and never quotes a
 * value that may be secret.
 */
import { resolve } from 'node:path';
import type { AddressRange } from './address-range.ts';
import {
  type EnabledSources,
  readSourceSettings,
  readSources,
  requireSettings,
  type SourceSettings,
} from './entropy-sources.ts';
import { type ChoiceOf, CLIENT_ENVIRONMENT, ENVIRONMENT } from './environment.ts';
import { type LogConfig, readLogConfig } from './log.ts';
import { type Plans, readPlans } from './plans.ts';
import { AddressError, parsePostgresAddress } from './postgres-address.ts';
import { readTrustedProxies } from './proxies.ts';
import { isLoopback, printable, Reader } from './reader.ts';
import type { TlsProfileName } from './tls-profiles.ts';
import { readBasePath, readCorsOrigins } from './web.ts';

export { type AddressRange, isFirstAddress, parseAddressRange } from './address-range.ts';
export { type ClientConfig, readClientConfig } from './client.ts';
export {
  missingSettings,
  QRNG_PROFILES,
  type QrngProfileName,
  type SourceSettings,
} from './entropy-sources.ts';
export { CLIENT_ENVIRONMENT, ENVIRONMENT } from './environment.ts';
export type { LogConfig, LogKeyOrigin } from './log.ts';
export { cleartextProxyProblem } from './outgoing-proxy.ts';
export {
  monthlyQuotas,
  type Plan,
  type Plans,
  PUBLISHED_PLANS,
  readPlanNames,
} from './plans.ts';
export { type Credential, isLoopback, isServiceUrl } from './reader.ts';

/**
 * Origin of the master secret; `managed` is the file in the data directory. Without `currentVersion`, the
 * highest version is current.
 */
export type MasterSecretOrigin = { readonly currentVersion?: number } & (
  | { readonly kind: 'environment'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'managed'; readonly path: string }
  | {
      readonly kind: 'command';
      readonly command: string;
      /** The environment of the command. */
      readonly env: Readonly<Record<string, string>>;
      /** Shows the operator what the command wrote to standard error. */
      readonly say: (text: string) => void;
    }
);

export interface Config extends EnabledSources {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** PostgreSQL address, or null for SQLite in `dataDir`. */
  readonly databaseUrl: string | null;
  /** `auto`: a server migrates the PostgreSQL schema at startup. */
  readonly migrate: 'auto' | 'off';
  /** Largest difference between the clocks of this machine and PostgreSQL. */
  readonly maxClockSkewSeconds: number;
  /** Days to keep ledger rows; null keeps them for ever. */
  readonly retentionDays: number | null;
  readonly masterSecret: MasterSecretOrigin;
  /** The transparency log. */
  readonly log: LogConfig;
  readonly sourceSettings: SourceSettings;
  readonly tls: {
    readonly certFile: string;
    readonly keyFile: string;
    /** What the listener accepts. */
    readonly profile: TlsProfileName;
  } | null;
  /** Path in front of all addresses, such as `/phm`; empty for the root. */
  readonly basePath: string;
  /** Origins whose web pages may call the API. */
  readonly corsOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly AddressRange[];
  /** How long a starting server waits for its database. */
  readonly startWaitSeconds: number;
  /** How long `/readyz` fails after SIGTERM before the listener closes. */
  readonly drainSeconds: number;
  /** Connections served at once. */
  readonly maxConnections: number;
  readonly demoKeys: 'auto' | 'on' | 'off';
  readonly rateLimits: boolean;
  /** Limits of the box of each recipient: copies, and bytes of their sealed keys. */
  readonly boxLimits: { readonly copies: number; readonly bytes: number };
  /** The plans that an account may have. */
  readonly plans: Plans;
  readonly suiteWorkers: number;
  /** The listener for Prometheus, or null for none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  readonly logLevel: ChoiceOf<'PHM_LOG_LEVEL'>;
  /** `auto` is `pretty` if stderr is a terminal, otherwise `json`. */
  readonly logFormat: ChoiceOf<'PHM_LOG_FORMAT'>;
  /** What to do if files differ from the release. */
  readonly integrity: ChoiceOf<'PHM_INTEGRITY'>;
}

/** Facts of the machine and the stages that no variable sets. */
interface ConfigContext {
  readonly cores: number;
  readonly knownSources: readonly string[];
  /** True for a server. Commands do not listen, and most need no secret. */
  readonly serves: boolean;
  /** Shows the operator a message of the command in `PHM_MASTER_KEY_COMMAND`. */
  readonly say?: (text: string) => void;
}

/** Warnings accompany problems too, because a missing variable is often a misspelt one. */
export type ConfigResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }
);

const [, MAX_WORKERS] = ENVIRONMENT.PHM_WORKERS.bounds;

/** Also bounds `phm ledger prune --older-than`. */
export const [, MAX_RETENTION_DAYS] = ENVIRONMENT.PHM_RETENTION_DAYS.bounds;

/** Variables of which one names the master secret. */
const SECRET_ORIGINS = ['PHM_MASTER_KEY', 'PHM_MASTER_KEY_FILE', 'PHM_MASTER_KEY_COMMAND'] as const;

/** Reads the configuration from an environment. Returns problems instead of throwing; the caller prints them. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  context: ConfigContext,
): ConfigResult {
  const problems: string[] = [];
  const reader = new Reader(env, problems);
  // Also those that matter only with another: a value in a wrong form is refused in any case.
  for (const name of Object.keys(ENVIRONMENT)) reader.text(name as keyof typeof ENVIRONMENT);
  const host = reader.text('PHM_HOST').replace(/^\[|\]$/g, '');
  const allowCleartext = reader.flag('PHM_ALLOW_CLEARTEXT');
  const dataDir = resolve(reader.text('PHM_DATA_DIR'));
  const databaseUrl = readDatabaseUrl(reader);
  const tls = readTls(reader, context);
  if (context.serves && !tls && !isLoopback(host) && !allowCleartext) {
    problems.push(
      `PHM_HOST is ${host}, which other machines can reach, but there is no certificate: set ` +
        'PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE, or PHM_ALLOW_CLEARTEXT=on behind a proxy that terminates TLS',
    );
  }
  const masterSecret = readMasterSecretOrigin(reader, dataDir, env, context);
  if (context.serves && databaseUrl !== null && masterSecret.kind === 'managed') {
    problems.push(
      'PHM_MASTER_KEY is missing, which a ledger in PostgreSQL requires: set PHM_MASTER_KEY_FILE, ' +
        'PHM_MASTER_KEY_COMMAND or PHM_MASTER_KEY to the same secret on every server of this database',
    );
  }
  const sourceSettings = readSourceSettings(reader);
  const sources = readSources(reader, context.knownSources);
  requireSettings(reader, [...sources.entropySources, ...sources.entropyMix], sourceSettings);
  const config: Config = {
    host,
    port: reader.integer('PHM_PORT'),
    dataDir,
    databaseUrl,
    migrate: reader.choice('PHM_MIGRATE'),
    maxClockSkewSeconds: reader.integer('PHM_MAX_CLOCK_SKEW_SECONDS'),
    retentionDays: reader.text('PHM_RETENTION_DAYS') ? reader.integer('PHM_RETENTION_DAYS') : null,
    masterSecret,
    log: readLogConfig(reader, dataDir),
    ...sources,
    sourceSettings,
    tls,
    basePath: readBasePath(reader),
    corsOrigins: readCorsOrigins(reader),
    trustedProxies: readTrustedProxies(reader),
    startWaitSeconds: reader.integer('PHM_START_WAIT_SECONDS'),
    drainSeconds: reader.integer('PHM_DRAIN_SECONDS'),
    maxConnections: reader.integer('PHM_MAX_CONNECTIONS'),
    demoKeys: reader.choice('PHM_DEMO_KEYS'),
    rateLimits: reader.flag('PHM_RATE_LIMITS'),
    boxLimits: {
      copies: reader.integer('PHM_BOX_COPIES'),
      bytes: reader.integer('PHM_BOX_MIB') * 2 ** 20,
    },
    plans: readPlans(reader),
    suiteWorkers: reader.text('PHM_WORKERS')
      ? reader.integer('PHM_WORKERS')
      : Math.min(MAX_WORKERS, context.cores),
    metrics: readMetrics(reader),
    logLevel: reader.choice('PHM_LOG_LEVEL'),
    logFormat: reader.choice('PHM_LOG_FORMAT'),
    integrity: reader.choice('PHM_INTEGRITY'),
  };
  problems.push(...misnamedVariables(env));
  if (context.serves && env.PHM_TLS_REQUIRE_HYBRID?.trim()) problems.push(FORMER_HYBRID);
  const warnings = [...unknownVariables(env), ...emptyDirectory(env)];
  return problems.length === 0 ? { ok: true, config, warnings } : { ok: false, problems, warnings };
}

function readMetrics(reader: Reader): Config['metrics'] {
  if (!reader.text('PHM_METRICS_PORT')) return null;
  const host = reader.text('PHM_METRICS_HOST').replace(/^\[|\]$/g, '');
  return { host, port: reader.integer('PHM_METRICS_PORT') };
}

function readTls(reader: Reader, { serves }: ConfigContext): Config['tls'] {
  const certFile = reader.text('PHM_TLS_CERT_FILE');
  const keyFile = reader.text('PHM_TLS_KEY_FILE');
  const profile = reader.choice('PHM_TLS_PROFILE');
  if (!certFile && !keyFile) {
    if (profile !== 'default' && serves) {
      reader.problems.push(
        `PHM_TLS_PROFILE is ${profile} but there is no certificate: set PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE; ` +
          'if a proxy terminates TLS, unset it and set what it stands for there',
      );
    }
    return null;
  }
  if (!certFile || !keyFile) {
    const missing = certFile ? 'PHM_TLS_KEY_FILE' : 'PHM_TLS_CERT_FILE';
    reader.problems.push(`${missing} is missing: set the certificate and its key together`);
  }
  return { certFile, keyFile, profile };
}

/** Reads the address of PostgreSQL. Messages never quote the value, which may contain a password. */
function readDatabaseUrl(reader: Reader): string | null {
  const given = reader.text('PHM_DATABASE_URL');
  const file = reader.text('PHM_DATABASE_URL_FILE');
  if (!given && !file) return null;
  if (given && file) {
    reader.problems.push(
      'PHM_DATABASE_URL and PHM_DATABASE_URL_FILE are both set: keep one of them',
    );
  }
  if (file) reader.requireOwn('PHM_DATABASE_URL_FILE');
  const text = given || reader.fileText('PHM_DATABASE_URL_FILE');
  const problem = text === null ? null : addressProblem(text);
  if (problem !== null) {
    const where = given ? 'PHM_DATABASE_URL' : 'the content of the file in PHM_DATABASE_URL_FILE';
    reader.problems.push(`${where} ${problem}`);
  }
  return text ?? '';
}

function addressProblem(text: string): string | null {
  try {
    parsePostgresAddress(text);
    return null;
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}

function readMasterSecretOrigin(
  reader: Reader,
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
  { say = () => {} }: ConfigContext,
): MasterSecretOrigin {
  const text = reader.text('PHM_MASTER_KEY');
  const path = reader.text('PHM_MASTER_KEY_FILE');
  const command = reader.text('PHM_MASTER_KEY_COMMAND');
  const given = SECRET_ORIGINS.filter((name) => reader.text(name));
  if (given.length > 1) {
    const all = given.length === 2 ? 'both' : 'all';
    reader.problems.push(`${given.join(' and ')} are ${all} set: keep one of them`);
  }
  const version = reader.text('PHM_MASTER_KEY_VERSION')
    ? { currentVersion: reader.integer('PHM_MASTER_KEY_VERSION') }
    : {};
  if (text) return { ...version, kind: 'environment', text };
  if (path) return { ...version, kind: 'file', path: resolve(path) };
  if (command) return { ...version, kind: 'command', command, env: commandEnvironment(env), say };
  return { ...version, kind: 'managed', path: resolve(dataDir, 'master.key') };
}

/** Returns the environment without the variables of the master secret. */
function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^PHM_MASTER_KEY/i.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(passed);
}

/** A warning of an unknown variable would let a server start that refuses fewer clients than its operator wants. */
const FORMER_HYBRID =
  'PHM_TLS_REQUIRE_HYBRID has no effect any more: set PHM_TLS_PROFILE=post-quantum in its place (on), or remove it (off)';

/** The name of a variable as an env file leaves it that nothing but a shell can read: `export PHM_PORT`, `PHM_PORT `. */
const MISNAMED = /^\s*(?:export\s+)?(PHM_\w+)\s*$/;

/** Returns a problem for each known variable whose name came with more than the name: its value would have no effect. */
function misnamedVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).flatMap((name) => {
    const [, meant = ''] = MISNAMED.exec(name) ?? [];
    if (meant === '' || meant === name || !isKnown(meant)) return [];
    return [
      `the variable "${printable(name)}" is not ${meant}: write ${meant}=… in the env file, without "export" or spaces`,
    ];
  });
}

/** An unset variable in a script is a likely reason, and the default a new ledger in the working directory. */
function emptyDirectory({
  PHM_DATA_DIR: text,
}: Readonly<Record<string, string | undefined>>): string[] {
  if (text === undefined || text.trim() !== '') return [];
  return [`PHM_DATA_DIR is empty, so it has its default: ${ENVIRONMENT.PHM_DATA_DIR.default}`];
}

const isKnown = (name: string): boolean =>
  Object.hasOwn(ENVIRONMENT, name) || Object.hasOwn(CLIENT_ENVIRONMENT, name);

/** Returns a warning for each unknown variable: a misspelt one would silently leave the default in force. */
function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('PHM_'))
    .filter((name) => !isKnown(name))
    .map(
      (name) =>
        `${printable(name)} is not a variable of this service and has no effect: check its spelling`,
    );
}
