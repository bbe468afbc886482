/** Texts and examples of the operations on deliveries, for the OpenAPI document. */
import { VALIDATED_KEY } from '../openapi/key-examples.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';

const DELIVERY_ID = '3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11';
const UNTIL = '2026-01-31T13:00:00.000+00:00';
const { key_id } = VALIDATED_KEY;

const COPY = { delivery_id: DELIVERY_ID, key_id, until: UNTIL };

const answer = (members: object) => ({
  ...{ success: true, ...members, timestamp: EXAMPLE_TIMESTAMP },
});

export const LIST_DOCS: OperationDocs = {
  description: `Returns the copies in the box of a recipient, oldest key first. Not metered.

- \`wait\`: if no copy waits, the answer comes with the next one, or empty after so many seconds. Ask again at once.
- Pass \`next_cursor\` as \`cursor\` until it is \`null\`; then begin without a cursor.
- A copy that you fetch is listed under \`state=received\`, until you remove it or it expires.
- An API key that is bound to recipients lists only theirs: others are 403 \`insufficient_scope\`.`,
  links: {
    fetchDeliveries: {
      operationId: 'fetchDeliveries',
      description: 'Returns the sealed keys. Pass `delivery_id` of the elements as `ids`.',
    },
  },
  examples: () => ({
    answers: {
      one: {
        summary: 'one copy, and no further page',
        value: answer({ deliveries: [COPY], next_cursor: null }),
      },
      none: {
        summary: 'an empty box',
        value: answer({ deliveries: [], next_cursor: null }),
      },
    },
  }),
};

const REQUESTS = {
  one: { summary: 'one copy', value: { recipient: 'demo', ids: [DELIVERY_ID] } },
};

export const FETCH_DOCS: OperationDocs = {
  description: `Returns sealed keys of a recipient, with their receipts, and marks their copies as \`received\`. Repeatable. Not metered.

- Each element has the state of the copy now. Only \`received\` ones have \`sealed_key\`.
- If none can be fetched: 410 \`delivery_gone\`, or 404 \`delivery_not_found\` if all are \`unknown\`. \`deliveries\` of the problem
  has the states.
- Open a sealed key and check its receipt before you use it. Remove the copy when it is no longer needed.`,
  examples: async () => {
    const { SEALED_KEY } = await import('../openapi/sealed-example.ts');
    const { RECEIPT } = await import('../openapi/receipt-example.ts');
    const receipt_url = `/api/v2/keys/${key_id}/receipt`;
    const { sealed_key } = SEALED_KEY;
    const sealed = { ...COPY, state: 'received', sealed_key, receipt: RECEIPT, receipt_url };
    return {
      requests: REQUESTS,
      answers: { one: { summary: 'one copy', value: answer({ deliveries: [sealed] }) } },
    };
  },
};

export const REMOVE_DOCS: OperationDocs = {
  description: `Removes copies from the box of a recipient: their sealed keys are deleted, and cannot be fetched any more. Not metered.

- A repeated request changes nothing, so it is safe to retry.
- If all IDs are \`unknown\`: 404 \`delivery_not_found\`.`,
  examples: () => ({
    requests: REQUESTS,
    answers: {
      one: {
        summary: 'one copy',
        value: answer({ deliveries: [{ delivery_id: DELIVERY_ID, state: 'removed' }] }),
      },
    },
  }),
};

export const STATE_DOCS: OperationDocs = {
  description: `Returns the state of a delivery of your account at each of its recipients. Not metered.

- \`delivery_not_found\`: your account has no such delivery, or the record of its key was pruned.`,
  examples: () => ({
    answers: {
      two: {
        summary: 'one of two recipients has the key',
        value: answer({
          delivery: {
            ...COPY,
            recipients: [
              { recipient: 'lyon', state: 'received', received_at: EXAMPLE_TIMESTAMP },
              { recipient: 'paris', state: 'waiting', received_at: null },
            ],
          },
        }),
      },
    },
  }),
};
