/** Texts and examples of the operations on key records, for the OpenAPI document. */
import { VALIDATED_KEY } from '../openapi/key-examples.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';

/** What the ledger knows of `VALIDATED_KEY`. */
const EXAMPLE_RECORD = {
  key_id: VALIDATED_KEY.key_id,
  status: 'active',
  created_at: EXAMPLE_TIMESTAMP,
  security_level: 256,
  security_strength_bits: 256,
  modulation_type: 'phase',
  source: 'os',
  api_key_id: 'key_demo_research',
  evidence: { verdict: 'PASS', tests_passed: 15, total_tests: 15, gate_p_value: 0.331 },
  sealed_to: null,
  recipients: [],
  delivery_id: null,
  labels: { env: 'prod' },
  expires_at: '2027-01-31T12:00:00.000+00:00',
  revoked_at: null,
  revocation_reason: null,
  receipt_url: `/api/v2/keys/${VALIDATED_KEY.key_id}/receipt`,
};

const EXAMPLE_REVOKED = {
  ...EXAMPLE_RECORD,
  status: 'compromised',
  revoked_at: EXAMPLE_TIMESTAMP,
  revocation_reason: 'key_compromise',
};

export const LIST_DOCS: OperationDocs = {
  description: `Returns the records of the account's keys, newest first: what the ledger knows, never a key. Not metered.

- Pass \`next_cursor\` as \`cursor\` until it is \`null\`. Keys that are generated meanwhile do not disturb the pages.
- A call reads at most 1,000 records and ends a search after some 20 ms. With a filter that few keys meet, a page can be short, even empty, and still have a
  \`next_cursor\`.
- A key must meet all filters. \`label\` is \`name:value\`, and may be repeated.
- Records that the operator's retention has pruned are not in the list.`,
  links: {
    getKey: {
      operationId: 'getKey',
      description: 'Returns one record. Pass `key_id` of an element of `keys`.',
    },
  },
  examples: () => ({
    answers: {
      one: {
        summary: 'one key, and no further page',
        value: {
          success: true,
          keys: [EXAMPLE_RECORD],
          next_cursor: null,
          timestamp: EXAMPLE_TIMESTAMP,
        },
      },
    },
  }),
};

export const READ_DOCS: OperationDocs = {
  description: `Returns the record of a key that your account generated: what the ledger knows, never the key. Not metered.

- \`key_not_found\`: your account has no such key, or its record was pruned.`,
  examples: () => ({
    answers: {
      key: {
        summary: 'a validated key of 256 bits',
        value: { success: true, key: EXAMPLE_RECORD, timestamp: EXAMPLE_TIMESTAMP },
      },
    },
  }),
};

export const REVOKE_DOCS: OperationDocs = {
  description: `Revokes a key of your account. From then on \`validate\` calls it invalid, on every server, also with its proof. Not metered.

- \`key_compromise\` makes it \`compromised\`, also if it is deactivated already. Every other reason makes a key
  \`deactivated\` that is not revoked, also if it has expired. No key becomes active again (SP 800-57 Part 1 §7).
- A repeated request changes nothing and gets the same record, so it is safe to retry.
- A revocation that changes the state is an entry of the transparency log.
- Holders of the key learn of it only if they ask \`validate\`.`,
  examples: () => ({
    requests: {
      compromise: { summary: 'others may have the key', value: { reason: 'key_compromise' } },
      superseded: { summary: 'another key replaces it', value: { reason: 'superseded' } },
    },
    answers: {
      key: {
        summary: 'a compromised key',
        value: { success: true, key: EXAMPLE_REVOKED, timestamp: EXAMPLE_TIMESTAMP },
      },
    },
  }),
};
