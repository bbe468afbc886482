/**
 * POST /api/v2/receipts: the receipt for whoever has the key's commitment, such as the recipient of a sealed key. No API key,
 * not metered, limited by address.
 */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { AppError } from '../../errors.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import { takesBody } from '../wire/body.ts';
import { type ReceiptBody, ReceiptBy, ReceiptResult } from '../wire/receipt-schemas.ts';
import { BODY_ERRORS, COMMON_ERRORS, responses } from '../wire/responses.ts';
import { LogReads } from './log-reads.ts';
import { findReceipt, receiptResult } from './receipt.ts';

const DOCS: OperationDocs = {
  description: `Returns the receipt for a key to anyone who has its \`key_id\` and \`key_commitment\`: the recipient of a sealed key needs no
API key. Both are in the \`header\` of the sealed key. Not metered; each address may send 10 requests a second, 100 at once.

- The answer is that of \`GET /api/v2/keys/{key_id}/receipt\`.
- Whoever saw the header, such as a proxy, can ask too. The receipt shows neither the key nor its account.
- \`receipt_not_found\`: there is no such key, its commitment is another one, or it has no receipt. The answer is the same.
- \`receipt_pending\`: the commitment is right, but the receipt is not ready. \`wait\` waits for it.`,
  examples: async () => {
    const { SEALED_KEY } = await import('../openapi/sealed-example.ts');
    // The file holds one.
    const receipt = SEALED_KEY.receipt as ReceiptBody;
    const { key_id, key_commitment } = receipt.statement;
    return {
      requests: {
        sealed: {
          summary: 'the key_id and key_commitment of a sealed key',
          value: { key_id, key_commitment },
        },
      },
      answers: {
        receipt: {
          summary: 'the receipt for a sealed key',
          value: { success: true, receipt, timestamp: EXAMPLE_TIMESTAMP },
        },
      },
    };
  },
};

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
      config: { docs: DOCS },
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
