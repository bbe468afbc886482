/** Converts rows of the ledger, the log and the audit table for both stores. */

import type { Commitment } from '../proof/index.ts';
import { type Place, RECORDED_COLUMNS, type RowParts } from './key-columns.ts';
import type {
  PendingEntry,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
  RowSeal,
} from './ledger-row.ts';
import type { AuditRecord, HeadSeal, Logged, LogRecord } from './log-store.ts';
import type { Head } from './log-turn.ts';
import { sealsOf } from './row-seals.ts';

const RECORDED_PLACES = RECORDED_COLUMNS.map(({ place }) => place);

/** Selects columns of a key's row, each under its place; all that a recorded row has by default. */
export function selection(places: readonly Place[] = RECORDED_PLACES): string {
  return RECORDED_COLUMNS.filter(({ place }) => places.includes(place))
    .map(({ name, source = `ledger.${name}`, kind, place }) =>
      kind === 'int64' ? `CAST(${source} AS text) AS "${place}"` : `${source} AS "${place}"`,
    )
    .join(', ');
}

const RECORDS = `FROM ledger
  LEFT JOIN validated_keys
    ON validated_keys.account_id = ledger.account_id AND validated_keys.key_id = ledger.key_id
  LEFT JOIN software ON software.software_id = ledger.software_id`;

/** Selects rows of `toRecordedRow`. A condition may follow. */
export const SELECT_RECORDS = `SELECT ${selection()} ${RECORDS}`;

/** Selects rows of `toRecordedRow` and `toLogged`. */
export const SELECT_LOGGED_RECORDS = `SELECT ${selection()}, log_entries.log_id AS "logId",
    log_entries.entry_index AS "index", log_pending.log_id IS NOT NULL AS "isPending" ${RECORDS}
  LEFT JOIN log_entries ON log_entries.entry_id = ledger.key_id
  LEFT JOIN log_pending ON log_pending.entry_id = ledger.key_id`;

/** Selects rows of `toLogRecord`. `isMoved` is an expression of the store. A condition may follow. */
export const selectLogs = (
  isMoved: string,
): string => `SELECT log_id AS "logId", origin, verifier_keys AS "verifierKeys",
    started_ms AS "startedMs", closed_ms AS "closedMs", size, root, head_mac AS "headMac",
    head_version AS "headVersion",
    (SELECT note FROM log_checkpoints AS c WHERE c.log_id = logs.log_id AND c.kind = 'checkpoint')
      AS checkpoint,
    (SELECT note FROM log_checkpoints AS c WHERE c.log_id = logs.log_id AND c.kind = 'witnessed')
      AS witnessed,
    ${isMoved} AS "isMoved"
  FROM logs`;

/** The columns of `toHead`. */
export const HEAD_COLUMNS =
  'size, root, head_mac AS "headMac", head_version AS "headVersion", closed_ms AS "closedMs"';

export const SELECT_PENDING = `SELECT log_pending.entry_id AS "entryId", log_pending.log_id AS "logId",
    log_pending.kind AS kind, log_pending.entry AS entry, log_pending.mac AS mac,
    log_pending.secret_version AS "secretVersion"`;

export const SELECT_AUDITS =
  'SELECT audit_id AS "auditId", at_ms AS "atMs", action, details, salt FROM audit';

export type Row = Readonly<Record<string, unknown>>;

/** Places of the row itself, not of its parts. */
type OwnPlace = Exclude<keyof RecordedRow, keyof RowParts>;

const OWN_PLACES = RECORDED_PLACES.filter((place) => !place.includes('.')) as OwnPlace[];

export function toRecordedRow(row: Row): RecordedRow {
  return {
    ...ownMembers(row, OWN_PLACES),
    commitment: toCommitment(row),
    evidence: toEvidence(row),
    sealed: toRowSeal(row),
    receipt: toReceipt(row),
  };
}

/** Returns the values of these places as the database has them: as the row does. */
export function ownMembers<P extends OwnPlace>(
  row: Row,
  places: readonly P[],
): Pick<RecordedRow, P> {
  return Object.fromEntries(places.map((place) => [place, row[place]])) as Pick<RecordedRow, P>;
}

export function toCommitment(row: Row): Commitment {
  const { buffer, byteOffset, length } = row['commitment.digest'] as Uint8Array<ArrayBuffer>;
  return {
    version: Number(row['commitment.version']),
    digest: Buffer.from(buffer, byteOffset, length),
    fingerprint: BigInt(row['commitment.fingerprint'] as string),
  };
}

function toEvidence(row: Row): RecordedEvidence | null {
  const pValues = (row['evidence.pValues'] as Uint8Array | null) ?? new Uint8Array(0);
  const verdict = toVerdict(row);
  return verdict && { ...verdict, pValues };
}

/** The columns of `toVerdict`. */
export const VERDICT_PLACES = RECORDED_PLACES.filter(
  (place) => place.startsWith('evidence.') && place !== 'evidence.pValues',
);

/** Programs that do not know `evidence_definition` recorded the first one. */
export function toVerdict(row: Row): Omit<RecordedEvidence, 'pValues'> | null {
  if (row['evidence.gateP'] === null) return null;
  return {
    definition: Number(row['evidence.definition'] ?? 1),
    gateP: Number(row['evidence.gateP']),
    testsPassed: Number(row['evidence.testsPassed']),
    totalTests: Number(row['evidence.totalTests']),
  };
}

/** The columns of `toRecipients`. */
export const SEAL_PLACES = [
  ...(['sealed.recipient', 'sealed.digest', 'sealed.further'] as const),
  ...(['sealed.deliveryId', 'sealed.deliveryContext'] as const),
] as const;

/** A row with only some of these columns, which no server writes, has a seal too: its statement then is not the logged one. */
function toRowSeal(row: Row): RowSeal | null {
  const columns = SEAL_PLACES.map((place) => row[place] as Uint8Array | null);
  if (columns.every((one) => !one)) return null;
  const [recipient, digest, further, deliveryId, deliveryContext] = columns;
  const none = new Uint8Array(0);
  return {
    recipient: recipient ?? none,
    digest: digest ?? none,
    further: further ?? null,
    deliveryId: deliveryId ?? null,
    deliveryContext: deliveryContext ?? null,
  };
}

/** Returns the thumbprints of a key's recipients, in the order of the request; none for a key in plaintext. */
export function toRecipients(row: Row): readonly Uint8Array[] {
  const seal = toRowSeal(row);
  return seal === null ? [] : sealsOf(seal).map(({ recipient }) => recipient);
}

function toReceipt(row: Row): RecordedReceipt | null {
  const [keyCommitment, salt] = [row['receipt.keyCommitment'], row['receipt.salt']];
  if (keyCommitment === null || salt === null) return null;
  return {
    keyCommitment: keyCommitment as Uint8Array,
    salt: salt as Uint8Array,
    strengthBits: Number(row['receipt.strengthBits']),
    sources: String(row['receipt.sources']),
    software: String(row['receipt.software'] ?? ''),
  };
}

export function toLogged({ logId, index, isPending }: Row): Logged {
  if (typeof logId === 'number') return { logId, index: Number(index) };
  return isPending ? 'pending' : null;
}

export function toLogRecord({ headMac, headVersion, ...row }: Row): LogRecord {
  const seal = toSeal({ headMac, headVersion });
  return { ...(row as unknown as LogRecord), seal, isMoved: Boolean(row.isMoved) };
}

export function toHead({ headMac, headVersion, ...row }: Row): Head {
  return { ...(row as unknown as Head), seal: toSeal({ headMac, headVersion }) };
}

function toSeal({ headMac, headVersion }: Row): HeadSeal {
  return { mac: headMac as Uint8Array, version: Number(headVersion) };
}

/** Fields by name: rows of SQLite are dictionaries, which take longer to copy (measured by bench/receipts.ts). */
export function toPendingEntry(row: Row): PendingEntry {
  const { entryId, logId, kind, entry, mac, secretVersion } = row as unknown as PendingEntry;
  return { entryId, logId, kind, entry, mac, secretVersion };
}

export function toAuditRecord(row: Row): AuditRecord {
  return { ...(row as unknown as AuditRecord), pending: null };
}
