/** Responses with keys, as text. A sealed one may be stored, and is then answered again. */
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import { sourceKind } from '../../entropy/index.ts';
import {
  deliveredUntilMs,
  type Evidence,
  formatDeliveryId,
  type KeyFacts,
  type KeyOrder,
  type KeyRequest,
  type ReleasedKey,
  type SealedResponseKey,
} from '../../keys/index.ts';
import { toNistReport } from './nist-report.ts';
import type { ReceiptBody } from './receipt-schemas.ts';
import type { Warning } from './schemas.ts';

type Warnings = readonly Static<typeof Warning>[] | undefined;

/** A receipt, or null if it took too long, with its address. */
export interface ReceiptFields {
  readonly receipt: ReceiptBody | null;
  readonly receipt_url: string;
}

/**
 * Returns the response to a request for plain keys. The caller wipes the bytes of the keys: only the text remains.
 *
 * The text is written directly. Objects of the same members, with `JSON.stringify`, would take 1 µs more for a key. Key
 * IDs, proofs and names of sources have no character that JSON escapes.
 */
export function plainText(
  order: KeyOrder,
  keys: readonly ReleasedKey[],
  createdMs: number,
  isBatch: boolean,
  receipts: readonly ReceiptFields[],
  warnings: Warnings,
): string {
  const all = keys.map((key, i) => plainMembers(order, key, createdMs, receipts[i]));
  return textOf(all, createdMs, isBatch, warnings);
}

function plainMembers(
  order: KeyOrder,
  key: ReleasedKey,
  createdMs: number,
  receipt: ReceiptFields | undefined,
): string {
  const digits = encoded(key.key, 'hex');
  const start = `"key_id":"${key.keyId}","key":"${digits}",${facts(order, key, createdMs)}`;
  const members = `${start},"hash_proof":"${key.hashProof}"${verdict(key)}`;
  if (!receipt) return members;
  const opening = key.opening && `,"opening":"${encoded(key.opening, 'base64')}"`;
  return `${members},${membersOf(receipt)}${opening ?? ''}`;
}

/** Returns the text of a sealed response without receipts and warnings, which `joinedText` adds. */
export function sealedText(
  request: Pick<KeyRequest, 'order' | 'isBatch' | 'delivery'>,
  keys: readonly SealedResponseKey[],
  createdMs: number,
): string {
  const until = formatTimestamp(deliveredUntilMs(request, createdMs));
  const all = keys.map((key, i) => {
    const id = request.delivery?.ids[i];
    const delivery = id ? { id: formatDeliveryId(id), until } : null;
    return sealedMembers(request.order, key, createdMs, delivery);
  });
  return textOf(all, createdMs, request.isBatch, undefined);
}

function sealedMembers(
  order: KeyOrder,
  key: SealedResponseKey,
  createdMs: number,
  delivery: object | null,
): string {
  const copies = key.sealedKeys.map(sealedCopy);
  const several = `"sealed_keys":[${copies.join(',')}]`;
  const one = `"sealed_key":${copies[0]}`;
  const delivered = `${several},"delivery":${JSON.stringify(delivery)}`;
  const sealed = delivery ? delivered : copies.length === 1 ? one : several;
  const start = `"key_id":"${key.keyId}",${facts(order, key, createdMs)}`;
  return `${start},${sealed}${verdict(key)}`;
}

function sealedCopy(sealedKey: SealedResponseKey['sealedKeys'][number]): string {
  const { suite, kem_id, kdf_id, aead_id, enc, ciphertext, header } = sealedKey;
  return JSON.stringify({ suite, kem_id, kdf_id, aead_id, enc, ciphertext, header });
}

/** Returns a response with the members of its keys. */
function textOf(
  keys: readonly string[],
  createdMs: number,
  isBatch: boolean,
  warnings: Warnings,
): string {
  const end = warnings ? `,${membersOf({ warnings })}}` : '}';
  if (!isBatch) return `{"success":true,${keys[0]}${end}`;
  const start = `{"success":true,"timestamp":"${formatTimestamp(createdMs)}","count":${keys.length}`;
  return `${start},"keys":[${keys.map((members) => `{${members}}`).join(',')}]${end}`;
}

/**
 * Joins the receipts of a sealed response, in the order of its keys, and its warnings to its stored text. A quotation
 * mark inside a JSON string is escaped. A label may be named `key_id`, but the `{` of labels follows a colon; the `{` of
 * a key in a batch follows `[` or `,`.
 */
export function joinedText(
  text: string,
  isBatch: boolean,
  receipts: readonly ReceiptFields[],
  warnings: Warnings,
): string {
  const starts = isBatch ? keyStarts(text) : [];
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
  return [...text.matchAll(/(?<=[[,]\{)"key_id":"phm_\d+"/g)].map(({ index }) => index);
}

/** Returns the members of an object as JSON, without its braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Returns what the response says about a key besides the key and its proof, as members. */
function facts(order: KeyOrder, key: KeyFacts, createdMs: number): string {
  const { securityLevel, source } = order;
  const latencyMs = Math.round(key.latencyMs * 1000) / 1000;
  const isHardware = sourceKind(source) === 'quantum-hardware';
  const amounts = `"security_level":${securityLevel},"security_strength_bits":${key.securityStrengthBits},"entropy_bits":${key.entropyBits}`;
  const origin = `"source":"${source}","quantum_hardware":${isHardware},"entropy_job_id":${JSON.stringify(key.entropyJobId)}`;
  return `${amounts},"latency_ms":${latencyMs},"timestamp":"${formatTimestamp(createdMs)}",${origin}${ends(order)}`;
}

/** Returns labels and expiry as members after a comma; an empty string without both. */
function ends({ labels, expiresMs }: KeyOrder): string {
  const named = labels === null ? '' : `,"labels":${labels}`;
  return expiresMs === null ? named : `${named},"expires_at":"${formatTimestamp(expiresMs)}"`;
}

/** Returns the verdict as members after a comma; an empty string without validation. */
function verdict({ evidence, report }: KeyFacts): string {
  if (!evidence && !report) return '';
  return `,${membersOf({
    ...(evidence && evidenceFields(evidence)),
    ...(report && { nist_report: toNistReport(report) }),
  })}`;
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

function encoded({ buffer, byteOffset, length }: Uint8Array, encoding: 'base64' | 'hex'): string {
  return Buffer.from(buffer, byteOffset, length).toString(encoding);
}
