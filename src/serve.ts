/**
 * The server, wired by hand, in order:
 *
 *   configuration → database → master secret → workers → HTTP → banner → until told to end
 *
 * While the database is away HTTP comes first, unready: `StartingService` stands in for the workers.
 */
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import {
  apiKeyHint,
  DEMO_ACCOUNTS,
  type DemoKeysPolicy,
  demoKeysPolicy,
  hashApiKey,
  MONTHLY_QUOTAS,
} from './accounts/index.ts';
import { wipe } from './bytes.ts';
import { systemClock } from './clock.ts';
import { type Config, isLoopback } from './config/index.ts';
import { isSourceName, sourceAssessment, sourceCreditBits } from './entropy/index.ts';
import { isBuilt } from './http/pages/built-pages.ts';
import { loadTls } from './http/tls.ts';
import { asStarted, commandLine } from './launcher.ts';
import {
  type ClockReading,
  describeStore,
  type LedgerStore,
  Maintenance,
  migrateStore,
  openStore,
  removedSome,
  requireBelieved,
  type StartCheck,
  storeLocation,
} from './ledger/index.ts';
import type { MasterSecret } from './proof/index.ts';
import { announce } from './serve/banner.ts';
import { logLatch, logSuite, logUnvouchedKeys } from './serve/latch-log.ts';
import { checkDatabase, watchIntegrity } from './serve/ledger-integrity.ts';
import { logClock, logLedger } from './serve/ledger-log.ts';
import {
  closeListeners,
  DASHBOARD_FOLDER,
  type Lifecycle,
  type Listeners,
  openListeners,
} from './serve/listeners.ts';
import { secretExposures } from './serve/secret-exposure.ts';
import { whenDatabaseAnswers } from './serve/start-wait.ts';
import { Supervisor } from './serve/supervisor.ts';
import {
  checkMasterSecret,
  KeyService,
  loadMasterSecret,
  readMasterSecret,
  type ServiceSources,
  StartingService,
} from './service/index.ts';
import { openMetrics, type ServiceMetrics } from './telemetry/index.ts';
import { prettyLines } from './telemetry/log-pretty.ts';
import { LogWriter } from './telemetry/log-writer.ts';

/** How long requests under way may take to finish once the listener has closed. */
const DRAIN_LIMIT_MS = 30_000;

/** How long the last log lines may take at the end. */
const LOG_FLUSH_MS = 1_000;

/** How long the last traces may take at the end. */
const TRACES_FLUSH_MS = 2_000;

export interface ServeOptions {
  /** Write one line with the address to stdout. */
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words that start this program, for the commands that the banner names. */
  readonly launcher: string;
  /** Told of a broken invariant; it MUST end the process. */
  readonly onFatal: (error: Error) => void;
}

/** Starts the server and resolves with the exit code once it has ended. */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const { json, env, onFatal } = options;
  const color = showsColors(env);
  const log = new LogWriter(process.stderr.fd, lineFormat(config, color));
  const formatters = { log: (fields: object) => withCommands(fields, options) };
  const logger = pino({ level: config.logLevel, base: null, formatters }, log);
  const demoPolicy = demoKeysPolicy(config.demoKeys, {
    loopbackListener: isLoopback(config.host),
    embeddedDatabase: config.databaseUrl === null,
  });
  const tls = config.tls && loadTls(config.tls);
  if (tls) logger.info({ cipherSuites: tls.ciphers, groups: tls.ecdhCurve }, 'TLS 1.3');
  const metrics = await countFor(config);
  const lifecycle: Lifecycle = { draining: false, demoKeysEnded: false, demoApiKey: null };
  const starting = new StartingService();
  const parts = { config, env, logger, log, tls, demoPolicy, metrics, lifecycle, starting };
  let listeners: Promise<Listeners> | undefined;
  const supervisor = new Supervisor(env, (reason) =>
    logger.error({ reason }, 'systemd cannot be told how the server is'),
  );
  const open = async () => {
    const opened = await openListeners(parts);
    supervisor.ready(`listening on ${opened.address}`, () => starting.ping());
    return opened;
  };
  const openOnce = () => (listeners ??= open());
  // Before the start, which may wait for the database; and a signal may come as soon as the banner is read.
  const ended = endSignal();
  const started = { config, logger, metrics, demoPolicy, lifecycle, onFatal };
  const location = storeLocation(config);
  let check: StartCheck | null = null;
  const attempt = async () => {
    check?.pending?.stop();
    check = await checkDatabase(location);
    return startService(started);
  };
  const start = whenDatabaseAnswers(attempt, {
    limitMs: config.startWaitSeconds * 1000,
    logger,
    onWaiting: openOnce,
  });
  const service = await Promise.race([start, ended]).catch(async (error) => {
    await closeListeners(await listeners?.catch(() => undefined));
    throw error;
  });
  if (typeof service === 'string') return endStart(service, logger, log);
  starting.started(service);
  const { app, address, metricsServer, tracing } = await openOnce().catch(async (error) => {
    await service.close();
    throw error;
  });
  const { demoApiKey } = lifecycle;
  announce({
    address,
    json,
    dashboard: isBuilt(DASHBOARD_FOLDER),
    demoApiKey,
    demoKeysEnded: lifecycle.demoKeysEnded,
    data: config.databaseUrl === null ? config.dataDir : describeStore(storeLocation(config)),
    commandLine: (words) => commandLine(options, words),
    requiresHybrid: config.tls?.requireHybrid ?? false,
    metricsAddress: metricsServer?.address ?? null,
    color,
  });
  const maintenance = startMaintenance(config, logger, metrics);
  const integrity = watchIntegrity({ location, start: check, logger, metrics, service });
  const signal = await ended;
  lifecycle.draining = true;
  supervisor.stopping();
  logger.info({ signal }, 'draining');
  integrity?.stop();
  await Promise.all([
    drain(app, service, logger, signal === 'SIGTERM' ? config.drainSeconds * 1000 : 0),
    maintenance.stop(),
  ]);
  supervisor.close();
  await metricsServer?.close();
  const tracesOut = await (tracing?.close(TRACES_FLUSH_MS) ?? true);
  if (!tracesOut) logger.warn({ reason: 'no answer in time' }, 'traces cannot be exported');
  logger.info('ended');
  await log.flush(LOG_FLUSH_MS);
  // An export that still waits for its collector would hold up the end.
  if (!tracesOut) process.exit(0);
  return 0;
}

/** Ends a server that was told to before it had started: it has released nothing, and nothing is under way. */
async function endStart(signal: NodeJS.Signals, logger: Logger, log: LogWriter): Promise<never> {
  logger.info({ signal }, 'ended before the start was complete');
  await log.flush(LOG_FLUSH_MS);
  // An attempt at the database, or the start of a worker, may be under way.
  process.exit(0);
}

interface StartOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: ServiceMetrics | null;
  readonly demoPolicy: DemoKeysPolicy;
  /** Kept up to date from here on. */
  readonly lifecycle: Lifecycle;
  readonly onFatal: (error: Error) => void;
}

async function startService({
  config,
  logger,
  metrics,
  demoPolicy,
  lifecycle,
  onFatal,
}: StartOptions): Promise<KeyService> {
  const location = storeLocation(config);
  if (location.kind === 'sqlite' || config.migrate === 'auto') {
    const { from, to } = await migrateStore(location);
    if (from > 0 && from < to) logger.info({ from, to }, 'the schema was brought up to date');
  }
  const store = await openStore(location, MONTHLY_QUOTAS, (message) => logger.warn(message));
  let secret: MasterSecret;
  let clock: ClockReading;
  try {
    clock = await readClock(store, logger, config);
    // A database that has a secret already must get that one: none is made in its place.
    const isNew = (await store.secretChecks()).size === 0;
    secret = isNew ? loadMasterSecret(config.masterSecret) : readMasterSecret(config.masterSecret);
    await checkMasterSecret(store, secret, Date.now());
    const versions = secret.versions.map(({ version }) => version);
    logger.info({ versions, current: secret.currentVersion }, 'master secret');
    for (const exposure of secretExposures(config.masterSecret)) logger.warn(exposure);
    await store.maintain(systemClock).catch(({ message, cause }: Error) => {
      const reason = cause instanceof Error ? cause.message : message;
      logger.warn({ reason }, 'the upkeep of the ledger failed');
    });
    lifecycle.demoKeysEnded = demoPolicy === 'admit-direct' && (await store.hasOwnApiKeys());
    const hasDemoKeys = demoPolicy !== 'refuse' && !lifecycle.demoKeysEnded;
    lifecycle.demoApiKey = hasDemoKeys ? await addDemoAccounts(store) : null;
  } finally {
    await store.close();
  }
  try {
    const sources = enabledSources(config);
    logCredits(logger, sources);
    return await KeyService.start({
      store: location,
      sources,
      secret,
      suiteWorkers: config.suiteWorkers,
      clock: systemClock,
      onLatch: (defect, released) => logLatch(logger, defect, released),
      onFailedVerdict: (verdict) => logger.warn({ ...verdict }, 'statistical gate: failed'),
      onUnvouchedKeys: (keyIds, lastGoodMs) => logUnvouchedKeys(logger, keyIds, lastGoodMs),
      onSuiteLate: (isLate) => logSuite(logger, isLate),
      onUnvouchedEnd: (reason) =>
        logger.warn({ reason }, 'the last plain keys could not be judged'),
      ...(metrics && { observer: metrics }),
      onSourceEvent: (source, event) => {
        const { kind, detail } = event;
        metrics?.sourceEvent(source, event);
        const level = kind === 'delivering' ? 'info' : kind === 'latched' ? 'error' : 'warn';
        logger[level]({ source, detail }, `entropy source: ${kind}`);
      },
      clockAtStart: clock,
      onClockChange: (reading) => logClock(logger, reading, config.retentionDays),
      onLedgerChange: (status, before) => logLedger(logger, status, before),
      onOwnApiKeys: () => {
        if (demoPolicy !== 'admit-direct' || lifecycle.demoKeysEnded) return;
        lifecycle.demoKeysEnded = true;
        logger.info('demo keys have ended: an API key was issued');
      },
      onFatal,
    });
  } finally {
    wipe(...secret.versions.map((one) => one.secret));
  }
}

/**
 * Holds the clock against the ledger before anything rests on it. With PostgreSQL a wrong one ends the start: this server
 * would have other months and other times than those beside it. With SQLite it may be right, and nothing is lost meanwhile.
 */
async function readClock(
  store: LedgerStore,
  logger: Logger,
  { retentionDays }: Config,
): Promise<ClockReading> {
  const reading = await store.readClock(systemClock);
  if (reading.against === 'database') requireBelieved(reading);
  else if (reading.doubt !== null) logClock(logger, reading, retentionDays);
  return reading;
}

/** Reasons may end with a command; it is logged so that it works on this server's store as it is pasted. */
function withCommands(fields: object, options: ServeOptions): Record<string, unknown> {
  const { reason } = fields as { reason?: unknown };
  return typeof reason === 'string'
    ? { ...fields, reason: asStarted(reason, options) }
    : { ...fields };
}

/** How log lines are written: as they come, or for people on a terminal. */
function lineFormat({ logFormat }: Config, color: boolean): ((line: string) => string) | undefined {
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY)) return undefined;
  return prettyLines({ color });
}

/** Whether what goes to stderr is seen on a terminal, by somebody who wants colours. */
function showsColors({ NO_COLOR, TERM }: ServeOptions['env']): boolean {
  return Boolean(process.stderr.isTTY) && !NO_COLOR && TERM !== 'dumb';
}

/** The metrics, where there is a listener for them. */
async function countFor(config: Config): Promise<ServiceMetrics | null> {
  if (!config.metrics) return null;
  const sources = [...config.entropySources, ...config.entropyMix].filter(isSourceName);
  const ledgerBackend = config.databaseUrl === null ? 'sqlite' : 'postgresql';
  return openMetrics({ sources: [...new Set(sources)], ledgerBackend });
}

function startMaintenance(
  config: Config,
  logger: Logger,
  metrics: ServiceMetrics | null,
): Maintenance {
  return new Maintenance({
    store: storeLocation(config),
    retentionDays: config.retentionDays,
    onPruned: (report) => {
      if (removedSome(report)) logger.info(report, 'old rows were removed from the ledger');
      else logger.warn(report, 'no old row was removed from the ledger, although some are left');
    },
    onFailure: (reason) => {
      metrics?.upkeepFailed();
      logger.error({ reason }, 'the upkeep of the ledger failed');
    },
  });
}

function enabledSources(config: Config): ServiceSources {
  const names = config.entropySources.filter(isSourceName);
  const mix = config.entropyMix.filter(isSourceName);
  const byDefault = names.find((name) => name === config.entropySource);
  if (!byDefault) throw new Error('the configuration let an unknown entropy source through');
  return { names, default: byDefault, mix, settings: config.sourceSettings };
}

/** Says on whose word sources are credited. The system source's credit is the same for everyone. */
function logCredits(logger: Logger, { names, mix, settings }: ServiceSources): void {
  for (const source of new Set([...names, ...mix])) {
    const creditBits = sourceCreditBits(source, settings);
    if (source === 'os' || creditBits === 0) continue;
    const assessment = sourceAssessment(source, settings);
    logger.info({ source, creditBits, assessment }, 'entropy is credited');
  }
}

/** Adds what is missing and returns a demo key that is active; one that was revoked stays revoked. */
async function addDemoAccounts(store: LedgerStore): Promise<string | null> {
  const createdMs = Date.now();
  let active: string | null = null;
  for (const { accountId, name, plan, apiKeyId, apiKey } of DEMO_ACCOUNTS) {
    await store.addAccount({ accountId, name, plan, demo: true, createdMs });
    const record = { apiKeyId, accountId, hint: apiKeyHint(apiKey), createdMs, revokedMs: null };
    await store.addApiKey(record, hashApiKey(apiKey));
    const [principal] = await store.authenticate([hashApiKey(apiKey)], createdMs);
    if (principal) active ??= apiKey;
  }
  return active;
}

/** Resolves with the first signal that asks for the end; a second one ends at once. */
function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let ending = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (ending) process.exit(1);
        ending = true;
        resolve(signal);
      });
    }
  });
}

/** Gives notice, closes the listener, answers what is under way, ends the workers. */
async function drain(
  app: FastifyInstance,
  service: KeyService,
  logger: Logger,
  noticeMs: number,
): Promise<void> {
  setTimeout(() => process.exit(1), noticeMs + DRAIN_LIMIT_MS).unref();
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
  await app.close();
  logger.info({ sources: service.sourceStatuses() }, 'every request is answered');
  await service.close();
}
