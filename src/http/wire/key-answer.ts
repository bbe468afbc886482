/** Responses with keys: plain ones as objects, sealed ones as text that is stored and answered again. */
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import { sourceKind } from '../../entropy/index.ts';
import type {
  Evidence,
  KeyFacts,
  KeyOrder,
  ReleasedKey,
  SealedResponseKey,
} from '../../keys/index.ts';
import type { GeneratedKeyResponse } from './key-schemas.ts';
import { toNistReport } from './nist-report.ts';
import type { ReceiptBody } from './receipt-schemas.ts';
import type { Warning } from './schemas.ts';
import type { SealedKeyFields } from './sealed-schemas.ts';

export type PlainKeyFields = Omit<GeneratedKeyResponse, 'success' | 'warnings'>;

/** A receipt, or null if it took too long, with its address. */
export interface ReceiptFields {
  readonly receipt: ReceiptBody | null;
  readonly receipt_url: string;
}

/** Returns the fields of a key. The caller wipes the bytes of the key: only the string remains. */
export function plainKey(
  order: KeyOrder,
  key: ReleasedKey,
  createdMs: number,
  receipt: ReceiptFields | undefined,
): PlainKeyFields {
  return {
    key_id: key.keyId,
    key: textOf(key.key, 'hex'),
    ...facts(order, key, createdMs),
    hash_proof: key.hashProof,
    ...verdict(key),
    ...receipt,
    ...(receipt && key.opening && { opening: textOf(key.opening, 'base64') }),
  };
}

function sealedKey(order: KeyOrder, key: SealedResponseKey, createdMs: number): SealedKeyFields {
  const { suite, kem_id, kdf_id, aead_id, enc, ciphertext, header } = key.sealedKey;
  return {
    key_id: key.keyId,
    ...facts(order, key, createdMs),
    sealed_key: { suite, kem_id, kdf_id, aead_id, enc, ciphertext, header },
    ...verdict(key),
  };
}

/** Returns the response to a batch, without warnings. */
export function batchOf<Key>(keys: readonly Key[], createdMs: number) {
  const timestamp = formatTimestamp(createdMs);
  return { success: true as const, timestamp, count: keys.length, keys: [...keys] };
}

/** Returns the text of a sealed response without receipts and warnings, which `joinedText` adds. */
export function sealedText(
  order: KeyOrder,
  keys: readonly SealedResponseKey[],
  createdMs: number,
  isBatch: boolean,
): string {
  const all = keys.map((key) => sealedKey(order, key, createdMs));
  return JSON.stringify(isBatch ? batchOf(all, createdMs) : { success: true, ...all[0] });
}

/**
 * Joins the receipts of a sealed response, in the order of its keys, and its warnings to its stored text. A quotation
 * mark inside a JSON string is escaped, and `header` is base64url, so `"key_id":"` begins a key and nothing else.
 */
export function joinedText(
  text: string,
  isBatch: boolean,
  receipts: readonly ReceiptFields[],
  warnings: readonly Static<typeof Warning>[] | undefined,
): string {
  const starts = keyStarts(text);
  const parts: string[] = [];
  let from = 0;
  receipts.forEach((receipt, i) => {
    const next = starts[i + 1];
    // A key ends before `},{"key_id":`, the last one of a batch before `}]}`, and a single one before `}`.
    const end = next === undefined ? text.length - (isBatch ? 3 : 1) : next - 3;
    parts.push(text.slice(from, end), `,${membersOf(receipt)}`);
    from = end;
  });
  const more = warnings ? `,${membersOf({ warnings })}` : '';
  return `${parts.join('')}${text.slice(from, -1)}${more}}`;
}

function keyStarts(text: string): number[] {
  return [...text.matchAll(/"key_id":"phm_\d+"/g)].map(({ index }) => index);
}

/** Returns the members of an object as JSON, without its braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function facts(order: KeyOrder, key: KeyFacts, createdMs: number) {
  return {
    security_level: order.securityLevel,
    security_strength_bits: key.securityStrengthBits,
    entropy_bits: key.entropyBits,
    latency_ms: Math.round(key.latencyMs * 1000) / 1000,
    timestamp: formatTimestamp(createdMs),
    source: order.source,
    quantum_hardware: sourceKind(order.source) === 'quantum-hardware',
    entropy_job_id: key.entropyJobId,
  };
}

function verdict({ evidence, report }: KeyFacts) {
  return {
    ...(evidence && evidenceFields(evidence)),
    ...(report && { nist_report: toNistReport(report) }),
  };
}

/** Returns both published forms of the verdict. Always PASS: only a stream that passed the gate releases a key. */
function evidenceFields(evidence: Evidence) {
  return {
    nist_validation: {
      certification_status: 'PASS' as const,
      tests_passed: evidence.testsPassed,
      total_tests: evidence.totalTests,
      compliance_level: evidence.complianceLevel,
    },
    nist_score: evidence.score,
    nist_grade: evidence.grade,
  };
}

function textOf({ buffer, byteOffset, length }: Uint8Array, encoding: 'base64' | 'hex'): string {
  return Buffer.from(buffer, byteOffset, length).toString(encoding);
}
