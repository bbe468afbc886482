/** Compares a copy of a log with the database, which a restore may have put back, before its entries are taken. */
import type { Checkpoint } from '#tlog';
import { type FindingKind, Findings } from '../ledger/admin.ts';
import type { LedgerStore, LogRecord } from '../ledger/index.ts';
import type { LogSource } from './log-source.ts';
import { continues, storeTiles } from './store-source.ts';
import { checkTree, type Mark } from './tree-check.ts';
import { describeCheckpoint } from './trust.ts';

const COPY_DIFFERS: FindingKind = {
  problem: 'the database and the copy disagree',
  remedy:
    'One of them was changed, or the log forked. Without a copy that agrees, rotate: phm log init --rotate',
};
const WRONG_ROOT: FindingKind = {
  problem: 'the entries of the copy do not have the root of its checkpoint',
  remedy: 'The copy is damaged or incomplete: use another.',
};
const STATE_DIFFERS: FindingKind = {
  problem: 'the checkpoint in the state file belongs to another tree',
  remedy: 'Use another copy, or rotate: phm log init --rotate',
};
const WRONG_STORED_ROOT: FindingKind = {
  problem: 'the tiles in the database do not have its root',
  remedy: 'Restore the database once more, or rotate: phm log init --rotate',
};

interface CopyOrder {
  readonly store: LedgerStore;
  readonly log: LogRecord;
  readonly source: LogSource;
  /** The checkpoint of the copy. */
  readonly copied: Checkpoint;
  /** The checkpoint that this server published last; null if it is not known. */
  readonly state: Checkpoint | null;
  readonly signal: AbortSignal;
  readonly onProgress: (entries: number) => void;
}

interface CopyReport {
  readonly findings: Findings;
  /** The entries that the database lacks, in order. */
  readonly lost: readonly Uint8Array[];
}

export async function checkCopy(order: CopyOrder): Promise<CopyReport> {
  const { log, source, copied, state, signal, onProgress } = order;
  const findings = new Findings();
  const lost: Uint8Array[] = [];
  await checkTree({
    source,
    size: copied.size,
    marks: [
      markOf(WRONG_ROOT, copied),
      markOf(COPY_DIFFERS, log),
      ...(state === null ? [] : [markOf(STATE_DIFFERS, state)]),
    ],
    findings,
    signal,
    onEntry: (index, entry) => {
      if (index >= log.size) lost.push(Buffer.from(entry));
    },
    onProgress,
  });
  await checkStored(order, findings);
  return { findings, lost };
}

const markOf = (kind: FindingKind, checkpoint: Mark['checkpoint']): Mark => ({
  checkpoint,
  kind,
  example: describeCheckpoint(checkpoint),
});

/** Checks that the database has its own root, and contains what the copy does not reach. */
async function checkStored(
  { store, log, copied, state }: CopyOrder,
  findings: Findings,
): Promise<void> {
  const tiles = storeTiles(store, log);
  if (!(await continues(tiles, null, log))) {
    findings.add(WRONG_STORED_ROOT, describeCheckpoint(log));
  } else if (copied.size < log.size && !(await continues(tiles, copied, log))) {
    findings.add(COPY_DIFFERS, describeCheckpoint(log));
  } else if (state !== null && state.size > copied.size && !(await continues(tiles, state, log))) {
    findings.add(STATE_DIFFERS, describeCheckpoint(state));
  }
}
