/** GET /api/v2/keys/{key_id}/receipt: not metered. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type Clock, formatTimestamp, SECOND_MS } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { parseKeyId } from '../../keys/index.ts';
import type { ReceiptAnswer } from '../../service/index.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import { takesQuery, wholeNumber } from '../wire/query.ts';
import {
  KeyId,
  MAX_WAIT_SECONDS,
  ReceiptQuery,
  ReceiptResult,
  receiptBody,
} from '../wire/receipt-schemas.ts';
import { KEYED_ERRORS, responses } from '../wire/responses.ts';
import { Type } from '../wire/type.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import { logUnavailable } from './log.ts';

const DOCS: OperationDocs = {
  description: `Returns the receipt for a key that your account generated. Not metered.

- With witnesses, the receipt has the newest checkpoint that enough witnesses have cosigned.
- \`wait\`: seconds to wait for a receipt that is not ready.
- \`receipt_pending\`: no published checkpoint covers the record yet, or too few witnesses have cosigned one (\`detail\`). Wait as
  \`Retry-After\` says.
- \`receipt_not_found\`: your account has no such key, or the key is older than the log.
- \`record_altered\`: the ledger's record of the key was changed after it entered the log. The service serves no receipt that does
  not match its log.`,
  examples: async () => {
    const { RECEIPT } = await import('../openapi/receipt-example.ts');
    return {
      answers: {
        receipt: {
          summary: 'the receipt for a key of 256 bits',
          value: { success: true, receipt: RECEIPT, timestamp: EXAMPLE_TIMESTAMP },
        },
      },
    };
  },
};

/** Returns the path of a key's receipt, for the response to generate. */
export function receiptPath(basePath: string, keyId: string): string {
  return `${basePath}/api/v2/keys/${keyId}/receipt`;
}

export function receiptRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Params: { readonly key_id: string }; Querystring: Static<typeof ReceiptQuery> }>(
    receiptPath('', ':key_id'),
    {
      schema: {
        operationId: 'receipt',
        summary: 'The receipt for a key',
        tags: ['keys'],
        params: Type.Object({ key_id: KeyId }),
        querystring: ReceiptQuery,
        response: responses(ReceiptResult, [
          ...KEYED_ERRORS,
          'invalid_request',
          'receipt_not_found',
          'receipt_pending',
          'log_stopped',
          'record_altered',
        ]),
      },
      config: { scope: 'read', docs: DOCS },
      ...takesQuery({ wait: wholeNumber(1, MAX_WAIT_SECONDS) }),
    },
    async (request): Promise<Static<typeof ReceiptResult>> => {
      const keyId = request.params.key_id;
      if (!parseKeyId(keyId)) throw malformedKeyId();
      const { accountId } = authenticator.principal(request);
      const answer = await findReceipt(
        (waitMs) => service.log.receipt(keyId, accountId, waitMs),
        request.query.wait ?? 0,
      );
      return receiptResult(answer, request, clock);
    },
  );
}

/** Returns a receipt that exists at once, and otherwise waits for it. */
export async function findReceipt(
  read: (waitMs: number) => Promise<ReceiptAnswer>,
  waitSeconds: number,
): Promise<ReceiptAnswer> {
  const answer = await read(0);
  const mayCome = answer.kind === 'pending' || answer.kind === 'not_cosigned';
  if (!mayCome || waitSeconds === 0) return answer;
  return read(waitSeconds * SECOND_MS);
}

function malformedKeyId(): AppError {
  const detail = 'The path has no key_id: "phm_" and a decimal number.';
  const remedy = 'Use the key_id in the response of generate.';
  return new AppError('receipt_not_found', { detail, remedy });
}

/** Returns the response with a receipt. Throws `AppError` if the answer has none. */
export function receiptResult(
  answer: ReceiptAnswer,
  request: FastifyRequest,
  clock: Clock,
): Static<typeof ReceiptResult> {
  if (answer.kind !== 'receipt') throw noReceipt(answer);
  return {
    success: true,
    receipt: receiptBody(answer.receipt),
    timestamp: formatTimestamp(clock.nowMs()),
    ...warningsOf(request),
  };
}

/** Unknown keys and keys of other accounts get the same error. */
function noReceipt(answer: Exclude<ReceiptAnswer, { readonly kind: 'receipt' }>): AppError {
  switch (answer.kind) {
    case 'unknown_key':
      return new AppError('receipt_not_found');
    case 'no_receipt': {
      const detail =
        'This key was generated while the server kept no transparency log, so it has no receipt.';
      return new AppError('receipt_not_found', { detail, remedy: 'Only later keys have one.' });
    }
    case 'pending':
      return new AppError('receipt_pending');
    case 'not_cosigned': {
      const detail =
        'The log holds the entry of this key, but too few witnesses have cosigned a checkpoint with it yet.';
      return new AppError('receipt_pending', { detail, remedy: 'Try again in {wait}.' });
    }
    case 'altered':
      return new AppError('record_altered');
    default:
      return logUnavailable(answer);
  }
}
