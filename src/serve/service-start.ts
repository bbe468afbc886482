/** Starts the key service on a prepared ledger, and logs its events. */
import { wipe } from '../bytes.ts';
import { systemClock } from '../clock.ts';
import { type Config, monthlyQuotas } from '../config/index.ts';
import {
  isSourceName,
  type SourceEvent,
  type SourceName,
  sourceAssessment,
  sourceCreditBits,
} from '../entropy/index.ts';
import { serverLocation } from '../ledger/index.ts';
import { KeyService, type ServiceSources, type WaitingThreads } from '../service/index.ts';
import { forgetMasterSecret } from '../setup/index.ts';
import {
  logEvidenceWarning,
  logLatch,
  logLostSuiteWorker,
  logSuite,
  logUnvouchedKeys,
} from './latch-log.ts';
import { logClock, logLedger } from './ledger-log.ts';
import type { ReadyLedger } from './ledger-start.ts';
import { logNotice } from './log-notices.ts';
import type { ServerParts } from './parts.ts';

/**
 * Starts the service, in `threads` if there are any, and wipes the secret. Throws `SetupError`, or the error of an
 * unavailable database.
 */
export async function startService(
  parts: ServerParts,
  { clock, secret, log, identity }: ReadyLedger,
  threads: WaitingThreads | null,
): Promise<KeyService> {
  const { config, options, logger, metrics } = parts;
  try {
    const sources = enabledSources(config);
    logCredits(parts, sources);
    return await KeyService.start({
      store: serverLocation(config, identity),
      quotas: monthlyQuotas(config.plans),
      sources,
      secret,
      suiteWorkers: config.suiteWorkers,
      boxLimits: config.boxLimits,
      ...(threads && { threads }),
      log,
      onLogNotice: (notice) => logNotice(logger, notice),
      clock: systemClock,
      onLatch: (defect, released) => logLatch(logger, defect, released),
      onEvidenceWarning: (warning) => logEvidenceWarning(logger, warning),
      onUnvouchedKeys: (keyIds, lastGoodMs) => logUnvouchedKeys(logger, keyIds, lastGoodMs),
      onSuiteLate: (isLate) => logSuite(logger, isLate),
      onSuiteWorkerLost: (waitedMs) => logLostSuiteWorker(logger, waitedMs),
      onUnvouchedEnd: (reason) =>
        logger.warn({ reason }, 'the last plain keys could not be judged'),
      ...(metrics && { observer: metrics.events }),
      onSourceEvent: (source, event) => noteSourceEvent(parts, source, event),
      clockAtStart: clock,
      onClockChange: (reading) => logClock(logger, reading, config.retentionDays),
      onDatabaseMove: (host) => logger.warn({ host }, 'the ledger uses another database server'),
      onLedgerChange: (status, before) => logLedger(logger, status, before),
      onOwnApiKeys: () => endDemoKeys(parts),
      onFatal: options.onFatal,
    });
  } finally {
    wipe(...secret.versions.map((one) => one.secret));
    await forgetMasterSecret(config.masterSecret);
  }
}

function noteSourceEvent(
  { logger, metrics }: ServerParts,
  source: SourceName,
  event: SourceEvent,
): void {
  const { kind, detail } = event;
  metrics?.events.sourceEvent(source, event);
  const level = kind === 'delivering' ? 'info' : kind === 'latched' ? 'error' : 'warn';
  logger[level]({ source, detail }, `entropy source: ${kind}`);
}

function endDemoKeys({ demoPolicy, lifecycle, logger }: ServerParts): void {
  if (demoPolicy !== 'admit-direct' || lifecycle.demoKeysEnded) return;
  lifecycle.demoKeysEnded = true;
  logger.info('demo keys have ended: an API key was issued');
}

function enabledSources(config: Config): ServiceSources {
  const names = config.entropySources.filter(isSourceName);
  const mix = config.entropyMix.filter(isSourceName);
  const byDefault = names.find((name) => name === config.entropySource);
  if (!byDefault) throw new Error('the configuration let an unknown entropy source through');
  return { names, default: byDefault, mix, settings: config.sourceSettings };
}

/** Logs the assessment behind each source's credit. The credit of `os` is the same on every server and is not logged. */
function logCredits({ logger }: ServerParts, { names, mix, settings }: ServiceSources): void {
  for (const source of new Set([...names, ...mix])) {
    const creditBits = sourceCreditBits(source, settings);
    if (source === 'os' || creditBits === 0) continue;
    const assessment = sourceAssessment(source, settings);
    logger.info({ source, creditBits, assessment }, 'entropy is credited');
  }
}
