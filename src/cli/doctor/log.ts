/** Checks the transparency log: keys, witnesses, state file, head and waiting entries. */
import { wipe } from '../../bytes.ts';
import { formatTimestamp, MINUTE_MS } from '../../clock.ts';
import type { LedgerStore, LogRecord } from '../../ledger/index.ts';
import { deriveLogMacKeys, LogMacKeys } from '../../proof/index.ts';
import { examineLog, type LogFindings } from '../../service/offline.ts';
import { NO_LOG_KEYS, readLogKeys, readMasterSecret, readWitnesses } from '../../setup/index.ts';
import { type Finding, failed, ok, Skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

/** Beyond the interval of its turns, a running log leaves no entry waiting for longer. */
const LATE_MS = MINUTE_MS;

export async function checkLog(site: Site): Promise<Finding[]> {
  const { config } = site;
  if (config.log.mode === 'off') throw new Skipped('PHM_TRANSPARENCY_LOG is off');
  const keys = readLogKeys(config.log.keys);
  if (config.log.witnessesFile !== null) readWitnesses(config.log.witnessesFile);
  const store = await site.store();
  const record = (await store.logs()).at(-1);
  if (record) return findingsOf(await examine(site, store, record), config.log.intervalMs);
  if (keys === null && config.databaseUrl !== null) {
    return [warning(NO_LOG_KEYS, 'turn the log on: docs/operations.md#turn-the-log-on')];
  }
  throw new Skipped('the next start of a server starts the log');
}

async function examine(site: Site, store: LedgerStore, record: LogRecord): Promise<LogFindings> {
  const { log: config, masterSecret } = site.config;
  const secret = await readMasterSecret(masterSecret);
  const macKeys = deriveLogMacKeys(secret.versions);
  const macs = new LogMacKeys(macKeys);
  wipe(...secret.versions.map((one) => one.secret), ...macKeys.map(({ subkey }) => subkey));
  try {
    const keys = readLogKeys(config.keys);
    return await examineLog({ store, config, record, keys, macs, version: secret.currentVersion });
  } finally {
    macs.destroy();
  }
}

function findingsOf(log: LogFindings, intervalMs: number): Finding[] {
  const stopped = log.stopped === null ? [] : [failed(log.stopped)];
  const found = [...stopped, ...waiting(log, intervalMs), ...setAside(log)];
  if (found.length > 0) return found;
  const state = log.hasState
    ? 'fits the state file'
    : 'new, without a state file: the next start of a server writes it';
  return [ok(`${log.origin}, ${log.size} entries, ${log.pending} waiting, ${state}`)];
}

function waiting({ pending, oldestPendingMs }: LogFindings, intervalMs: number): Finding[] {
  if (oldestPendingMs === null || Date.now() - oldestPendingMs < intervalMs + LATE_MS) return [];
  const waits = pending === 1 ? '1 entry waits' : `${pending} entries wait`;
  return [
    warning(
      `${waits} for the log, the oldest since ${formatTimestamp(oldestPendingMs)}`,
      'if no server runs, start one; otherwise look in its log for "the transparency log is delayed": docs/incidents.md#in-the-log',
    ),
  ];
}

function setAside({ setAside: entries }: LogFindings): Finding[] {
  if (entries === 0) return [];
  return [
    warning(
      `${entries === 1 ? '1 entry was' : `${entries} entries were`} set aside: no server made them`,
      'find out who changed the database: docs/incidents.md#an-entry-that-was-set-aside',
    ),
  ];
}
