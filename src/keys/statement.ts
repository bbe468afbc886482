/**
 * Statements of the transparency log (docs/receipts.md): what the service states about a key or an
 * administrative action. The SHA-256 of a statement's canonical form (RFC 8785) is its entry in the log.
 *
 * The same functions run when a key is recorded and when its statement is rebuilt from the ledger. They read
 * nothing but the stored columns, so both give the same bytes.
 *
 * Every object here has its members in the order of RFC 8785 §3.2.3, and `JSON.stringify` writes numbers and
 * strings as §3.2.2 does. So it writes the canonical form, in a tenth of the time of `canonicalJson`, which
 * tests compare with it. Strings are without lone surrogates: the service writes them in ASCII.
 */
import { hash } from 'node:crypto';
import {
  AUDIT_STATEMENT,
  type AuditStatement,
  canonicalJson,
  type JsonObject,
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

/** Only streams that pass the gate become rows. */
const VERDICT = 'PASS';

/**
 * Returns the statement about a key in the log of this origin. Throws `TypeError` for a row without receipt
 * columns, which was written without a log.
 */
export function keyStatement(record: RecordedRow, origin: string): KeyStatement {
  const { receipt, evidence } = record;
  if (!receipt)
    throw new TypeError('"record" expected a row with receipt columns, got one without');
  const keyId = formatKeyId(record.keyId);
  return {
    evidence: evidence && {
      digest: evidenceDigest(evidence),
      tests_passed: evidence.testsPassed,
      total_tests: evidence.totalTests,
      verdict: VERDICT,
    },
    key_commitment: base64(receipt.keyCommitment),
    key_id: keyId,
    modulation: record.modulation,
    row_digest: digestOf(columnsOf(record, receipt, keyId), 'base64'),
    salt: base64(receipt.salt),
    sealed_digest: null,
    sealed_to: null,
    security_level: record.securityLevel,
    security_strength_bits: receipt.strengthBits,
    service: origin,
    software: receipt.software,
    sources: parseSources(receipt.sources).map(({ name, creditBits }) => ({
      credit_bits: creditBits,
      name,
    })),
    time: formatTimestamp(record.createdMs),
    type: KEY_STATEMENT,
  };
}

/** Returns the entry of a key in the log of this origin: the SHA-256 of its canonical statement, 32 bytes. */
export function keyEntry(record: RecordedRow, origin: string): Buffer {
  return hash('sha256', JSON.stringify(keyStatement(record, origin)), 'buffer');
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
  const evidence = { definition, gate_p_value: gateP, p_values: base64(pValues), verdict: VERDICT };
  return `sha256:${digestOf(evidence, 'hex')}`;
}

/**
 * Returns the digest of a row, 32 bytes: the SHA-256 of the canonical form of all its columns. Bytes are base64,
 * the key ID and the fingerprint are text, and a column without a value is null. Throws `TypeError` for a row
 * without receipt columns.
 */
export function rowDigest(record: RecordedRow): Buffer {
  const { receipt } = record;
  if (!receipt)
    throw new TypeError('"record" expected a row with receipt columns, got one without');
  const columns = columnsOf(record, receipt, formatKeyId(record.keyId));
  return hash('sha256', JSON.stringify(columns), 'buffer');
}

function columnsOf(record: RecordedRow, receipt: RecordedReceipt, keyId: string) {
  const { commitment, evidence } = record;
  return {
    account_id: record.accountId,
    api_key_id: record.apiKeyId,
    commitment: base64(commitment.digest),
    created_ms: record.createdMs,
    entropy_bits: record.entropyBits,
    entropy_job_id: record.entropyJobId,
    evidence_definition: evidence?.definition ?? null,
    fingerprint: String(commitment.fingerprint),
    gate_p: evidence?.gateP ?? null,
    key_commitment: base64(receipt.keyCommitment),
    key_id: keyId,
    latency_us: record.latencyUs,
    modulation: record.modulation,
    p_values: evidence && base64(evidence.pValues),
    salt: base64(receipt.salt),
    secret_version: commitment.version,
    security_level: record.securityLevel,
    software: receipt.software,
    source: record.source,
    sources: receipt.sources,
    strength_bits: receipt.strengthBits,
    tests_passed: evidence?.testsPassed ?? null,
    total_tests: evidence?.totalTests ?? null,
  } satisfies JsonObject;
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

function digestOf(canonical: JsonObject, encoding: 'base64' | 'hex'): string {
  return hash('sha256', JSON.stringify(canonical), encoding);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}
