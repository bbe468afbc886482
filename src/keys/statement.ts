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

function canonicalKeyStatement(
  record: RecordedRow,
  origin: string,
  keyId = formatKeyId(record.keyId),
): string {
  const texts = textsOf(record, keyId);
  const { receipt } = texts;
  return (
    `{"evidence":${record.evidence ? canonicalEvidence(record.evidence) : null}` +
    `,"key_commitment":"${texts.keyCommitment}"` +
    `,"key_id":"${keyId}"` +
    `,"modulation":${quoted(record.modulation)}` +
    `,"row_digest":"${hash('sha256', canonicalRow(record, texts), 'base64')}"` +
    `,"salt":"${texts.salt}"` +
    `,"sealed_digest":${record.sealed ? `"${base64(record.sealed.digest)}"` : null}` +
    `,"sealed_to":${record.sealed ? `"${base64(record.sealed.recipient)}"` : null}` +
    `,"security_level":${record.securityLevel}` +
    `,"security_strength_bits":${receipt.strengthBits}` +
    `,"service":${quoted(origin)}` +
    `,"software":${texts.software}` +
    `,"sources":[${canonicalSources(receipt.sources)}]` +
    `,"time":"${formatTimestamp(record.createdMs)}"` +
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
  /** Quoted. */
  readonly software: string;
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
    software: quoted(receipt.software),
  };
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
 * key ID and the fingerprint are text, and a column without a value is null, except `labels` and `expires_ms`, which
 * are then absent: rows of earlier releases keep their digests. The statement itself holds the columns of a sealed key.
 * Throws `TypeError` for a row without receipt columns.
 */
export function rowDigest(record: RecordedRow): Buffer {
  const columns = canonicalRow(record, textsOf(record, formatKeyId(record.keyId)));
  return hash('sha256', columns, 'buffer');
}

function canonicalRow(record: RecordedRow, texts: RowTexts): string {
  const { commitment, evidence } = record;
  const { receipt } = texts;
  return (
    `{"account_id":${quoted(record.accountId)}` +
    `,"api_key_id":${quoted(record.apiKeyId)}` +
    `,"commitment":"${base64(commitment.digest)}"` +
    `,"created_ms":${record.createdMs}` +
    `,"entropy_bits":${record.entropyBits}` +
    `,"entropy_job_id":${quoted(record.entropyJobId)}` +
    `,"evidence_definition":${evidence ? evidence.definition : null}` +
    `${record.expiresMs === null ? '' : `,"expires_ms":${record.expiresMs}`}` +
    `,"fingerprint":"${commitment.fingerprint}"` +
    `,"gate_p":${evidence ? evidence.gateP : null}` +
    `,"key_commitment":"${texts.keyCommitment}"` +
    `,"key_id":"${texts.keyId}"` +
    `${record.labels === null ? '' : `,"labels":${quoted(record.labels)}`}` +
    `,"latency_us":${record.latencyUs}` +
    `,"modulation":${quoted(record.modulation)}` +
    `,"p_values":${evidence ? `"${base64(evidence.pValues)}"` : null}` +
    `,"salt":"${texts.salt}"` +
    `,"secret_version":${commitment.version}` +
    `,"security_level":${record.securityLevel}` +
    `,"software":${texts.software}` +
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
  return text !== null && PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

function base64(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  const readable = Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, length);
  return readable.toString('base64');
}
