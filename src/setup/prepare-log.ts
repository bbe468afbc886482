/** Decides at startup which log a server runs: opens the keys, starts the log in the database, or says why it stops. */

import { readTextFile } from '#platform/files';
import type { LogConfig } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import type { LedgerStore, LogRecord } from '../ledger/index.ts';
import { type LogKeys, openPolicy, policyText, readNote } from '../log/index.ts';
import { softwareName } from '../process/version.ts';
import type { LogMacKeys } from '../proof/index.ts';
import {
  areKeysOf,
  describeFault,
  firstFault,
  type Halt,
  type LogSetup,
  shownPath,
  whyStopped,
} from '../service/offline.ts';
import { createLogKeys, readLogKeys } from './log-keys.ts';
import { startLog } from './start-log.ts';

interface LogPreparation {
  readonly store: LedgerStore;
  readonly config: LogConfig;
  /** True if a missing key file may be created, because no other server can have one. */
  readonly createsKeys: boolean;
  readonly macs: LogMacKeys;
  /** Current version of the master secret. */
  readonly version: number;
  readonly nowMs: number;
  /** Called if there is no log because keys are missing. */
  readonly onMissingKeys: () => void;
}

/** Why a server has no log, and what to do. */
export const NO_LOG_KEYS =
  'there is no transparency log, because its keys are missing, and no key has a receipt. Set PHM_TRANSPARENCY_LOG=off, ' +
  'or set PHM_LOG_KEY_FILE and generate the keys: phm log init';

/** Returns the log of this server; null if it has none. Throws `SetupError` on unusable keys or witnesses. */
export async function prepareLog(preparation: LogPreparation): Promise<LogSetup | null> {
  const { store, config, onMissingKeys } = preparation;
  if (config.mode === 'off') return null;
  const witnesses = config.witnessesFile === null ? null : readWitnesses(config.witnessesFile);
  const logs = await store.logs();
  // One that is closed without a successor has a fault, and stops.
  const newest = logs.at(-1) ?? null;
  const keys = readLogKeys(config.keys) ?? newKeys(preparation, newest);
  if (keys === null && newest === null) {
    onMissingKeys();
    return null;
  }
  const record = newest ?? (await startFirstLog(preparation, keys as LogKeys));
  const own = areKeysOf(keys, record) ? record.origin : null;
  const fault = await firstFault(logs, store, preparation.macs, own);
  const [ed25519 = '', mlDsa44 = ''] = record.verifierKeys.trim().split('\n');
  const { logId, origin } = record;
  const policy = witnesses === null ? null : openPolicy(witnesses);
  const software = softwareName();
  return {
    binding: { logId, origin, software, softwareId: await store.registerSoftware(software) },
    verifierKeys: [ed25519, mlDsa44],
    keys,
    policy: policyText({ origin, verifierKeys: { ed25519, mlDsa44 } }, policy),
    stateFile: config.stateFile,
    witnesses,
    witnessNames: policy?.witnesses.map(({ name }) => name) ?? [],
    intervalMs: config.intervalMs,
    stopped: fault === null ? whyStopped(config, record, keys) : describeFault(fault),
    halt: fault === null ? shownHalt(config.stateFile, origin) : 'altered',
  };
}

/** While a fork may be known from before the start, no key leaves the server until its first turn has judged it. */
function shownHalt(stateFile: string, origin: string): Halt | null {
  return readNote(shownPath(stateFile))?.startsWith(`${origin}\n`) ? 'forked' : null;
}

/** Creates keys for a new installation. An existing log keeps its keys for ever, so nothing can replace them. */
function newKeys({ config, createsKeys }: LogPreparation, log: LogRecord | null): LogKeys | null {
  if (!createsKeys || log !== null || config.keys.kind !== 'managed') return null;
  return createLogKeys(config.keys.path);
}

function startFirstLog(
  { store, macs, version, nowMs }: LogPreparation,
  keys: LogKeys,
): Promise<LogRecord> {
  return startLog(store, { keys, macs, version, nowMs, follows: null });
}

/** Returns the policy that names the witnesses. Throws `SetupError` if it cannot be used. */
export function readWitnesses(path: string): string {
  try {
    const text = readTextFile(path);
    const { witnesses, quorum } = openPolicy(text);
    if (quorum === 'none' || witnesses.length === 0) {
      throw new Error('it needs a witness and a quorum other than none');
    }
    const silent = witnesses.find(({ url }) => url === null || !URL.canParse(url));
    if (silent) throw new Error(`the witness ${silent.name} needs an address`);
    return text;
  } catch (error) {
    throw new SetupError(
      `PHM_LOG_WITNESSES: the policy ${path} cannot be used: ${(error as Error).message}`,
    );
  }
}
