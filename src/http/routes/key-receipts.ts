/** Receipts for the keys of a response. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import type { RouteContext } from '../context.ts';
import type { ReceiptFields } from '../wire/key-answer.ts';
import { type ReceiptBody, receiptBody } from '../wire/receipt-schemas.ts';
import { receiptPath } from './receipt.ts';

/** Longest wait for a checkpoint that covers the records of new keys. */
const RECEIPT_WAIT_MS = 2_000;

/** Longest wait for the answers of the log, which come late while the database hangs. */
const RECEIPT_LIMIT_MS = RECEIPT_WAIT_MS + 500;

/**
 * Returns the receipt of each key, null where the log does not give it in time. All keys wait together. They are recorded
 * and counted by now, so no failure of the log may cost the caller a key.
 */
export async function readReceipts(
  request: FastifyRequest,
  keyIds: readonly string[],
  context: RouteContext,
): Promise<ReceiptFields[]> {
  // Most requests want none. The timer and its cancellation would take 15 µs of each.
  if (keyIds.length === 0) return [];
  const end = new AbortController();
  const limit = delay(RECEIPT_LIMIT_MS, null, { signal: end.signal }).catch(() => null);
  const failures = new Set<string>();
  try {
    const receipts = await Promise.all(
      keyIds.map((keyId) => Promise.race([readReceipt(request, keyId, context, failures), limit])),
    );
    for (const code of failures) {
      request.log.warn({ code }, 'the receipt for a new key could not be read');
    }
    return receipts.map((receipt, i) => ({
      receipt,
      receipt_url: receiptPath(context.basePath, keyIds[i] ?? ''),
    }));
  } finally {
    end.abort();
  }
}

/** Returns the receipt, or null. Adds the code of an error to `failures`. */
async function readReceipt(
  request: FastifyRequest,
  keyId: string,
  { authenticator, service }: RouteContext,
  failures: Set<string>,
): Promise<ReceiptBody | null> {
  const { accountId } = authenticator.principal(request);
  try {
    const answer = await service.log.receipt(keyId, accountId, RECEIPT_WAIT_MS);
    return answer.kind === 'receipt' ? receiptBody(answer.receipt) : null;
  } catch (error) {
    failures.add(error instanceof AppError ? error.code : 'unexpected');
    return null;
  }
}
