/**
 * Statements of the transparency log (docs/receipts.md): what the service states about a key or an
 * administrative action. The SHA-256 of a statement's canonical form (RFC 8785) is its entry in the log.
 *
 * The same functions run when a key is recorded and when its statement is rebuilt from the ledger. They read
 * nothing but the stored columns, so both give the same bytes.
 *
 * The canonical form of a key's statement is written directly, with the members in the order of §3.2.3, because
 * every key needs it once (bench/key-path.ts). Tests compare it with `canonicalJson`. A template writes a
 * number as §3.2.2.3 does. Strings are without lone surrogates: the service writes them in ASCII.
 */
import { hash } from 'node:crypto';
import {
  AUDIT_STATEMENT,
  type AuditStatement,
  canonicalJson,
  KEY_STATEMENT,
  type KeyStatement,
} from '#tlog';
import { formatTimestamp } from '../clock.ts';
import type {
  AuditRecord,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
} from '../ledger/index.ts';
import { formatKeyId } from './key-id.ts';
import { parseSources } from './sources-text.ts';

const ENTRY_BYTES = 32;

/** Only streams that pass the gate become rows. */
const VERDICT = 'PASS';

/**
 * Returns the statement about a key in the log of this origin. Throws `TypeError` for a row without receipt
 * columns, which was written without a log.
 */
export function keyStatement(record: RecordedRow, origin: string): KeyStatement {
  return JSON.parse(canonicalKeyStatement(record, origin));
}

/**
 * Returns the entry of a key in the log of this origin: the SHA-256 of its canonical statement, 32 bytes. A caller that has
 * the key ID as text passes it.
 */
export function keyEntry(record: RecordedRow, origin: string, keyId?: string): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  // Text in between: `hash` needs 0.6 µs more for a buffer (bench/key-path.ts).
  entry.write(hash('sha256', canonicalKeyStatement(record, origin, keyId), 'binary'), 'latin1');
  return entry;
}

/** Stands for a text that each row has for itself. No canonical text holds this character. */
const GAP = '\0';

/** What many rows of a server have in common, and the canonical text around their own texts. */
interface Form {
  readonly record: RecordedRow;
  readonly origin: string;
  /** Runs of the row, and runs of the statement. */
  readonly row: readonly string[];
  readonly statement: readonly string[];
}

/** Forms for the orders that a server gets at the same time: three lengths of keys, four modulations. */
const MAX_FORMS = 32;

/** The last forms, the newest first. */
const forms: Form[] = [];

/**
 * Returns the form of a row. Joining few long texts takes two thirds of the time of many short ones (measured,
 * bench/key-path.ts).
 */
function formOf(record: RecordedRow, receipt: RecordedReceipt, origin: string): Form {
  const known = forms.find((form) => form.origin === origin && hasForm(record, form.record));
  if (known) return known;
  const row = rowText(record, receipt).split(GAP);
  const form = {
    record,
    origin,
    row,
    statement: statementText(record, receipt, origin).split(GAP),
  };
  // Evidence is part of the form, so such a form fits one row.
  if (record.evidence === null) forms.unshift(form);
  if (forms.length > MAX_FORMS) forms.pop();
  return form;
}

/** Reports whether rows differ at most where their canonical texts have gaps. */
function hasForm(record: RecordedRow, form: RecordedRow): boolean {
  return (
    record.evidence === form.evidence &&
    record.securityLevel === form.securityLevel &&
    record.modulation === form.modulation &&
    record.source === form.source &&
    record.commitment.version === form.commitment.version &&
    record.receipt?.strengthBits === form.receipt?.strengthBits &&
    record.receipt?.sources === form.receipt?.sources &&
    record.receipt?.software === form.receipt?.software
  );
}

function canonicalKeyStatement(
  record: RecordedRow,
  origin: string,
  keyId = formatKeyId(record.keyId),
): string {
  const texts = textsOf(record, keyId);
  const { row, statement: runs } = formOf(record, texts.receipt, origin);
  const digest = hash('sha256', canonicalRow(record, texts, row), 'base64');
  const { sealed } = record;
  return (
    `${runs[0]}${texts.keyCommitment}${runs[1]}${keyId}${runs[2]}${digest}${runs[3]}${texts.salt}${runs[4]}` +
    `${sealed ? quotedBase64(sealed.digest) : null}${runs[5]}` +
    `${sealed ? quotedBase64(sealed.recipient) : null}${runs[6]}` +
    `${formatTimestamp(record.createdMs)}${runs[7]}`
  );
}

/** Returns the canonical statement with gaps for the texts of `canonicalKeyStatement`. */
function statementText(record: RecordedRow, receipt: RecordedReceipt, origin: string): string {
  return (
    `{"evidence":${record.evidence ? canonicalEvidence(record.evidence) : null}` +
    `,"key_commitment":"${GAP}"` +
    `,"key_id":"${GAP}"` +
    `,"modulation":${quoted(record.modulation)}` +
    `,"row_digest":"${GAP}"` +
    `,"salt":"${GAP}"` +
    `,"sealed_digest":${GAP}` +
    `,"sealed_to":${GAP}` +
    `,"security_level":${record.securityLevel}` +
    `,"security_strength_bits":${receipt.strengthBits}` +
    `,"service":${quoted(origin)}` +
    `,"software":${quoted(receipt.software)}` +
    `,"sources":[${canonicalSources(receipt.sources)}]` +
    `,"time":"${GAP}"` +
    `,"type":"${KEY_STATEMENT}"}`
  );
}

/** The receipt columns of a row, and the texts that row and statement both hold. */
interface RowTexts {
  readonly receipt: RecordedReceipt;
  readonly keyId: string;
  /** Base64. */
  readonly keyCommitment: string;
  /** Base64. */
  readonly salt: string;
}

/** Throws `TypeError` for a row without receipt columns. */
function textsOf({ receipt }: RecordedRow, keyId: string): RowTexts {
  if (!receipt) {
    throw new TypeError('"record" expected a row with receipt columns, got one without');
  }
  return {
    receipt,
    keyId,
    keyCommitment: base64(receipt.keyCommitment),
    salt: base64(receipt.salt),
  };
}

function canonicalEvidence(evidence: RecordedEvidence): string {
  return (
    `{"digest":"${evidenceDigest(evidence)}","tests_passed":${evidence.testsPassed}` +
    `,"total_tests":${evidence.totalTests},"verdict":"${VERDICT}"}`
  );
}

function canonicalSources(sources: string): string {
  return parseSources(sources)
    .map(({ name, creditBits }) => `{"credit_bits":${creditBits},"name":${quoted(name)}}`)
    .join(',');
}

/**
 * Returns the digest of the evidence on a stream: `sha256:` and the hexadecimal SHA-256 of
 *
 *   {"definition":2,"gate_p_value":0.331,"p_values":"…","verdict":"PASS"}
 *
 * in canonical form. `p_values` is the base64 of the packed p-values (`p-values.ts`). A `nist_report` has it all:
 *
 *   1. `definition` is `evidence_definition`, `gate_p_value` is `gate.p_value`, `verdict` is `gate.verdict`.
 *   2. Take the tests of `tests` in the order of the report, then frequency, block_frequency, runs and
 *      longest_run of `modulation_tests`.
 *   3. Each p-value p becomes ⌊p · 10^9⌋ in 4 bytes, least significant first. The product is rounded in binary64: if
 *      the result divided by 10^9 is above p, subtract 1.
 *   4. A test that is not applicable, or not in the report, becomes 0xffffffff for each p-value that it would have:
 *      2 for cumulative_sums and serial, 148 for non_overlapping_template, 8 for random_excursions, 18 for
 *      random_excursions_variant, and 1 for every other test.
 *   5. The base64 of these 768 bytes (RFC 4648 §4, padded) is `p_values`.
 */
export function evidenceDigest({ definition, gateP, pValues }: RecordedEvidence): string {
  const canonical =
    `{"definition":${definition},"gate_p_value":${gateP}` +
    `,"p_values":"${base64(pValues)}","verdict":"${VERDICT}"}`;
  return `sha256:${hash('sha256', canonical)}`;
}

/**
 * Returns the digest of a row, 32 bytes: the SHA-256 of the canonical form of its columns. Bytes are base64, the
 * key ID and the fingerprint are text, and a column without a value is null. The statement itself holds the columns
 * of a sealed key. Throws `TypeError` for a row
 * without receipt columns.
 */
export function rowDigest(record: RecordedRow): Buffer {
  const texts = textsOf(record, formatKeyId(record.keyId));
  const columns = canonicalRow(record, texts, rowText(record, texts.receipt).split(GAP));
  return hash('sha256', columns, 'buffer');
}

/** `runs` are those of `rowText`. */
function canonicalRow(record: RecordedRow, texts: RowTexts, runs: readonly string[]): string {
  const { commitment } = record;
  return (
    `${runs[0]}${quoted(record.accountId)}${runs[1]}${quoted(record.apiKeyId)}` +
    `${runs[2]}${base64(commitment.digest)}${runs[3]}${record.createdMs}` +
    `${runs[4]}${record.entropyBits}${runs[5]}${quoted(record.entropyJobId)}` +
    `${runs[6]}${commitment.fingerprint}${runs[7]}${texts.keyCommitment}` +
    `${runs[8]}${texts.keyId}${runs[9]}${record.latencyUs}${runs[10]}${texts.salt}${runs[11]}`
  );
}

/** Returns the canonical row with gaps for the texts of `canonicalRow`. */
function rowText(record: RecordedRow, receipt: RecordedReceipt): string {
  const { evidence } = record;
  return (
    `{"account_id":${GAP}` +
    `,"api_key_id":${GAP}` +
    `,"commitment":"${GAP}"` +
    `,"created_ms":${GAP}` +
    `,"entropy_bits":${GAP}` +
    `,"entropy_job_id":${GAP}` +
    `,"evidence_definition":${evidence ? evidence.definition : null}` +
    `,"fingerprint":"${GAP}"` +
    `,"gate_p":${evidence ? evidence.gateP : null}` +
    `,"key_commitment":"${GAP}"` +
    `,"key_id":"${GAP}"` +
    `,"latency_us":${GAP}` +
    `,"modulation":${quoted(record.modulation)}` +
    `,"p_values":${evidence ? quotedBase64(evidence.pValues) : null}` +
    `,"salt":"${GAP}"` +
    `,"secret_version":${record.commitment.version}` +
    `,"security_level":${record.securityLevel}` +
    `,"software":${quoted(receipt.software)}` +
    `,"source":${quoted(record.source)}` +
    `,"sources":${quoted(receipt.sources)}` +
    `,"strength_bits":${receipt.strengthBits}` +
    `,"tests_passed":${evidence ? evidence.testsPassed : null}` +
    `,"total_tests":${evidence ? evidence.totalTests : null}}`
  );
}

/** Returns the statement about an administrative action in the log of this origin. */
export function auditStatement(
  { auditId, atMs, action, details, salt }: Omit<AuditRecord, 'pending'>,
  origin: string,
): AuditStatement {
  return {
    action,
    audit_id: formatAuditId(auditId),
    details: JSON.parse(details),
    salt: base64(salt),
    service: origin,
    time: formatTimestamp(atMs),
    type: AUDIT_STATEMENT,
  };
}

/** Returns the entry of an audit record in the log of this origin, 32 bytes. */
export function auditEntry(record: Omit<AuditRecord, 'pending'>, origin: string): Buffer {
  return hash('sha256', canonicalJson(auditStatement(record, origin)), 'buffer');
}

/** Returns an audit ID of 16 bytes as the text of a UUID (RFC 9562 §4). */
export function formatAuditId(auditId: Uint8Array): string {
  const hex = Buffer.from(auditId.buffer, auditId.byteOffset, auditId.length).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Characters that a string of JSON holds as they are. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** §3.2.2.2: ECMAScript's own form of strings. */
function quoted(text: string | null): string {
  if (text === null) return 'null';
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

function quotedBase64(bytes: Uint8Array): string {
  return `"${base64(bytes)}"`;
}

function base64(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  const readable = Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, length);
  return readable.toString('base64');
}
