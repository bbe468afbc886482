/** `phm log copy`: copies the open log of a database to a folder, from which `phm log recover` takes entries. */

import { join } from 'node:path';
import type { Command } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { type Checkpoint, FormatError } from '#tlog';
import type { Config } from '../../config/index.ts';
import {
  checkTree,
  describeCheckpoint,
  storeSource,
  verifierKeysOf,
} from '../../inspection/index.ts';
import { type FindingKind, Findings } from '../../ledger/admin.ts';
import type { LedgerStore, LogRecord } from '../../ledger/index.ts';
import { openCheckpoint, policyText, readState } from '../../log/index.ts';
import { counted } from '../admin/row-counts.ts';
import { withStoreToRead } from '../admin/with-store.ts';
import type { CliContext } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { LogCopy } from './copy.ts';
import { openLogOf } from './open-log.ts';
import { readIfAny } from './seen.ts';

const HELP = `
The copy holds every entry under the newest checkpoint that the database or the state file has. Its uses: PHM_DATABASE_URL
names a database that no server uses, such as the old primary after a failover, and "phm log recover --from FOLDER" brings
its entries into the new one. Run it with the server's other variables. It only reads the database. Servers may run.

Example:
  PHM_DATABASE_URL_FILE=/root/old-primary phm log copy /var/lib/log-copy
`;

const WRONG_ROOT: FindingKind = {
  problem: 'the entries of the database do not have the root of a checkpoint',
  remedy: 'The database was changed, or the log forked: phm log check',
};

export function addCopyCommand(log: Command, context: CliContext): void {
  log
    .command('copy')
    .argument('<folder>', 'folder for the copy; an earlier copy in it is continued')
    .description('copy the log of a database to a folder')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((folder: string, options: { readonly json?: boolean }) =>
      copyDatabase(context, folder, options.json ?? false),
    );
}

async function copyDatabase(context: CliContext, folder: string, json: boolean): Promise<void> {
  const { origin, size } = await withStoreToRead(context, async (store, config) => {
    const log = openLogOf(await store.logs());
    const note = newestNote(context, config, log);
    return await untilInterrupted((signal) => copy({ context, store, log, folder, note, signal }));
  });
  if (json) writeJson(context, { origin, size, folder });
  else
    context.err(`Copied ${counted(size, 'entry', 'entries')} of the log ${origin} to ${folder}.\n`);
}

/** Returns the newest signed checkpoint of the log that this database holds the tree of. */
function newestNote({ err }: CliContext, { log: config }: Config, log: LogRecord): string {
  const state = ownState(config.stateFile, log);
  const isAhead = state !== null && state.checkpoint.size > log.size;
  if (isAhead) {
    err(
      `The state file ${config.stateFile} has ${counted(state.checkpoint.size, 'entry', 'entries')}, but this database ` +
        `has ${log.size}: the copy will lack the others.\n`,
    );
  }
  const stored = log.checkpoint === null ? null : opened('the database', log.checkpoint, log);
  if (state !== null && !isAhead && state.checkpoint.size > (stored?.size ?? -1)) return state.note;
  if (log.checkpoint !== null) return log.checkpoint;
  throw new CommandError(`the log ${log.origin} has published no checkpoint yet`, 1);
}

/** Returns the checkpoint of the state file if it is of this log. */
function ownState(path: string, log: LogRecord) {
  let state: ReturnType<typeof readState>;
  try {
    state = readState(path);
  } catch (error) {
    throw new CommandError(`${path} cannot be used: ${(error as Error).message}`, 1);
  }
  if (state?.checkpoint.origin !== log.origin) return null;
  return { note: state.note, checkpoint: opened(path, state.note, log) };
}

/** Verifies a checkpoint. Throws `CommandError` unless the log has signed it. */
function opened(name: string, note: string, log: LogRecord): Checkpoint {
  try {
    return openCheckpoint(note, verifierKeysOf(log)).checkpoint;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(
      `${name} has no checkpoint of the log ${log.origin}: ${error.message}`,
      1,
    );
  }
}

interface CopyOrder {
  readonly context: CliContext;
  readonly store: LedgerStore;
  readonly log: LogRecord;
  readonly folder: string;
  readonly note: string;
  readonly signal: AbortSignal;
}

/** Copies the tree of a checkpoint, which must contain that of an earlier copy. Returns the checkpoint. */
async function copy({ context, store, log, folder, note, signal }: CopyOrder): Promise<Checkpoint> {
  const checkpoint = opened('the copy', note, log);
  const earlierNote = readIfAny(join(folder, 'checkpoint'));
  const earlier = earlierNote === null ? null : opened(folder, earlierNote, log);
  if (earlier !== null && earlier.size > checkpoint.size) {
    throw new CommandError(
      `${folder} has ${counted(earlier.size, 'entry', 'entries')} already, and this database ${checkpoint.size}: name another folder`,
      1,
    );
  }
  const findings = new Findings();
  const target = new LogCopy(folder, earlier?.size ?? 0, findings);
  const line = context.status;
  const marks = [checkpoint, ...(earlier === null ? [] : [earlier])];
  await checkTree({
    source: storeSource(store, log),
    size: checkpoint.size,
    marks: marks.map((one) => ({
      checkpoint: one,
      kind: WRONG_ROOT,
      example: describeCheckpoint(one),
    })),
    findings,
    signal,
    onProgress: (entries) => line.show(`entries: ${entries.toLocaleString('en')}`),
    copy: target,
  }).finally(() => line.clear());
  tellFindings(context.err, findings.list);
  if (findings.list.length > 0) throw new CommandError('the copy was not completed', 1);
  const [ed25519 = '', mlDsa44 = ''] = log.verifierKeys.split('\n');
  const verifierKeys = { ed25519, mlDsa44 };
  target.finish(note, policyText({ origin: log.origin, verifierKeys }, null));
  return checkpoint;
}
