/**
 * Wires the server by hand, in this order:
 *
 *   configuration → database → master secret → workers → HTTP → banner or log line → shutdown on a signal
 *
 * While the database is unavailable, HTTP starts first and is unready: `StartingService` stands in for the workers.
 * `serve/` has a file for each step, and for the log lines of a running server.
 */
import { releaseStartMemory } from '#platform/threads';
import type { Config } from '../config/index.ts';
import { isPostQuantum } from '../config/tls-profiles.ts';
import { SetupError } from '../errors.ts';
import { isBuilt } from '../http/pages/is-built.ts';
import { type LedgerIdentity, type StartCheck, storeLocation } from '../ledger/index.ts';
import { commandLine } from '../process/launcher.ts';
import { changedProgram, softwareName } from '../process/version.ts';
import type { KeyService, WaitingThreads } from '../service/index.ts';
import { announce } from './banner.ts';
import { endFailed, endServer, endSignal, endStart } from './end.ts';
import { LazyListeners } from './lazy-listeners.ts';
import { checkDatabase, watchIntegrity } from './ledger-integrity.ts';
import { describeData, prepareLedger } from './ledger-start.ts';
import type { Listeners } from './listeners.ts';
import { DASHBOARD_FOLDER, openParts, type ServeOptions, type ServerParts } from './parts.ts';
import { watchReadiness } from './readiness-log.ts';
import { startService } from './service-start.ts';
import { whenDatabaseAnswers } from './start-wait.ts';
import { Supervisor } from './supervisor.ts';
import { startMaintenance } from './upkeep.ts';

/** Runs the server. `threads` wait for its first attempt to start. Resolves with the exit code after shutdown. */
export async function runServer(
  config: Config,
  options: ServeOptions,
  threads: WaitingThreads,
): Promise<number> {
  // Now, not after a wait in which the files may be replaced: what starts later is compared with it.
  softwareName();
  const parts = await openParts(config, options);
  return runParts(parts, threads).catch((error) => endFailed(error, parts));
}

async function runParts(parts: ServerParts, threads: WaitingThreads): Promise<number> {
  const { config, options, logger, metrics, starting } = parts;
  const supervisor = new Supervisor(options.env, (reason) =>
    logger.error({ reason }, 'systemd-notify failed'),
  );
  const listening = new LazyListeners(parts, supervisor);
  // Before startup, which may wait for the database. A signal may arrive as soon as the banner appears.
  const ended = endSignal(logger);
  const started = await Promise.race([startOnDatabase(parts, listening, threads), ended]).catch(
    async (error) => {
      await listening.close();
      throw error;
    },
  );
  if (typeof started === 'string') return endStart(started, parts);
  const { service, check, identity } = started;
  releaseStartMemory();
  starting.started(service);
  const listeners = await listening.open().catch(async (error) => {
    await service.close();
    throw error;
  });
  sayReady(parts, listeners);
  const maintenance = startMaintenance(parts, service, identity);
  const location = storeLocation(config);
  const integrity = watchIntegrity({ location, start: check, logger, metrics, service });
  const readiness = watchReadiness(() => service.checkReadiness(), logger);
  const running = { service, listeners, supervisor, maintenance, integrity, readiness };
  return endServer(await ended, parts, running);
}

interface Started {
  readonly service: KeyService;
  readonly check: StartCheck | null;
  readonly identity: LedgerIdentity;
}

/** Checks the database and starts the key service. While the database is unavailable, opens the listeners and retries. */
function startOnDatabase(
  parts: ServerParts,
  listening: LazyListeners,
  threads: WaitingThreads,
): Promise<Started> {
  const { config, logger } = parts;
  let check: StartCheck | null = null;
  let waiting: WaitingThreads | null = threads;
  const attempt = async (): Promise<Started> => {
    check?.pending?.stop();
    check = await checkDatabase(storeLocation(config));
    const ledger = await prepareLedger(parts);
    // Threads of a later attempt load the files that are there now.
    if (waiting === null) requireUnchanged();
    const starting = startService(parts, ledger, waiting);
    // It ends its threads if it fails.
    waiting = null;
    listening.prepare();
    return { service: await starting, check, identity: ledger.identity };
  };
  return whenDatabaseAnswers(attempt, {
    limitMs: config.startWaitSeconds * 1000,
    logger,
    onWaiting: () => listening.open(),
  });
}

/** Throws `SetupError` if the program's files have changed since the server started. */
function requireUnchanged(): void {
  const changed = changedProgram();
  if (changed !== null) throw new SetupError(changed);
}

/** Says where the server is: by a banner on a terminal, otherwise by a log line. */
function sayReady(
  { config, options, demoPolicy, lifecycle, color, hasReader, logger }: ServerParts,
  { address, metricsServer }: Listeners,
): void {
  const announcement = {
    address,
    json: options.json,
    dashboard: isBuilt(DASHBOARD_FOLDER),
    demoApiKey: lifecycle.demoApiKey,
    demoKeysEnd: demoPolicy === 'admit-direct',
    demoKeysEnded: lifecycle.demoKeysEnded,
    data: describeData(config),
    commandLine: (words: string) => commandLine(options, words),
    requiresHybrid: config.tls !== null && isPostQuantum(config.tls.profile),
    metricsAddress: metricsServer?.address ?? null,
    color,
  };
  announce(announcement, hasReader ? 'terminal' : logger);
}
