/** What a server listens with: HTTP, and the page for Prometheus. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { loadDirectoryId, newDirectoryId } from '../files/data-directory.ts';
import { connectionsWithin, openFilesLimit } from '../files/open-files.ts';
import { buildApp } from '../http/app.ts';
import { Connections, RESERVE } from '../http/connections.ts';
import { authorityOf, listenError } from '../listening.ts';
import { MetricsServer, openTracing, type ServiceMetrics } from '../telemetry/index.ts';
import type { ServerParts } from './parts.ts';
import type { Supervisor } from './supervisor.ts';

/** What `npm run build` makes of dashboard/. */
export const DASHBOARD_FOLDER: string = fileURLToPath(
  new URL('../../build/dashboard', import.meta.url),
);

export interface Listeners {
  readonly app: FastifyInstance;
  /** With the base path. */
  readonly address: string;
  readonly metricsServer: MetricsServer | null;
  readonly tracing: Awaited<ReturnType<typeof openTracing>>;
}

/** The listeners, opened once: when the key service has started, or when its start has to wait. */
export class LazyListeners {
  readonly #parts: ServerParts;
  readonly #supervisor: Supervisor;
  #listeners: Promise<Listeners> | undefined;

  constructor(parts: ServerParts, supervisor: Supervisor) {
    this.#parts = parts;
    this.#supervisor = supervisor;
  }

  open(): Promise<Listeners> {
    this.#listeners ??= this.#open();
    return this.#listeners;
  }

  /** Ends what listens, when the start has failed. */
  async close(): Promise<void> {
    const listeners = await this.#listeners?.catch(() => undefined);
    await Promise.all([listeners?.app.close(), listeners?.metricsServer?.close()]);
  }

  async #open(): Promise<Listeners> {
    const { starting } = this.#parts;
    const listeners = await openListeners(this.#parts);
    this.#supervisor.ready(`listening on ${listeners.address}`, () => starting.ping());
    return listeners;
  }
}

/** Listens. Throws `SetupError` when an address cannot be had; nothing listens then. */
async function openListeners(parts: ServerParts): Promise<Listeners> {
  const { config, options, logger, log, metrics, lifecycle, starting } = parts;
  const tracing = await openTracing(options.env, logger);
  const connections = boundConnections(config, logger);
  const app = await buildApp({
    service: starting,
    clock: systemClock,
    logger,
    entropySource: config.entropySource,
    entropySources: config.entropySources,
    demoKeys: parts.demoPolicy,
    demoApiKey: () => lifecycle.demoApiKey,
    haveDemoKeysEnded: () => lifecycle.demoKeysEnded,
    rateLimits: config.rateLimits,
    tls: parts.tls,
    basePath: config.basePath,
    corsOrigins: config.corsOrigins,
    dashboardFolder: DASHBOARD_FOLDER,
    trustedProxies: config.trustedProxies,
    isDraining: () => lifecycle.draining,
    connections,
    directoryId: config.databaseUrl === null ? loadDirectoryId(config.dataDir) : newDirectoryId(),
    metrics,
    tracing,
  });
  metrics?.watch({
    load: () => starting.load(),
    readiness: () => starting.checkReadiness(),
    clock: () => starting.clockReading(),
    retentionDays: config.retentionDays,
    isDraining: () => lifecycle.draining,
    lostLogLines: () => log.lost,
    connections: () => connections.counts,
  });
  const address = `${await listen(app, config)}${config.basePath}`;
  const metricsServer = await listenForMetrics(metrics, config, logger).catch(async (error) => {
    await app.close();
    throw error;
  });
  return { app, address, metricsServer, tracing };
}

/** The bound on connections: the configured one, or what the limit of open files leaves of it. */
function boundConnections({ maxConnections }: Config, logger: Logger): Connections {
  const openFiles = openFilesLimit();
  const max = connectionsWithin(openFiles, maxConnections, RESERVE);
  if (max < maxConnections) {
    const wanted = { PHM_MAX_CONNECTIONS: maxConnections, openFiles, max };
    logger.warn(wanted, 'the limit of open files allows fewer connections');
  }
  return new Connections({
    max,
    onTurnedAway: (counts) => logger.warn({ max, ...counts }, 'connections were turned away'),
  });
}

/** Listens for Prometheus, if it is configured. */
async function listenForMetrics(
  metrics: ServiceMetrics | null,
  config: Config,
  logger: Logger,
): Promise<MetricsServer | null> {
  if (!metrics || !config.metrics) return null;
  const onFailure = ({ name }: Error) =>
    logger.warn({ reason: name }, 'the metrics could not be served');
  return MetricsServer.start(metrics, { ...config.metrics, onFailure });
}

/** Listens, and says what to change when the address cannot be had. */
async function listen(app: FastifyInstance, config: Config): Promise<string> {
  try {
    // A name of two addresses, of which a server takes one.
    const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
    await app.listen({ host, port: config.port });
  } catch (cause) {
    throw listenError(cause, {
      problem: 'cannot listen',
      host: config.host,
      port: config.port,
      portTaken: 'choose another PHM_PORT',
      variables: 'PHM',
    });
  }
  const authority = authorityOf(app.server.address() as AddressInfo);
  return `${config.tls ? 'https' : 'http'}://${authority}`;
}
