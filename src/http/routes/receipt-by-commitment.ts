/**
 * POST /api/v2/receipts: the receipt for whoever has the key's commitment, such as the recipient of a sealed key. No API key,
 * not metered, limited by address.
 */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { AppError } from '../../errors.ts';
import type { RouteContext } from '../context.ts';
import { takesBody } from '../wire/body.ts';
import { ReceiptBy, ReceiptResult } from '../wire/receipt-schemas.ts';
import { BODY_ERRORS, COMMON_ERRORS, responses } from '../wire/responses.ts';
import { LogReads } from './log-reads.ts';
import { findReceipt, receiptResult } from './receipt.ts';

/** `reads` bounds what others read from the log, too. Requests that wait have a bound of their own, and delay no reads. */
export function receiptByCommitmentRoute(
  app: FastifyInstance,
  { authenticator, service, clock }: RouteContext,
  reads: LogReads,
): void {
  const waits = new LogReads();
  app.post<{ Body: Static<typeof ReceiptBy> }>(
    '/api/v2/receipts',
    {
      schema: {
        operationId: 'receiptByCommitment',
        summary: 'The receipt for a key, by its commitment',
        tags: ['keys'],
        security: [],
        body: ReceiptBy,
        response: responses(ReceiptResult, [
          ...COMMON_ERRORS,
          ...BODY_ERRORS,
          'rate_limited',
          'ledger_unavailable',
          'foreign_ledger',
          'overloaded',
          'receipt_not_found',
          'receipt_pending',
          'log_stopped',
          'record_altered',
        ]),
      },
      onRequest: authenticator.checkAddress(),
      ...takesBody(ReceiptBy, '{"key_id": "phm_…", "key_commitment": "…"}'),
    },
    async (request): Promise<Static<typeof ReceiptResult>> => {
      const { key_id: keyId, key_commitment: commitment, wait } = request.body;
      // A copy: the buffer is a part of a larger one, which a message to the log worker would copy whole.
      const holder = new Uint8Array(Buffer.from(commitment, 'base64'));
      const answer = await findReceipt((waitMs) => {
        const places = waitMs > 0 ? waits : reads;
        return places.during(() => service.log.receipt(keyId, holder, waitMs));
      }, wait ?? 0);
      // One answer for both: who guesses learns nothing about a key.
      if (answer.kind === 'unknown_key' || answer.kind === 'no_receipt') throw notFound();
      return receiptResult(answer, request, clock);
    },
  );
}

function notFound(): AppError {
  const detail = 'No key with a receipt has this key_id and this key_commitment.';
  const remedy = 'Copy both from the header of the sealed key.';
  return new AppError('receipt_not_found', { detail, remedy });
}
