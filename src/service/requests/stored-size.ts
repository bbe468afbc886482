/** Bounds the response to a sealed request, above all one that the store keeps for retries. */
import type { SealSuiteName } from '#sealing';
import {
  type BatchTooLarge,
  type KeyOrder,
  type KeyRequest,
  MAX_SEALED_COPIES,
  type Recipient,
} from '../../keys/order.ts';

/** Limit of a stored response body, in bytes. */
const MAX_BODY_BYTES: number = 4 * 1024 * 1024;

/** Length of `enc`, as in `SEAL_SUITES`. Its module would load the library of HPKE in every command. */
const ENC_BYTES: Readonly<Record<SealSuiteName, number>> = {
  'MLKEM768-X25519': 1_120,
  'ML-KEM-1024': 1_568,
};

/**
 * Bounds in bytes of the parts of one sealed key in the response: names and values of all fields but `enc`, `labels` and
 * `nist_report`, and a full report. Tests compare them with responses.
 */
const FIELDS_BYTES = 2_000;
const REPORT_BYTES = 24_000;

/** The same of each further sealed key but its `enc`; and of a thumbprint in the header of each: base64 within base64url. */
const COPY_BYTES = 1_600;
const THUMBPRINT_BYTES = 64;

/**
 * Returns the refusal of a sealed request whose response would be too large to keep, or undefined. Only requests with an
 * `Idempotency-Key` or a delivery are kept.
 */
export function tooLargeToStore(
  { order, count, idempotency, delivery }: KeyRequest,
  recipients: readonly Recipient[],
): BatchTooLarge | undefined {
  if ((!idempotency && !delivery) || recipients.length === 0) return undefined;
  return refusal(count, bytesPerKey(order, recipients));
}

/** Returns the refusal of a request for too many sealed keys, or undefined. */
export function tooManyCopies({ count, sealTo }: KeyRequest): BatchTooLarge | undefined {
  const copies = sealTo?.length ?? 0;
  if (count * copies <= MAX_SEALED_COPIES) return undefined;
  const maxCount = Math.floor(MAX_SEALED_COPIES / copies);
  return { kind: 'batch_too_large', maxCount, reason: 'recipients' };
}

/** Returns the refusal of a rendered body that is too large after all, or undefined. */
export function bodyTooLarge(body: string, count: number): BatchTooLarge | undefined {
  return refusal(count, Buffer.byteLength(body) / count);
}

function refusal(count: number, bytesPerKey: number): BatchTooLarge | undefined {
  const maxCount = Math.max(1, Math.floor(MAX_BODY_BYTES / bytesPerKey));
  return count > maxCount
    ? { kind: 'batch_too_large', maxCount, reason: 'stored_answer' }
    : undefined;
}

/** Returns the bound for one key. `enc` is in base64url: four characters for three bytes. */
function bytesPerKey({ report, labels }: KeyOrder, recipients: readonly Recipient[]): number {
  const encs = recipients.map(({ suite }) => Math.ceil((ENC_BYTES[suite] * 4) / 3));
  const further = recipients.length - 1;
  const named = further === 0 ? 0 : recipients.length ** 2 * THUMBPRINT_BYTES;
  const copies = further * COPY_BYTES + named;
  const always = encs.reduce((sum, one) => sum + one, FIELDS_BYTES + copies);
  return always + Buffer.byteLength(labels ?? '') + (report ? REPORT_BYTES : 0);
}
