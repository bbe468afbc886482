/** Texts of the whole OpenAPI document. Those of an operation are in the file of its route. */
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
    name: 'deliveries',
    description:
      'Sealed keys that wait for registered recipients: list, fetch and remove them, and see who has a key. Not metered.',
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
