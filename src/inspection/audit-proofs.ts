/** Proves that audit records are entries of the log, under its newest checkpoint. */
import { FormatError, parseCheckpoint, parseNote, type TlogProof } from '#tlog';
import { formatTimestamp } from '../clock.ts';
import { SetupError } from '../errors.ts';
import { auditEntry } from '../keys/terms.ts';
import { type FindingKind, Findings } from '../ledger/admin.ts';
import type { AuditRecord, LedgerStore, LogRecord } from '../ledger/index.ts';
import { inclusionProof, openCheckpoint, verifyInclusion } from '../log/index.ts';
import { allAudits } from './accounts-check.ts';
import { storeTiles } from './store-source.ts';
import { verifierKeysOf } from './trust.ts';

const NOT_LOGGED: FindingKind = {
  problem: 'records without an entry in the log',
  remedy: 'These records were inserted, or the log set their entries aside.',
};
const CHANGED: FindingKind = {
  problem: 'records that differ from their entry in the log',
  remedy: 'These records or the log were changed. Restore them from a backup.',
};

/** Counts of audit records. */
interface AuditsReport {
  readonly verified: number;
  /** Records that no checkpoint covers yet. */
  readonly waiting: number;
  /** Records from before the log. */
  readonly older: number;
  readonly findings: Findings;
}

/** Verifies every audit record by its proof. Throws `SetupError` if the stored checkpoint is none. */
export async function verifyAudits(store: LedgerStore): Promise<AuditsReport> {
  const findings = new Findings();
  const counts = { verified: 0, waiting: 0, older: 0 };
  const logs = await store.logs();
  const startedMs = logs[0]?.startedMs ?? Number.POSITIVE_INFINITY;
  const prover = new AuditProver(store, logs);
  for await (const record of allAudits(store)) {
    const proved = await prover.prove(record);
    const name = `${record.action} ${formatTimestamp(record.atMs)}`;
    if (proved.place && !proved.proof) counts.waiting++;
    else if (proved.place && isProved(record, proved)) counts.verified++;
    else if (proved.place) findings.add(CHANGED, name);
    else if (proved.isPending) counts.waiting++;
    else if (record.atMs < startedMs) counts.older++;
    else findings.add(NOT_LOGGED, name);
  }
  return { ...counts, findings };
}

interface Proved {
  /** The log and the index of the entry; null without an entry. */
  readonly place: { readonly log: LogRecord; readonly index: number } | null;
  /** True if the entry waits for its turn. */
  readonly isPending: boolean;
  /** Null until a checkpoint covers the entry. */
  readonly proof: TlogProof | null;
}

/** Proves that records are entries, under the newest checkpoint of their log. */
export class AuditProver {
  readonly #store: LedgerStore;
  readonly #logs: ReadonlyMap<number, LogRecord>;

  constructor(store: LedgerStore, logs: readonly LogRecord[]) {
    this.#store = store;
    this.#logs = new Map(logs.map((log) => [log.logId, log]));
  }

  async prove({ auditId }: AuditRecord): Promise<Proved> {
    const logged = await this.#store.findLogged(auditId);
    const isPending = logged === 'pending';
    const log = logged === null || isPending ? undefined : this.#logs.get(logged.logId);
    if (logged === null || isPending || !log) return { place: null, isPending, proof: null };
    const { index } = logged;
    const place = { log, index };
    const covering = [log.witnessed, log.checkpoint].find(
      (note) => note !== null && sizeOf(note, log) > index,
    );
    if (!covering) return { place, isPending, proof: null };
    const hashes = await inclusionProof(storeTiles(this.#store, log), index, sizeOf(covering, log));
    return { place, isPending, proof: { extra: null, index, hashes, checkpoint: covering } };
  }
}

/** Throws `SetupError` for a note that is no checkpoint: it says nothing about which records are proved. */
function sizeOf(note: string, { origin }: LogRecord): number {
  try {
    return parseCheckpoint(parseNote(note).text).size;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new SetupError(
      `the stored checkpoint of the log ${origin} was changed: ${error.message}. To examine the log: phm log check`,
    );
  }
}

/** Reports whether the record has a statement, and its proof leads to a checkpoint that the log signed. */
function isProved(record: AuditRecord, { place, proof }: Proved): boolean {
  if (!place || !proof) return false;
  try {
    const { checkpoint } = openCheckpoint(proof.checkpoint, verifierKeysOf(place.log));
    const entry = auditEntry(record, place.log.origin);
    const { size, root } = checkpoint;
    return verifyInclusion({ entry, index: place.index, size, root, proof: proof.hashes });
  } catch (error) {
    // A changed record may have no statement at all, such as details that are not JSON.
    if (error instanceof FormatError || error instanceof SyntaxError || error instanceof TypeError)
      return false;
    throw error;
  }
}
