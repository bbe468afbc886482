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
  KEY_STATEMENT_V2,
  type KeyStatement,
} from '#tlog';
import { formatTimestamp } from '../clock.ts';
import type {
  AuditRecord,
  RecordedEvidence,
  RecordedReceipt,
  RecordedRow,
  RowDelivery,
  RowSeal,
} from '../ledger/index.ts';
import { type KeyColumn, RECORDED_COLUMNS } from '../ledger/key-columns.ts';
import { isShared, sealsOf } from '../ledger/row-seals.ts';
import { formatDeliveryId } from './delivery-id.ts';
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

function canonicalKeyStatement(
  record: RecordedRow,
  origin: string,
  keyId = formatKeyId(record.keyId),
): string {
  const receipt = receiptOf(record);
  const shared = record.sealed !== null && isShared(record.sealed) ? record.sealed : null;
  return (
    `{${shared ? `"delivery":${canonicalDelivery(shared)},` : ''}"evidence":${record.evidence ? canonicalEvidence(record.evidence) : null}` +
    `,"key_commitment":"${base64(receipt.keyCommitment)}"` +
    `,"key_id":"${keyId}"` +
    `,"modulation":${quoted(record.modulation)}` +
    `,"row_digest":"${hash('sha256', canonicalRow(record, keyId), 'base64')}"` +
    `,"salt":"${base64(receipt.salt)}"` +
    (shared ? canonicalSeals(shared) : canonicalSeal(record.sealed)) +
    `,"security_level":${record.securityLevel}` +
    `,"security_strength_bits":${receipt.strengthBits}` +
    `,"service":${quoted(origin)}` +
    `,"software":${quoted(receipt.software)}` +
    `,"sources":[${canonicalSources(receipt.sources)}]` +
    `,"time":"${formatTimestamp(record.createdMs)}"` +
    `,"type":"${shared ? KEY_STATEMENT_V2 : KEY_STATEMENT}"}`
  );
}

function canonicalDelivery({ deliveryId, deliveryContext: context }: RowDelivery): string {
  if (deliveryId === null && context === null) return 'null';
  const id = deliveryId ? formatDeliveryId(deliveryId) : '';
  return `{"context":${context ? `"${base64(context)}"` : null},"id":"${id}"}`;
}

/** The members of a key in plaintext, or for one recipient. */
function canonicalSeal(seal: RowSeal | null): string {
  if (seal === null) return ',"sealed_digest":null,"sealed_to":null';
  return `,"sealed_digest":"${base64(seal.digest)}","sealed_to":"${base64(seal.recipient)}"`;
}

function canonicalSeals(seal: RowSeal): string {
  const seals = sealsOf(seal).map(
    ({ recipient, digest }) => `{"digest":"${base64(digest)}","to":"${base64(recipient)}"}`,
  );
  return `,"sealed":[${seals.join(',')}]`;
}

/** Throws `TypeError` for a row without receipt columns. */
function receiptOf({ receipt }: RecordedRow): RecordedReceipt {
  if (receipt) return receipt;
  throw new TypeError('"record" expected a row with receipt columns, got one without');
}

function canonicalEvidence(evidence: RecordedEvidence): string {
  return (
    `{"digest":"${evidenceDigest(evidence)}","tests_passed":${evidence.testsPassed}` +
    `,"total_tests":${evidence.totalTests},"verdict":"${VERDICT}"}`
  );
}

/** The last sources that were written: most keys of a server have the same. */
let lastSources: string | undefined;
let lastCanonical = '';

function canonicalSources(sources: string): string {
  if (sources !== lastSources) {
    lastCanonical = parseSources(sources)
      .map(({ name, creditBits }) => `{"credit_bits":${creditBits},"name":${quoted(name)}}`)
      .join(',');
    lastSources = sources;
  }
  return lastCanonical;
}

/**
 * Returns the digest of the evidence on a stream: `sha256:` and the hexadecimal SHA-256 of
 *
 *   {"definition":3,"gate_p_value":0.331,"p_values":"…","verdict":"PASS"}
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
 * Returns the digest of a row, 32 bytes: the SHA-256 of the canonical form of its columns, by their `digest`
 * (`ledger/key-columns.ts`). Bytes are base64, and the key ID and the fingerprint are text. Throws `TypeError` for a row
 * without receipt columns.
 */
export function rowDigest(record: RecordedRow): Buffer {
  receiptOf(record);
  return hash('sha256', canonicalRow(record, formatKeyId(record.keyId)), 'buffer');
}

const FORMS: Readonly<Record<KeyColumn['kind'], (value: never) => string>> = {
  text: quoted,
  bytes: (value: Uint8Array) => `"${base64(value)}"`,
  integer: String,
  real: String,
  flag: String,
  int64: (value: bigint) => `"${value}"`,
};

/** The columns of the digest in the order of their names, each with its form. */
const DIGESTED = RECORDED_COLUMNS.filter(({ digest }) => digest !== 'never')
  .sort((one, other) => (one.name < other.name ? -1 : 1))
  .map(({ name, place, kind, digest, valueIn }) => ({
    start: `,"${name}":`,
    form: place === 'keyId' ? null : FORMS[kind],
    isAbsent: digest === 'absent',
    valueIn,
  }));

/** A loop over columns costs 0.3 µs more than their names in a row (bench/key-path.ts). */
function canonicalRow(record: RecordedRow, keyId: string): string {
  let text = '';
  for (const { start, form, isAbsent, valueIn } of DIGESTED) {
    const value = valueIn(record);
    if (form === null) text += `${start}"${keyId}"`;
    else if (value !== null) text += start + form(value as never);
    else if (!isAbsent) text += `${start}null`;
  }
  return `{${text.slice(1)}}`;
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
  return text !== null && PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

function base64(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  const readable = Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, length);
  return readable.toString('base64');
}
