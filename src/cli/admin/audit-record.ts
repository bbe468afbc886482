/** Builds the audit record of a command, with its entry in the log if the ledger has one. */
import { CommandError } from '#platform/commands';
import { wipe } from '../../bytes.ts';
import type { Config } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import type { AuditRecord, LedgerStore } from '../../ledger/index.ts';
import { deriveLogMacKeys, Keyring, LogMacKeys } from '../../proof/index.ts';
import { type AuditOrder, type EntryMaker, newAudit } from '../../service/offline.ts';
import { foreignSecretProblem, readMasterSecret } from '../../setup/index.ts';

/** Returns the record of a change. Throws `CommandError` if the ledger has a log and the master secret is missing. */
export async function auditOf(
  store: LedgerStore,
  config: Config,
  order: AuditOrder,
): Promise<AuditRecord> {
  const maker = await openMaker(store, config);
  try {
    return newAudit(maker, order);
  } finally {
    maker?.macs.destroy();
  }
}

/**
 * Returns null if the ledger has no log. A log that was closed without a successor is one that someone else closed: the
 * entry waits for it. The caller MUST destroy `macs`. Throws as `auditOf` does.
 */
export async function openMaker(store: LedgerStore, config: Config): Promise<EntryMaker | null> {
  const log = (await store.logs()).at(-1);
  return log ? { log, ...(await openMacs(store, config)) } : null;
}

/**
 * Returns the subkeys for entries of the log, which the caller MUST destroy. Throws `CommandError` if the master secret is
 * missing or does not fit the ledger: servers would set the entries aside.
 */
export async function openMacs(
  store: LedgerStore,
  config: Config,
): Promise<Pick<EntryMaker, 'macs' | 'version'>> {
  const { versions, currentVersion } = await readSecret(config);
  const keyring = new Keyring(versions, currentVersion);
  const keys = deriveLogMacKeys(versions);
  try {
    const registered = await store.secretChecks();
    const problem = foreignSecretProblem(keyring, registered);
    if (problem !== null) throw needsSecret(problem);
    // Before the first server has a new version, servers refuse entries under it.
    const usable = keyring.versions.filter((version) => registered.has(version));
    const version = usable.includes(currentVersion) ? currentVersion : Math.max(...usable);
    return { macs: new LogMacKeys(keys), version: usable.length > 0 ? version : currentVersion };
  } finally {
    keyring.destroy();
    wipe(...versions.map(({ secret }) => secret), ...keys.map(({ subkey }) => subkey));
  }
}

async function readSecret({ masterSecret }: Config) {
  try {
    return await readMasterSecret(masterSecret);
  } catch (error) {
    throw error instanceof SetupError ? needsSecret(error.message) : error;
  }
}

function needsSecret(reason: string): CommandError {
  return new CommandError(
    'this changes the transparency log, which needs the master secret: set PHM_MASTER_KEY_FILE, ' +
      `PHM_MASTER_KEY_COMMAND or PHM_MASTER_KEY as for the servers (${reason})`,
    1,
  );
}
