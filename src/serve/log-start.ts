/** Opens the transparency log at startup, and records what the operator changed since the last start. */
import { wipe } from '../bytes.ts';
import { logKeyExposures } from '../files/secret-exposure.ts';
import type { LedgerStore } from '../ledger/index.ts';
import { deriveLogMacKeys, LogMacKeys, type MasterSecret } from '../proof/index.ts';
import { type EntryMaker, type LogSetup, newAudit } from '../service/offline.ts';
import {
  checkMasterSecret,
  havePlansChanged,
  NO_LOG_KEYS,
  plansDetails,
  prepareLog,
} from '../setup/index.ts';
import type { ServerParts } from './parts.ts';

/**
 * Compares the master secret with the database, opens the log, and then marks the current version of the secret as
 * activated. Returns the log; null if this server has none. Throws `SetupError`.
 */
export async function openSecretAndLog(
  store: LedgerStore,
  secret: MasterSecret,
  parts: ServerParts,
): Promise<LogSetup | null> {
  const atMs = Date.now();
  const macKeys = deriveLogMacKeys(secret.versions);
  const macs = new LogMacKeys(macKeys);
  wipe(...macKeys.map(({ subkey }) => subkey));
  const signer = { macs, version: secret.currentVersion };
  try {
    const opened: { log: LogSetup | null } = { log: null };
    await checkMasterSecret(store, secret, atMs, async () => {
      opened.log = await openLog(store, signer, atMs, parts);
      const details = { version: signer.version };
      return newAudit(makerOf(opened.log, signer), { atMs, action: 'secret_activated', details });
    });
    await noteRetention(store, makerOf(opened.log, signer), parts);
    await notePlans(store, makerOf(opened.log, signer), parts);
    return opened.log;
  } finally {
    macs.destroy();
  }
}

type Signer = Omit<EntryMaker, 'log'>;

function makerOf(log: LogSetup | null, signer: Signer): EntryMaker | null {
  return log && { ...signer, log: log.binding };
}

async function openLog(
  store: LedgerStore,
  signer: Signer,
  nowMs: number,
  { config, logger }: ServerParts,
): Promise<LogSetup | null> {
  const setup = await prepareLog({
    ...signer,
    store,
    config: config.log,
    createsKeys: config.databaseUrl === null,
    nowMs,
    onMissingKeys: () => logger.warn(NO_LOG_KEYS),
  });
  if (setup) logger.info({ origin: setup.binding.origin }, 'transparency log opened');
  for (const exposure of setup ? logKeyExposures(config.log.keys) : []) logger.warn(exposure);
  return setup;
}

/** Records the retention if it differs from the last recorded one: from now on, rows disappear earlier or later. */
async function noteRetention(
  store: LedgerStore,
  maker: EntryMaker | null,
  { config }: ServerParts,
): Promise<void> {
  const details = { days: config.retentionDays };
  if (maker === null || JSON.stringify(details) === (await lastRetention(store))) return;
  await store.addAudit(newAudit(maker, { atMs: Date.now(), action: 'retention_set', details }));
}

/** Returns the details of the last recorded retention; those of "for ever" without one. */
async function lastRetention(store: LedgerStore): Promise<string> {
  return (await store.lastAudit('retention_set'))?.details ?? '{"days":null}';
}

/** Records the plans if they differ from the last recorded ones: the limits of accounts change with them. */
async function notePlans(
  store: LedgerStore,
  maker: EntryMaker | null,
  { config, logger }: ServerParts,
): Promise<void> {
  if (maker === null || !(await havePlansChanged(store, config.plans))) return;
  logger.info({ plans: [...config.plans.keys()] }, 'the plans differ from those recorded last');
  const details = plansDetails(config.plans);
  await store.addAudit(newAudit(maker, { atMs: Date.now(), action: 'plans_configured', details }));
}
