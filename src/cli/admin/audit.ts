/** `phm audit`: lists, exports and verifies the records of administrative actions. */
import type { Command } from 'commander';
import { FormatError, formatProof, parseCheckpoint, parseNote, type TlogProof } from '#tlog';
import { formatTimestamp } from '../../clock.ts';
import { auditEntry, auditStatement, formatAuditId } from '../../keys/index.ts';
import { type FindingKind, Findings } from '../../ledger/admin.ts';
import type { LedgerStore, LogRecord } from '../../ledger/index.ts';
import { inclusionProof, openCheckpoint, verifyInclusion } from '../../log/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, jsonLine, writeJson, writeTable } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { verifierKeysOf } from '../log/check-database.ts';
import { storeTiles } from '../log/store-source.ts';
import { counted } from './row-counts.ts';
import { withStoreToRead } from './with-store.ts';

const EXPORT_HELP = `
Each line is a JSON object: the statement (type phm-audit/v1), the origin of its log, the index of its entry, and the proof
in the form of c2sp.org/tlog-proof. The entry is the SHA-256 of the statement in canonical form (RFC 8785). Index and proof
are null for records from before the log, and until a checkpoint covers the entry.

Example:
  phm audit export > audit.ndjson
`;

const VERIFY_HELP = `
Each record must be an entry of the log, with a proof that leads to the newest checkpoint. Records from before the log are
counted apart. To check that no record was deleted: phm log check
Exit code: 0 all verified, 1 findings or failed, 2 wrong usage.
`;

export function addAuditCommands(program: Command, context: CliContext): void {
  const audit = program
    .command('audit')
    .description('list, export and verify the records of administrative actions');
  audit
    .command('list')
    .description('list all records: time, action, details; --json has long details in full')
    .option('--json', 'write the result as JSON')
    .action((options: { json?: boolean }) => list(context, options));
  audit
    .command('export')
    .description('write all statements with their proofs, as JSON lines')
    .addHelpText('after', EXPORT_HELP)
    .action(() => exportAll(context));
  audit
    .command('verify')
    .description('verify each record against the log')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action((options: { json?: boolean }) => verify(context, options));
}

type Audit = Awaited<ReturnType<LedgerStore['audits']>>[number];

const PAGE = 500;

async function* allAudits(store: LedgerStore): AsyncGenerator<Audit> {
  let after: Uint8Array | null = null;
  for (;;) {
    const page: Audit[] = await store.audits(after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page[page.length - 1].auditId;
  }
}

async function list(context: CliContext, { json }: { json?: boolean }): Promise<void> {
  await withStoreToRead(context, async (store) => {
    const records = await Array.fromAsync(allAudits(store));
    if (json) {
      writeJson(context, { records: records.map(toJson) });
      return;
    }
    writeTable(
      context,
      ['TIME', 'ACTION', 'DETAILS'],
      records.map(({ atMs, action, details }) => [formatTimestamp(atMs), action, shorten(details)]),
    );
  });
}

/** Most characters of details in the table. The verifier keys of a log have 2,000. */
const MAX_DETAILS = 160;

function shorten(details: string): string {
  return details.length <= MAX_DETAILS ? details : `${details.slice(0, MAX_DETAILS)}…`;
}

function toJson(record: Audit) {
  return {
    audit_id: formatAuditId(record.auditId),
    time: formatTimestamp(record.atMs),
    action: record.action,
    details: parseDetails(record),
  };
}

/** Throws `CommandError` for a record whose details are no JSON, which no server writes. */
function parseDetails({ auditId, details }: Audit): unknown {
  try {
    return JSON.parse(details);
  } catch {
    throw new CommandError(
      `the audit record ${formatAuditId(auditId)} was changed: its details are no JSON. To examine all: phm audit verify`,
      1,
    );
  }
}

async function exportAll(context: CliContext): Promise<void> {
  await withStoreToRead(context, async (store) => {
    const prover = new Prover(store, await store.logs());
    let count = 0;
    for await (const record of allAudits(store)) {
      parseDetails(record);
      const { place, proof } = await prover.prove(record);
      const line = {
        statement: {
          ...auditStatement(record, place?.log.origin ?? ''),
          service: place?.log.origin ?? null,
        },
        index: place?.index ?? null,
        proof: proof && formatProof(proof),
      };
      await context.outBytes(Buffer.from(jsonLine(line)));
      count++;
    }
    context.err(`Exported ${counted(count, 'audit record')}.\n`);
  });
}

const NOT_LOGGED: FindingKind = {
  problem: 'records without an entry in the log',
  remedy: 'These records were inserted, or the log set their entries aside.',
};
const CHANGED: FindingKind = {
  problem: 'records that differ from their entry in the log',
  remedy: 'These records or the log were changed. Restore them from a backup.',
};

async function verify(context: CliContext, { json }: { json?: boolean }): Promise<void> {
  const findings = new Findings();
  const counts = { verified: 0, waiting: 0, older: 0 };
  await withStoreToRead(context, async (store) => {
    const logs = await store.logs();
    const startedMs = logs[0]?.startedMs ?? Number.POSITIVE_INFINITY;
    const prover = new Prover(store, logs);
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
  });
  if (json) writeJson(context, { ...counts, findings: findings.list });
  else {
    tellFindings(context.err, findings.list);
    context.err(
      `Verified ${counted(counts.verified, 'audit record')}. Waiting for a checkpoint: ${counts.waiting}. Older than the ` +
        `log: ${counts.older}.\n`,
    );
  }
  if (findings.list.length === 0) return;
  throw new CommandError(`the check failed: ${counted(findings.list.length, 'finding')}`, 1);
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
class Prover {
  readonly #store: LedgerStore;
  readonly #logs: ReadonlyMap<number, LogRecord>;

  constructor(store: LedgerStore, logs: readonly LogRecord[]) {
    this.#store = store;
    this.#logs = new Map(logs.map((log) => [log.logId, log]));
  }

  async prove({ auditId }: Audit): Promise<Proved> {
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

/** Throws `CommandError` for a note that is no checkpoint: it says nothing about which records are proved. */
function sizeOf(note: string, { origin }: LogRecord): number {
  try {
    return parseCheckpoint(parseNote(note).text).size;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(
      `the stored checkpoint of the log ${origin} was changed: ${error.message}. To examine the log: phm log check`,
      1,
    );
  }
}

/** Reports whether the record has a statement, and its proof leads to a checkpoint that the log signed. */
function isProved(record: Audit, { place, proof }: Proved): boolean {
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
