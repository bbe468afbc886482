/** Prepares the ledger before the workers open it: schema, clock, master secret, log, demo accounts. */
import { apiKeyHint, DEMO_ACCOUNTS, hashApiKey } from '../accounts/index.ts';
import { systemClock } from '../clock.ts';
import { type Config, monthlyQuotas } from '../config/index.ts';
import { secretExposures } from '../files/secret-exposure.ts';
import { isUsable } from '../http/api-key-rules.ts';
import {
  type ClockReading,
  describeStore,
  type LedgerIdentity,
  type LedgerStore,
  migrateStore,
  openStore,
  requireBelieved,
  serverLocation,
} from '../ledger/index.ts';
import type { MasterSecret } from '../proof/index.ts';
import type { LogSetup } from '../service/offline.ts';
import {
  forgetMasterSecret,
  loadMasterSecret,
  readMasterSecret,
  refuseUnknownPlans,
} from '../setup/index.ts';
import { logClock } from './ledger-log.ts';
import { openSecretAndLog } from './log-start.ts';
import type { ServerParts } from './parts.ts';
import { warnOfWideProxies } from './proxy-warning.ts';

export interface ReadyLedger {
  readonly clock: ClockReading;
  /** The caller MUST wipe it. */
  readonly secret: MasterSecret;
  /** Null without a transparency log. */
  readonly log: LogSetup | null;
  /** Which ledger was prepared, with the versions of the secret. */
  readonly identity: LedgerIdentity;
}

/** Returns where the data of a server are, as its log lines say it. */
export function describeData(config: Config): string {
  return config.databaseUrl === null ? config.dataDir : describeStore(serverLocation(config));
}

/** Prepares the ledger for a key service. Throws `SetupError` if the ledger or the master secret is unusable. */
export async function prepareLedger(parts: ServerParts): Promise<ReadyLedger> {
  const { config, logger } = parts;
  const location = serverLocation(config);
  if (location.kind === 'sqlite' || config.migrate === 'auto') {
    const { from, to } = await migrateStore(location);
    if (from === 0) logger.info({ data: describeData(config) }, 'a new ledger was created');
    else if (from < to) logger.info({ from, to }, 'the schema was brought up to date');
  }
  const quotas = monthlyQuotas(config.plans);
  const store = await openStore(location, quotas, (message) => logger.warn(message));
  try {
    const clock = await readClock(store, parts);
    await refuseUnknownPlans(store, config.plans);
    const { secret, log } = await openMasterSecret(store, parts);
    await store.maintain(systemClock).catch(({ message, cause }: Error) => {
      const reason = cause instanceof Error ? cause.message : message;
      logger.warn({ reason }, 'the upkeep of the ledger failed');
    });
    await openDemoAccounts(store, parts);
    await warnOfWideProxies(store, config.trustedProxies, logger);
    return { clock, secret, log, identity: await store.identity() };
  } finally {
    await store.close();
  }
}

/**
 * Compares the clock with the ledger before anything depends on it. With PostgreSQL a wrong clock fails the start,
 * because this server's months and times would differ from those of other servers. With SQLite the clock may be right,
 * and a doubt loses nothing.
 */
async function readClock(
  store: LedgerStore,
  { config, logger }: ServerParts,
): Promise<ClockReading> {
  const reading = await store.readClock(systemClock);
  if (reading.against === 'database') requireBelieved(reading);
  else if (reading.doubt !== null) logClock(logger, reading, config.retentionDays);
  return reading;
}

/** Reads the master secret and opens the log. Creates a secret only if the database has none registered. */
async function openMasterSecret(
  store: LedgerStore,
  parts: ServerParts,
): Promise<Pick<ReadyLedger, 'secret' | 'log'>> {
  const { config, logger } = parts;
  const { masterSecret: origin } = config;
  const isNew = (await store.secretChecks()).size === 0;
  const reading = isNew ? loadMasterSecret(origin) : readMasterSecret(origin);
  const secret = await reading.catch(async (error) => {
    // The next attempt runs the command again.
    await forgetMasterSecret(origin);
    throw error;
  });
  const log = await openSecretAndLog(store, secret, parts);
  const versions = secret.versions.map(({ version }) => version);
  logger.info({ versions, current: secret.currentVersion }, 'master secret loaded');
  for (const exposure of secretExposures(origin)) logger.warn(exposure);
  return { secret, log };
}

/** Notes whether demo keys have ended and, if not, which one requests may use. */
async function openDemoAccounts(
  store: LedgerStore,
  { demoPolicy, lifecycle }: ServerParts,
): Promise<void> {
  lifecycle.demoKeysEnded = demoPolicy === 'admit-direct' && (await store.hasOwnApiKeys());
  const hasDemoKeys = demoPolicy !== 'refuse' && !lifecycle.demoKeysEnded;
  lifecycle.demoApiKey = hasDemoKeys ? await addDemoAccounts(store) : null;
}

/**
 * Adds missing demo accounts and keys, and returns a demo key that requests may use; null if none is left. A revoked key
 * stays revoked, and a suspended account suspended.
 */
async function addDemoAccounts(store: LedgerStore): Promise<string | null> {
  const createdMs = Date.now();
  let usable: string | null = null;
  for (const { accountId, name, plan, apiKeyId, apiKey } of DEMO_ACCOUNTS) {
    await store.addAccount({ accountId, name, plan, demo: true, createdMs });
    const record = { apiKeyId, accountId, hint: apiKeyHint(apiKey), createdMs, revokedMs: null };
    await store.addApiKey(record, hashApiKey(apiKey));
    const [principal] = await store.authenticate([hashApiKey(apiKey)], createdMs);
    if (principal && isUsable(principal, createdMs)) usable ??= apiKey;
  }
  return usable;
}
