/** Texts of the OpenAPI document, by operation. Schemas and errors come from the routes. */
import type { ErrorCode, ErrorDetails } from '../../errors.ts';

export const DESCRIPTION = `Generates symmetric keys of 128, 256 or 384 bits from an SP 800-90A CTR_DRBG that is reseeded
before every key. On request it runs the statistical tests of SP 800-22 on the generator's output. It also validates keys that
it generated, and reports usage.

**Quick start** with a new server on your own machine:

\`\`\`sh
npm ci && npm start
curl -s http://127.0.0.1:8080/api/v2/generate \\
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' \\
  -H 'Content-Type: application/json' \\
  -d '{"security_level": 256}'
\`\`\`

- Send your API key in \`X-API-Key\`. The operator issues it. The demo key above is public: a server accepts it only from its
  own machine, and only until its operator issues the first API key.
- In an application send \`{"security_level": 256}\`. Ask for validation only if you must show test results: it makes no key better.
- Every response is a JSON object with \`success\` and \`timestamp\`. Errors are problem details (RFC 9457) with a stable
  \`code\` and a sentence that says what to do.
- A key is shown once and never stored.
- A sealed key is encrypted to its recipient: no response, proxy or log has it in plaintext.
- With \`Idempotency-Key\` a lost response can be asked for again, and never costs a second key unnoticed.
- \`"include": ["receipt"]\` adds a receipt: anyone can check with it, offline, that this service recorded the key, when, and with
  which evidence. It proves what the service asserted. It does not prove that a key is random or that no copy exists.
- Statistical tests find gross defects of the generator; they do not prove randomness. Read \`tests_passed\` and the gate.
  Status, level, score and grade are labels for existing clients. NIST certifies nothing by SP 800-22.
- \`RateLimit\` says how many requests remain, and \`Retry-After\` how long to wait.
- The TypeScript examples use \`phm-client\`, which is not published: \`docs/examples/README.md\` of the project says how to run them.`;

/** Says where API keys come from. */
export const API_KEY_ORIGIN =
  'The operator of the server issues API keys with `phm api-key issue`. An API key can be restricted to scopes: `x-required-scope` of an operation names the one that it needs.';

/** Details of the example of a code, if the code alone gives no typical problem. */
export const PROBLEM_DETAILS: Readonly<Partial<Record<ErrorCode, ErrorDetails>>> = {
  insufficient_scope: { detail: 'This API key lacks the scope "read".' },
  address_not_allowed: { detail: 'This API key cannot be used from 192.0.2.7.' },
  invalid_request: {
    fields: [
      {
        pointer: '#/security_level',
        message: 'must be one of 128, 256, 384; got the string "256"',
      },
      {
        pointer: '#/modulation_type',
        message: 'must be one of phase, frequency, amplitude, none; got the string "fm"',
      },
    ],
  },
};

export const EXTERNAL_DOCS = {
  description: 'NIST SP 800-22 Rev. 1a, the statistical tests',
  url: 'https://doi.org/10.6028/NIST.SP.800-22r1a',
};

export const TAGS = [
  {
    name: 'keys',
    description:
      'Generate keys, plain or sealed, one or many; validate keys that this service generated (all metered); list, show and revoke them, and read their receipts, also without an API key.',
  },
  {
    name: 'metrics',
    description:
      "Activity of the caller's account: keys, latency, errors, randomness. Not metered.",
  },
  {
    name: 'log',
    description:
      'The transparency log, in the form of c2sp.org/tlog-tiles. Public: no API key, no limits of an account.',
  },
  {
    name: 'health',
    description: 'For load balancers, orchestrators and monitoring. No API key, no limits.',
  },
];

interface OperationTexts {
  /** Markdown. */
  readonly description: string;
  /** Operations that take fields of a 200 response. */
  readonly links?: Readonly<Record<string, Link>>;
}

interface Link {
  readonly operationId: string;
  /** Says which fields to pass. An expression for each field would make openapi-generator refuse the document. */
  readonly description: string;
}

/**
 * A condition between fields, which the routes enforce. Linters treat an object without `additionalProperties` as closed,
 * and require `items` for every `array`.
 */
const REPORT_NEEDS_VALIDATION = {
  if: {
    properties: {
      include: { type: 'array', items: {}, contains: { const: 'nist_report' } },
    },
    required: ['include'],
    additionalProperties: true,
  },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
  then: {
    properties: { enable_nist_validation: { const: true } },
    required: ['enable_nist_validation'],
    additionalProperties: true,
  },
};

/** Conditions between the fields of a named schema. */
export const CONDITIONS: Readonly<Record<string, object>> = {
  GenerateRequest: REPORT_NEEDS_VALIDATION,
  GenerateSealedRequest: REPORT_NEEDS_VALIDATION,
  GenerateBatchRequest: REPORT_NEEDS_VALIDATION,
  GenerateSealedBatchRequest: REPORT_NEEDS_VALIDATION,
};

/** By operationId. */
export const OPERATION_TEXTS: Readonly<Record<string, OperationTexts>> = {
  generate: {
    description: `Generates one key from its own stream, after a reseed from the operating system. The response has the same fields
for every source. Only \`security_level\` is required.

- With \`enable_nist_validation\` the 15 tests judge the first 2^20 bits of the generator's output, before modulation. Four quick
  tests judge the same bits after modulation: they look for defects of the modulation and say nothing about the generator. The key
  is cut from later bits, and only if the gate over all these tests passes.
- Read \`tests_passed\` and \`total_tests\` first. \`total_tests\` is 13 if the two random excursions tests do not apply, as in
  more than one sound sample in three. In about one sound sample in eight a test fails by chance (its \`corrected_p\` is below
  0.01): the key is no worse.
  \`"include": ["nist_report"]\` adds the gate's p-value, and every p-value with its stream.
- \`certification_status\`, \`compliance_level\`, \`nist_score\` and \`nist_grade\` are labels for existing clients. They restate
  these results.
- \`entropy_bits\` is the entropy credited to the sources, scaled by a screen for defects. The operating system alone is credited at
  most 256 bits, also for a 384-bit key. About 254.8 of 256 is typical: the screen gives a confidence bound, and no entropy is lost.
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
  },
  generateSealed: {
    description: `Generates one key as \`/api/v2/generate\` does, and encrypts it to the public key of its recipient with HPKE (RFC 9180). Only
the holder of the private key can open the response: \`openSealedKey\` of the clients, or \`phm open\`.

- \`seal_to\` is \`{"suite", "public_key"}\` or \`{"recipient": "<name>"}\`, a name that the operator has registered for the account. The
  file that \`phm recipient new\` writes fits as it is. The default suite is \`MLKEM768-X25519\`.
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
  },
  generateBatch: {
    description: `Generates \`count\` keys of the same kind, 1 to 1,000: all of them, or none. An element of \`keys\` has the fields of generate's response
without \`success\` and \`warnings\`.

- A batch takes \`count\` requests from the quota, and \`count\` but at most the burst from the rate limit.
- \`count\` is at most 100 with \`nist_report\` or \`receipt\` in \`include\`.
- A batch with \`enable_nist_validation\` can be too large for this server: 413 \`batch_too_large\` with \`max_count\`.
- With \`Idempotency-Key\` a repeated request gets 409 \`key_already_made\` with all \`key_ids\`, as for a single key.`,
  },
  generateSealedBatch: {
    description: `Generates \`count\` keys, 1 to 1,000, all sealed to one recipient: all of them, or none. An element of \`keys\` has the fields of the
sealed response without \`success\` and \`warnings\`.

- Quota, rate limit and largest \`count\` are those of the plain batch.
- With \`Idempotency-Key\` the response is kept and sent again, byte for byte. It may then have at most 4 MiB: beyond that 413
  \`batch_too_large\` with \`max_count\`.`,
  },
  validate: {
    description: `Reports whether this service generated a key.

- \`proof_verification\` checks the \`hash_proof\`, or without one the ledger. A good key from elsewhere fails it.
- The operator can retire a leaked version of the master secret. A proof under that version no longer decides: \`retired_secret\`
  reports the ledger's record of the key. Without a record from before the leak the proof is \`unconfirmed\`: it may be forged, or
  the record may have been removed.
- \`entropy_check\` is six exact tests, which a sound key fails with a probability below 2^-50. It finds constant or repeating
  keys and says nothing about the origin of a key.
- A malformed key gets a verdict, 200 with \`valid: false\`, not an error.`,
  },
  listKeys: {
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
  },
  getKey: {
    description: `Returns the record of a key that your account generated: what the ledger knows, never the key. Not metered.

- \`key_not_found\`: your account has no such key, or its record was pruned.`,
  },
  revokeKey: {
    description: `Revokes a key of your account. From then on \`validate\` calls it invalid, on every server, also with its proof. Not metered.

- \`key_compromise\` makes it \`compromised\`, also if it is deactivated already. Every other reason makes a key
  \`deactivated\` that is not revoked, also if it has expired. No key becomes active again (SP 800-57 Part 1 §7).
- A repeated request changes nothing and gets the same record, so it is safe to retry.
- A revocation that changes the state is an entry of the transparency log.
- Holders of the key learn of it only if they ask \`validate\`.`,
  },
  receipt: {
    description: `Returns the receipt for a key that your account generated. Not metered.

- With witnesses, the receipt has the newest checkpoint that enough witnesses have cosigned.
- \`wait\`: seconds to wait for a receipt that is not ready.
- \`receipt_pending\`: no published checkpoint covers the record yet, or too few witnesses have cosigned one (\`detail\`). Wait as
  \`Retry-After\` says.
- \`receipt_not_found\`: your account has no such key, or the key is older than the log.
- \`record_altered\`: the ledger's record of the key was changed after it entered the log. The service serves no receipt that does
  not match its log.`,
  },
  receiptByCommitment: {
    description: `Returns the receipt for a key to anyone who has its \`key_id\` and \`key_commitment\`: the recipient of a sealed key needs no
API key. Both are in the \`header\` of the sealed key. Not metered; each address may send 10 requests a second, 100 at once.

- The answer is that of \`GET /api/v2/keys/{key_id}/receipt\`.
- Whoever saw the header, such as a proxy, can ask too. The receipt shows neither the key nor its account.
- \`receipt_not_found\`: there is no such key, its commitment is another one, or it has no receipt. The answer is the same.
- \`receipt_pending\`: the commitment is right, but the receipt is not ready. \`wait\` waits for it.`,
  },
  logCheckpoint: {
    description: `Returns the newest signed checkpoint: the size and the root hash of the log. Any web page may read it.

The tiles of the tree are at \`/log/tile/{L}/{N}\` and its entries at \`/log/tile/entries/{N}\`, both also with \`.p/{W}\` for the last,
partial one: 256 hashes or entries each, with the paths of c2sp.org/tlog-tiles, such as \`/log/tile/0/x001/234\`. They never change, so
caches may keep them. OpenAPI cannot describe paths of varying length.`,
  },
  logPolicy: {
    description: `Returns the keys that sign the log's checkpoints, as a policy in the form of c2sp.org/tlog-policy: the ML-DSA-44 key in the
\`log\` line, the Ed25519 key in a comment, and the witnesses. Keep a copy: receipts are verified against it. A copy that you fetch
together with a receipt shows only that both come from the same server.`,
  },
  metrics: {
    description: `Returns sums over the last \`hours\`. The period starts on a whole minute.

- \`average_latency_ms\` is the mean of the keys' \`latency_ms\`.
- \`nist_compliance_rate\` is the share of judged streams that passed the gate; 1 without any.
- \`error_rate\` is generate calls with a 5xx response divided by these calls plus the generated keys. A failed batch counts once,
  and a successful one by its keys. 4xx do not count.
- \`total_usage\` is metered requests: generated keys and validations.`,
  },
  metricsSeries: {
    description: `Returns the same sums in steps aligned to UTC. Quiet steps are present, with zeros.

- Without \`step\` you get the shortest that gives at most 300 steps, or 1440.
- \`keys_per_second\` divides by the step's length, in the last step by the time that has passed.
- Percentiles come from a histogram; the schema states their relative error. \`null\` means that there are no data.`,
  },
  randomness: {
    description: `Returns the p-values of the last validated keys, judged together as SP 800-22 §4.2 judges many sequences.

- Each row is one p-value of one \`stream\`: 188 of the generator's output before modulation, and four after modulation, which
  look for defects of the modulation and say nothing about the generator.
- A row shows whether its p-values are spread evenly (\`histogram\`, \`uniformity_p\`), and whether as many passed as expected
  (\`proportion\` between \`proportion_min\` and \`proportion_max\`).
- The interval is SP 800-22's for a single row: of 192 rows, some lie outside by chance. \`verdict\` corrects for the number of
  rows: by chance at most one query in a hundred shows any \`fail\`.
- Below 55 samples the verdict is \`null\`.
- \`include=p_values\` adds the p-values themselves, \`null\` where a test did not apply to a sample.`,
  },
  livez: {
    description:
      'Returns 200 while the process responds. Restart the process only if this check fails.',
  },
  readyz: {
    description: `Returns 200 while the server can generate and record keys: the generators work, the default source delivers, the
ledger is available, the master secret is complete, and the server is not shutting down. \`ok\` means that a part works and that
its own tests found no defect; it does not measure entropy. Send no traffic to a server that returns 503.`,
  },
  health: {
    description: 'The same as `/readyz`, at the path that many monitoring systems expect.',
  },
};
