/** What this server knows of its log beside the database: checkpoints in its files, and the master secret. */
import { CommandError } from '#platform/commands';
import { FormatError } from '#tlog';
import type { Config } from '../../config/index.ts';
import type { KnownCheckpoint } from '../../inspection/index.ts';
import type { LedgerStore } from '../../ledger/index.ts';
import { readState } from '../../log/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';
import { shownPath } from '../../service/offline.ts';
import { openMacs } from '../admin/audit-record.ts';

/** Returns the checkpoints that the server published, and that witnesses showed it. */
export function readKnown({ log: { stateFile } }: Config): KnownCheckpoint[] {
  return [stateFile, shownPath(stateFile)].flatMap(readIfKnown);
}

/** Returns nothing if there is no file, or only the user of the server may read it. */
function readIfKnown(path: string): KnownCheckpoint[] {
  try {
    const state = readState(path);
    return state === null ? [] : [{ name: path, note: state.note }];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') return [];
    if (!(error instanceof FormatError) && code === undefined) throw error;
    return [{ name: path, problem: message }];
  }
}

/** Returns the keys for seals and MACs, which the caller MUST destroy; null without the master secret. */
export async function findMacs(store: LedgerStore, config: Config): Promise<LogMacKeys | null> {
  try {
    return (await openMacs(store, config)).macs;
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}
