/** The end of a server: by a signal, after the requests under way are answered. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { KeyService } from '../service/index.ts';
import type { Listeners } from './listeners.ts';
import type { ServerParts } from './parts.ts';
import type { Supervisor } from './supervisor.ts';

/** How long requests under way may take to finish once the listener has closed. */
const DRAIN_LIMIT_MS = 30_000;

/** How long the last log lines may take at the end. */
const LOG_FLUSH_MS = 1_000;

/** How long the last traces may take at the end. */
const TRACES_FLUSH_MS = 2_000;

/** What runs in a server that has started. */
export interface RunningServer {
  readonly service: KeyService;
  readonly listeners: Listeners;
  readonly supervisor: Supervisor;
  readonly maintenance: { stop(): Promise<void> };
  readonly integrity: { stop(): void } | null;
}

/** Resolves with the first signal that asks for the end; a second one ends at once. */
export function endSignal(): Promise<NodeJS.Signals> {
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

/** Ends a server that was told to before it had started: it has released nothing, and nothing is under way. */
export async function endStart(
  signal: NodeJS.Signals,
  { logger, log }: ServerParts,
): Promise<never> {
  logger.info({ signal }, 'ended before the start was complete');
  await log.flush(LOG_FLUSH_MS);
  // An attempt at the database, or the start of a worker, may be under way.
  process.exit(0);
}

/** Ends a running server, and resolves with the exit code. */
export async function endServer(
  signal: NodeJS.Signals,
  { config, logger, log, lifecycle }: ServerParts,
  { service, listeners, supervisor, maintenance, integrity }: RunningServer,
): Promise<number> {
  const { app, metricsServer, tracing } = listeners;
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
