/** The listeners of a server: HTTP, and the page for Prometheus. */
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { systemClock } from '../clock.ts';
import { notAfterMs } from '../config/certificate.ts';
import type { Config } from '../config/index.ts';
import { loadDirectoryId, newDirectoryId } from '../files/data-directory.ts';
import { connectionsWithin, openFilesLimit, REFUSED_CONNECTIONS } from '../files/open-files.ts';
import { buildApp } from '../http/app.ts';
import { Connections } from '../http/connections.ts';
import { databaseHosts, storeLocation } from '../ledger/index.ts';
import { authorityOf, listenError } from '../process/listening.ts';
import {
  MetricsServer,
  openTracing,
  type Resources,
  type ServiceMetrics,
} from '../telemetry/index.ts';
import { DASHBOARD_FOLDER, type ServerParts } from './parts.ts';

export interface Listeners {
  readonly app: FastifyInstance;
  /** Includes the base path. */
  readonly address: string;
  readonly metricsServer: MetricsServer | null;
  readonly tracing: Awaited<ReturnType<typeof openTracing>>;
}

/** The application, ready to listen. */
export interface BuiltApp {
  readonly app: FastifyInstance;
  readonly tracing: Awaited<ReturnType<typeof openTracing>>;
}

/** Builds the application. It calls `parts.starting`, so it may exist before the key service. */
export async function buildListeners(parts: ServerParts): Promise<BuiltApp> {
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
    plans: config.plans,
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
    log: () => starting.log.status(),
    clock: () => starting.clockReading(),
    retentionDays: config.retentionDays,
    databaseHosts: databaseHosts(storeLocation(config)),
    databaseHost: () => starting.databaseHost(),
    isDraining: () => lifecycle.draining,
    lostLogLines: () => log.lost,
    connections: () => connections.counts,
    resources: resourcesOf(parts),
  });
  await app.ready();
  return { app, tracing };
}

/** Returns what the metrics show of the machine. Folders without data of this server are left out. */
function resourcesOf({ config, tls, starting }: ServerParts): Resources {
  const { dataDir, databaseUrl, log } = config;
  return {
    clock: systemClock,
    certificateEndMs: tls && notAfterMs(tls.cert),
    folders: [
      ...(databaseUrl === null ? [{ dir: 'data', path: dataDir } as const] : []),
      ...(log.mode !== 'off' ? [{ dir: 'log_state', path: dirname(log.stateFile) } as const] : []),
    ],
    databaseBytes: starting.databaseBytes,
  };
}

/** Opens all listeners. If an address cannot be used, closes them and throws `SetupError`. */
export async function openListeners(
  { app, tracing }: BuiltApp,
  { config, logger, metrics }: ServerParts,
): Promise<Listeners> {
  const address = `${await listen(app, config)}${config.basePath}`;
  const metricsServer = await listenForMetrics(metrics, config, logger).catch(async (error) => {
    await app.close();
    throw error;
  });
  return { app, address, metricsServer, tracing };
}

/** Returns the limit of connections: the configured one, or fewer if the limit of open files is too low. */
function boundConnections({ maxConnections }: Config, logger: Logger): Connections {
  const openFiles = openFilesLimit();
  const max = connectionsWithin(openFiles, maxConnections, REFUSED_CONNECTIONS);
  if (max < maxConnections) {
    const wanted = { PHM_MAX_CONNECTIONS: maxConnections, openFiles, max };
    logger.warn(wanted, 'the limit of open files allows fewer connections');
  }
  return new Connections({
    max,
    onTurnedAway: (counts) => logger.warn({ max, ...counts }, 'connections were turned away'),
  });
}

/** Opens the listener for Prometheus if it is configured. */
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

/** Opens the HTTP listener. If the address cannot be used, the error says what to change. */
async function listen(app: FastifyInstance, config: Config): Promise<string> {
  try {
    // `localhost` has two addresses, and a server listens on one.
    const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
    // Fastify takes a listener of its own for one without TLS.
    const listenTextResolver = (address: string) =>
      `Server listening at ${config.tls ? address.replace(/^http:/, 'https:') : address}`;
    await app.listen({ host, port: config.port, listenTextResolver });
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
