/** What the OpenAPI document says of the four operations that generate keys. */
import { PLAIN_KEY, SIMULATOR_KEY, VALIDATED_KEY } from '../openapi/key-examples.ts';
import type { OperationDocs } from '../openapi/operation.ts';

export const GENERATE: OperationDocs = {
  description: `Generates one key from its own stream, after a reseed from the operating system. The response has the same fields
for every source. Only \`security_level\` is required.

- With \`enable_nist_validation\` the 15 tests judge 2^20 bits of the generator's output, before modulation, in nine segments after
  a reseed each. Four quick tests judge the same bits after modulation: they look for defects of the modulation and say nothing about
  the generator. The key is cut from bits behind the last segment, and only if the gate over all these tests passes.
- Read \`tests_passed\` and \`total_tests\` first. \`total_tests\` is 13 if the two random excursions tests do not apply, as in
  more than one sound sample in three. In about one sound sample in eight a test fails by chance (its \`corrected_p\` is below
  0.01): the key is no worse.
  \`"include": ["nist_report"]\` adds the gate's p-value, and every p-value with its stream.
- \`certification_status\`, \`compliance_level\`, \`nist_score\` and \`nist_grade\` are labels for existing clients. They restate
  these results by rules of this service, and certify nothing.
- \`entropy_bits\` is a computational credit to the sources, times the bound of a screen on the share of ones; it is not the entropy of
  the key. The operating system alone is credited at most 256 bits, also for a 384-bit key. About 254.8 of 256 is typical and no loss.
- \`security_strength_bits\` is the smaller of \`security_level\` and the strength of the generator, 256 bits. Compare this in a policy.
- \`quantum_hardware\` is the claim of the provider of \`source\`, whose output is in the reseed of this key. This service cannot check it
  and credits it with 0 bits by default. The quantum simulator is always credited with 0 bits.
- \`"include": ["receipt"]\` adds \`receipt\`, \`receipt_url\` and \`opening\`. The response then waits up to 2 s for the next checkpoint of
  the transparency log. After that \`receipt\` is \`null\`, and \`receipt_url\` returns it later. Store \`opening\` beside the key, and as
  secret: with both, the receipt's \`key_commitment\` shows that the receipt is for this key. A server without a log answers 400.
- \`latency_ms\` runs from acceptance of the request until key and proof are ready. It includes queues, but not the network.
- With \`Idempotency-Key\` the same request can be sent again. The key itself cannot be sent again, because it is not stored: if the
  first request has generated it, the second gets 409 \`key_already_made\` with the \`key_id\`, and no second key is generated.`,
  links: {
    receipt: {
      operationId: 'receipt',
      description: 'Returns the receipt for the key. Pass `key_id` of this response.',
    },
    validate: {
      operationId: 'validate',
      description: 'Validates the key. Pass `key` and `hash_proof` of this response.',
    },
  },
  examples: async () => {
    const { RECEIPTED_KEY } = await import('../openapi/receipt-example.ts');
    return {
      requests: {
        plain: { summary: '256 bits', value: { security_level: 256 } },
        validated: {
          summary: '256 bits with the 15 tests',
          value: { security_level: 256, enable_nist_validation: true },
        },
        report: {
          summary: '256 bits with the full report',
          value: {
            security_level: 256,
            enable_nist_validation: true,
            include: ['nist_report'],
          },
        },
        simulator: {
          summary: '384 bits with the quantum simulator mixed in',
          value: { security_level: 384, entropy_source: 'quantum-simulator' },
        },
        receipt: {
          summary: '256 bits with the 15 tests and a receipt',
          value: { security_level: 256, enable_nist_validation: true, include: ['receipt'] },
        },
      },
      answers: {
        plain: { summary: '256 bits', value: PLAIN_KEY },
        validated: {
          summary: '256 bits; 15 of 15 tests passed, gate passed',
          value: VALIDATED_KEY,
        },
        simulator: {
          summary: '384 bits with the quantum simulator mixed in',
          value: SIMULATOR_KEY,
        },
        receipt: { summary: '256 bits, validated, with a receipt', value: RECEIPTED_KEY },
      },
    };
  },
};

export const GENERATE_SEALED: OperationDocs = {
  description: `Generates one key as \`/api/v2/generate\` does, and encrypts it to the public key of its recipient with HPKE (RFC 9180). Only
the holder of the private key can open the response: \`openSealedKey\` of the clients, or \`phm open\`.

- \`seal_to\` is \`{"suite", "public_key"}\` or \`{"recipient": "<name>"}\`, a name that the operator has registered for the account. The
  file that \`phm recipient new\` writes fits as it is. The default suite is \`MLKEM768-X25519\`.
- A list of two to eight recipients gives all of them one key, which counts once: \`sealed_keys\` has a sealed key for each, in
  order. All must have different public keys.
- The response has the fields of generate without \`key\`, \`hash_proof\` and \`opening\`: these are inside \`sealed_key\`.
  \`hash_proof\` in \`include\` is therefore refused.
- HPKE's base mode does not show who sealed a key. An intermediary that changes your request can replace the public key by its own. A
  receipt shows the recipient (\`sealed_to\`) and the ciphertext (\`sealed_digest\`): ask for it and check it. A registered
  recipient prevents the swap only if the operator limits the account to such recipients.
- With \`Idempotency-Key\` the same request gets the same bytes again for 24 hours, with \`Idempotent-Replayed: true\`, and counts
  once. Receipts and warnings are added when the response is sent.
- The service generates the key, so it sees it. Validating a sealed key sends it to the service.`,
  links: {
    receipt: {
      operationId: 'receipt',
      description: 'Returns the receipt for the key. Pass `key_id` of this response.',
    },
  },
  examples: async () => {
    const { SEAL_TO, SEALED_KEY } = await import('../openapi/sealed-example.ts');
    return {
      requests: {
        publicKey: {
          summary: '256 bits for a public key',
          value: { security_level: 256, seal_to: SEAL_TO },
        },
        receipt: {
          summary: '256 bits with a receipt',
          value: { security_level: 256, seal_to: SEAL_TO, include: ['receipt'] },
        },
        recipient: {
          summary: '256 bits for a registered recipient',
          value: { security_level: 256, seal_to: { recipient: 'build-server' } },
        },
        several: {
          summary: '256 bits for two recipients',
          value: { security_level: 256, seal_to: [SEAL_TO, { recipient: 'build-server' }] },
        },
      },
      answers: {
        sealed: {
          summary: '256 bits, sealed with MLKEM768-X25519, with a receipt',
          value: SEALED_KEY,
        },
      },
    };
  },
};

export const GENERATE_BATCH: OperationDocs = {
  description: `Generates \`count\` keys of the same kind, 1 to 1,000: all of them, or none. An element of \`keys\` has the fields of generate's response
without \`success\` and \`warnings\`.

- A batch takes \`count\` requests from the quota, and \`count\` but at most the burst from the rate limit.
- \`count\` is at most 100 with \`nist_report\` or \`receipt\` in \`include\`.
- A batch with \`enable_nist_validation\` can be too large for this server: 413 \`batch_too_large\` with \`max_count\`.
- With \`Idempotency-Key\` a repeated request gets 409 \`key_already_made\` with all \`key_ids\`, as for a single key.`,
  examples: () => ({
    requests: {
      plain: { summary: 'ten keys of 256 bits', value: { security_level: 256, count: 10 } },
      validated: {
        summary: 'two keys with the 15 tests',
        value: { security_level: 256, count: 2, enable_nist_validation: true },
      },
    },
    answers: {
      one: { summary: 'a batch of one key', value: batchOf(SIMULATOR_KEY) },
    },
  }),
};

export const GENERATE_SEALED_BATCH: OperationDocs = {
  description: `Generates \`count\` keys, 1 to 1,000, all sealed to the same recipients: all of them, or none. An element of \`keys\` has the fields of the
sealed response without \`success\` and \`warnings\`.

- Quota, rate limit and largest \`count\` are those of the plain batch. With several recipients a response has at most 1,000
  sealed keys in all.
- With \`Idempotency-Key\` the response is kept and sent again, byte for byte. It may then have at most 4 MiB: beyond that 413
  \`batch_too_large\` with \`max_count\`.`,
  examples: async () => {
    const { SEAL_TO, SEALED_KEY } = await import('../openapi/sealed-example.ts');
    const { receipt: _, receipt_url: __, ...withoutReceipt } = SEALED_KEY;
    return {
      requests: {
        publicKey: {
          summary: 'two keys of 256 bits for a public key',
          value: { security_level: 256, count: 2, seal_to: SEAL_TO },
        },
        recipient: {
          summary: 'ten keys of 256 bits for a registered recipient',
          value: { security_level: 256, count: 10, seal_to: { recipient: 'build-server' } },
        },
      },
      answers: {
        one: { summary: 'a batch of one sealed key', value: batchOf(withoutReceipt) },
      },
    };
  },
};

/** Returns the response to a batch with one key, in the form of its own response. */
function batchOf({ success, ...key }: { readonly success: boolean; readonly timestamp: string }) {
  return { success, timestamp: key.timestamp, count: 1, keys: [key] };
}
