/** Shuts a server down on a signal, after the requests in progress are answered. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { SECOND_MS } from '../clock.ts';
import type { KeyService } from '../service/index.ts';
import type { Listeners } from './listeners.ts';
import type { ServerParts } from './parts.ts';
import type { Supervisor } from './supervisor.ts';

/** Time for requests in progress after the listener has closed. */
const DRAIN_LIMIT_MS = 30_000;

/** Time for the last log lines at shutdown. */
const LOG_FLUSH_MS = 1_000;

/** Time for the last traces at shutdown. */
const TRACES_FLUSH_MS = 2_000;

/** The running parts of a server. */
interface RunningServer {
  readonly service: KeyService;
  readonly listeners: Listeners;
  readonly supervisor: Supervisor;
  readonly maintenance: { stop(): Promise<void> };
  readonly integrity: { stop(): void } | null;
  /** The watch on readiness, which draining ends. */
  readonly readiness: { stop(): void };
}

/** Resolves with the first SIGTERM or SIGINT. A second one exits at once with code 1. */
export function endSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let ending = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (ending) cutShort(logger, `a second signal, ${signal}`);
        ending = true;
        resolve(signal);
      });
    }
  });
}

function cutShort(logger: Logger, reason: string): never {
  logger.error({ reason }, 'the shutdown was cut short');
  process.exit(1);
}

/** Exits with code 0 if a signal arrives before startup is complete. No key was released, and no request is in progress. */
export async function endStart(
  signal: NodeJS.Signals,
  { logger, log }: ServerParts,
): Promise<never> {
  logger.info({ signal }, 'shut down before startup was complete');
  await log.flush(LOG_FLUSH_MS);
  // An attempt to reach the database, or the start of a worker, may be in progress.
  process.exit(0);
}

/** Writes the waiting log lines of a server that could not start, so that the reason comes last, and throws it. */
export async function endFailed(error: unknown, { log }: ServerParts): Promise<never> {
  await log.flush(LOG_FLUSH_MS);
  throw error;
}

/** Shuts a running server down. Resolves with the exit code. */
export async function endServer(
  signal: NodeJS.Signals,
  { config, logger, log, lifecycle }: ServerParts,
  { service, listeners, supervisor, maintenance, integrity, readiness }: RunningServer,
): Promise<number> {
  const { app, metricsServer, tracing } = listeners;
  lifecycle.draining = true;
  supervisor.stopping();
  logger.info({ signal }, 'draining');
  // Long polls would hold the listener for half a minute.
  service.deliveries.endWaits();
  integrity?.stop();
  readiness.stop();
  await Promise.all([
    drain(app, service, logger, signal === 'SIGTERM' ? config.drainSeconds * 1000 : 0),
    maintenance.stop(),
  ]);
  supervisor.close();
  await metricsServer?.close();
  const tracesOut = await (tracing?.close(TRACES_FLUSH_MS) ?? true);
  if (!tracesOut) logger.warn({ reason: 'no answer in time' }, 'traces cannot be exported');
  logger.info('the server has shut down');
  await log.flush(LOG_FLUSH_MS);
  // An export that still waits for its collector would delay the exit.
  if (!tracesOut) process.exit(0);
  return 0;
}

/** Waits for `noticeMs`, closes the listener, finishes the requests in progress and ends the workers. */
async function drain(
  app: FastifyInstance,
  service: KeyService,
  logger: Logger,
  noticeMs: number,
): Promise<void> {
  const reason = `it took longer than ${DRAIN_LIMIT_MS / SECOND_MS} s`;
  setTimeout(() => cutShort(logger, reason), noticeMs + DRAIN_LIMIT_MS).unref();
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
  await app.close();
  logger.info({ sources: service.sourceStatuses() }, 'all requests are answered');
  await service.close();
}
