/**
 * Wires the server by hand, in this order:
 *
 *   configuration → database → master secret → workers → HTTP → banner → shutdown on a signal
 *
 * While the database is unavailable, HTTP starts first and is unready: `StartingService` stands in for the workers.
 * `serve/` has a file for each step, and for the log lines of a running server.
 */
import type { Config } from './config/index.ts';
import { isBuilt } from './http/pages/built-pages.ts';
import { commandLine } from './launcher.ts';
import { describeStore, type StartCheck, storeLocation } from './ledger/index.ts';
import { announce } from './serve/banner.ts';
import { endServer, endSignal, endStart } from './serve/end.ts';
import { checkDatabase, watchIntegrity } from './serve/ledger-integrity.ts';
import { DASHBOARD_FOLDER, LazyListeners, type Listeners } from './serve/listeners.ts';
import { openParts, type ServeOptions, type ServerParts } from './serve/parts.ts';
import { startService } from './serve/service-start.ts';
import { whenDatabaseAnswers } from './serve/start-wait.ts';
import { Supervisor } from './serve/supervisor.ts';
import { startMaintenance } from './serve/upkeep.ts';
import type { KeyService } from './service/index.ts';

/** Runs the server. Resolves with the exit code after shutdown. */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const parts = await openParts(config, options);
  const { logger, metrics, starting } = parts;
  const supervisor = new Supervisor(options.env, (reason) =>
    logger.error({ reason }, 'systemd-notify failed'),
  );
  const listening = new LazyListeners(parts, supervisor);
  // Before startup, which may wait for the database. A signal may arrive as soon as the banner appears.
  const ended = endSignal();
  const started = await Promise.race([startOnDatabase(parts, listening), ended]).catch(
    async (error) => {
      await listening.close();
      throw error;
    },
  );
  if (typeof started === 'string') return endStart(started, parts);
  const { service, check } = started;
  starting.started(service);
  const listeners = await listening.open().catch(async (error) => {
    await service.close();
    throw error;
  });
  sayReady(parts, listeners);
  const maintenance = startMaintenance(parts, service);
  const location = storeLocation(config);
  const integrity = watchIntegrity({ location, start: check, logger, metrics, service });
  const running = { service, listeners, supervisor, maintenance, integrity };
  return endServer(await ended, parts, running);
}

interface Started {
  readonly service: KeyService;
  readonly check: StartCheck | null;
}

/** Checks the database and starts the key service. While the database is unavailable, opens the listeners and retries. */
function startOnDatabase(parts: ServerParts, listening: LazyListeners): Promise<Started> {
  const { config, logger } = parts;
  let check: StartCheck | null = null;
  const attempt = async (): Promise<Started> => {
    check?.pending?.stop();
    check = await checkDatabase(storeLocation(config));
    return { service: await startService(parts), check };
  };
  return whenDatabaseAnswers(attempt, {
    limitMs: config.startWaitSeconds * 1000,
    logger,
    onWaiting: () => listening.open(),
  });
}

/** Prints the banner. */
function sayReady(
  { config, options, lifecycle, color }: ServerParts,
  { address, metricsServer }: Listeners,
): void {
  announce({
    address,
    json: options.json,
    dashboard: isBuilt(DASHBOARD_FOLDER),
    demoApiKey: lifecycle.demoApiKey,
    demoKeysEnded: lifecycle.demoKeysEnded,
    data: config.databaseUrl === null ? config.dataDir : describeStore(storeLocation(config)),
    commandLine: (words) => commandLine(options, words),
    requiresHybrid: config.tls?.requireHybrid ?? false,
    metricsAddress: metricsServer?.address ?? null,
    color,
  });
}
