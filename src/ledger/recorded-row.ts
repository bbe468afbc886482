/** Converts rows of the ledger, the log and the audit table for both stores. */

import type { Commitment } from '../proof/index.ts';
import type {
  PendingEntry,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
  RowSeal,
} from './ledger-row.ts';
import type { AuditRecord, HeadSeal, Logged, LogRecord } from './log-store.ts';
import type { Head } from './log-turn.ts';

/** The columns behind `RecordedRow`, with their names in both databases. */
const COLUMNS = {
  keyId: 'ledger.key_id',
  fingerprint: 'CAST(ledger.fingerprint AS text)',
  commitment: 'ledger.commitment',
  secretVersion: 'ledger.secret_version',
  accountId: 'ledger.account_id',
  apiKeyId: 'ledger.api_key_id',
  securityLevel: 'ledger.security_level',
  modulation: 'ledger.modulation',
  source: 'ledger.source',
  createdMs: 'ledger.created_ms',
  latencyUs: 'ledger.latency_us',
  entropyBits: 'ledger.entropy_bits',
  entropyJobId: 'ledger.entropy_job_id',
  gateP: 'ledger.gate_p',
  testsPassed: 'ledger.tests_passed',
  totalTests: 'ledger.total_tests',
  definition: 'ledger.evidence_definition',
  pValues: 'validated_keys.p_values',
  sealedTo: 'ledger.sealed_to',
  sealedDigest: 'ledger.sealed_digest',
  labels: 'ledger.labels',
  expiresMs: 'ledger.expires_ms',
  keyCommitment: 'ledger.key_commitment',
  salt: 'ledger.salt',
  strengthBits: 'ledger.strength_bits',
  sources: 'ledger.sources',
  software: 'software.name',
};

const list = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, column]) => `${column} AS "${name}"`)
    .join(', ');

const RECORDS = `FROM ledger
  LEFT JOIN validated_keys
    ON validated_keys.account_id = ledger.account_id AND validated_keys.key_id = ledger.key_id
  LEFT JOIN software ON software.software_id = ledger.software_id`;

/** Selects rows of `toRecordedRow`. A condition may follow. */
export const SELECT_RECORDS = `SELECT ${list(COLUMNS)} ${RECORDS}`;

/** Selects rows of `toRecordedRow` and `toLogged`. */
export const SELECT_LOGGED_RECORDS = `SELECT ${list(COLUMNS)}, log_entries.log_id AS "logId",
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

export function toRecordedRow(row: Row): RecordedRow {
  return {
    keyId: row.keyId as Uint8Array,
    commitment: toCommitment(row),
    accountId: String(row.accountId),
    apiKeyId: String(row.apiKeyId),
    securityLevel: Number(row.securityLevel),
    modulation: String(row.modulation),
    source: String(row.source),
    createdMs: Number(row.createdMs),
    latencyUs: Number(row.latencyUs),
    entropyBits: Number(row.entropyBits),
    entropyJobId: row.entropyJobId as string | null,
    evidence: toEvidence(row),
    sealed: toRowSeal(row),
    labels: row.labels as string | null,
    expiresMs: row.expiresMs as number | null,
    receipt: toReceipt(row),
  };
}

export function toCommitment(row: Row): Commitment {
  const { buffer, byteOffset, length } = row.commitment as Uint8Array<ArrayBuffer>;
  return {
    version: Number(row.secretVersion),
    digest: Buffer.from(buffer, byteOffset, length),
    fingerprint: BigInt(row.fingerprint as string),
  };
}

function toEvidence(row: Row): RecordedEvidence | null {
  const pValues = (row.pValues as Uint8Array | null) ?? new Uint8Array(0);
  const verdict = toVerdict(row);
  return verdict && { ...verdict, pValues };
}

/** Programs that do not know `evidence_definition` recorded the first one. */
export function toVerdict(row: Row): Omit<RecordedEvidence, 'pValues'> | null {
  if (row.gateP === null) return null;
  return {
    definition: Number(row.definition ?? 1),
    gateP: Number(row.gateP),
    testsPassed: Number(row.testsPassed),
    totalTests: Number(row.totalTests),
  };
}

function toRowSeal({ sealedTo, sealedDigest }: Row): RowSeal | null {
  if (sealedTo === null || sealedDigest === null) return null;
  return { recipient: sealedTo as Uint8Array, digest: sealedDigest as Uint8Array };
}

function toReceipt(row: Row): RecordedReceipt | null {
  if (row.keyCommitment === null || row.salt === null) return null;
  return {
    keyCommitment: row.keyCommitment as Uint8Array,
    salt: row.salt as Uint8Array,
    strengthBits: Number(row.strengthBits),
    sources: String(row.sources),
    software: String(row.software ?? ''),
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
