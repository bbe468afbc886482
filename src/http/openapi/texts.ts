/** What the OpenAPI document says to people, by operation; schemas and errors come from the routes. */

export const DESCRIPTION = `Generates symmetric keys of 128, 256 or 384 bits from an SP 800-90A CTR_DRBG that is reseeded
before every key; judges that generator's output by the statistical tests of SP 800-22 if you ask for it; validates keys
it generated; reports usage.

**Quick start**, on your own machine:

\`\`\`sh
npm ci && npm start
curl -s http://127.0.0.1:8080/api/v2/generate \\
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' \\
  -H 'Content-Type: application/json' \\
  -d '{"security_level": 256, "enable_nist_validation": true}'
\`\`\`

- Send your API key in \`X-API-Key\`. The demo key above is public; a server admits it on its own machine only.
- Every answer is a JSON object with \`success\` and \`timestamp\`. Errors are problem details (RFC 9457) with a stable
  \`code\` and a sentence that says what to do.
- A key is shown once and is never stored. Statistical tests find gross defects of the generator; they prove no
  randomness. Read \`tests_passed\` and the gate. Status, level, score and grade are labels of this service that its interface
  requires; NIST certifies nothing by SP 800-22.
- \`RateLimit\` and \`Retry-After\` tell how much is left and how long to wait.
- \`phm-client\` of the TypeScript examples is not published: make it by \`npm pack --workspace sdk\` in a clone of this
  project, and install the file.`;

export const EXTERNAL_DOCS = {
  description: 'NIST SP 800-22 Rev. 1a, the statistical tests',
  url: 'https://doi.org/10.6028/NIST.SP.800-22r1a',
};

export const TAGS = [
  { name: 'keys', description: 'Make keys, and check keys that this service made. Metered.' },
  {
    name: 'metrics',
    description: "The caller's account: keys, latency, errors, randomness. Not metered.",
  },
  { name: 'health', description: 'For orchestrators and monitors. No API key, no limits.' },
];

interface OperationTexts {
  /** Markdown. */
  readonly description: string;
  /** Bodies to send, by name. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Bodies of 200, by name. */
  readonly answers: Readonly<Record<string, Example>>;
  /** Calls that take what 200 answers with. */
  readonly links?: Readonly<Record<string, Link>>;
}

interface Link {
  readonly operationId: string;
  /** Says which fields go where: openapi-generator refuses a document with an expression for each field. */
  readonly description: string;
}

/**
 * Conditions between the fields of a named schema. The routes hold to them, in words of their own. Linters take
 * an object without `additionalProperties` for a closed one, and want `items` beside every `array`.
 */
export const CONDITIONS: Readonly<Record<string, object>> = {
  GenerateRequest: {
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
  },
};

interface Example {
  readonly summary: string;
  readonly value: unknown;
}

const TIMESTAMP = '2026-01-31T12:00:00.000+00:00';

const VALIDATED_KEY = {
  success: true,
  key_id: 'phm_2170429376983703449351416931714616409',
  key: '628ca1957bb0e7533767739cbe80d46eb4dc4b9ced577b92d9df7fde73a0f081',
  security_level: 256,
  security_strength_bits: 256,
  entropy_bits: 254.85,
  latency_ms: 7.167,
  timestamp: TIMESTAMP,
  source: 'os',
  quantum_hardware: false,
  entropy_job_id: null,
  hash_proof:
    'proof_180101358710039235219691106797287890985005447079011828679586787048193400957481',
  nist_validation: {
    certification_status: 'PASS',
    tests_passed: 15,
    total_tests: 15,
    compliance_level: 'CERTIFICATION_READY',
  },
  nist_score: 100,
  nist_grade: 'A',
};

const SIMULATOR_KEY = {
  success: true,
  key_id: 'phm_2170337195073431729661997609353391462',
  key: '31d16ddba0d94b53913577aa4a5cd92393ce992bb2a3961b597667384cda480950f1da3e60b3f0359d801c5c169081cd',
  security_level: 384,
  security_strength_bits: 256,
  entropy_bits: 254.86,
  latency_ms: 0.417,
  timestamp: TIMESTAMP,
  source: 'quantum-simulator',
  quantum_hardware: false,
  entropy_job_id: null,
  hash_proof:
    'proof_116681149205494887086682504998722578920594466898998906137738725034814029366495',
};

const READY = {
  success: true,
  status: 'ok',
  checks: {
    entropy: 'ok',
    'entropy:os': 'ok',
    generator: 'ok',
    ledger: 'ok',
    master_secret: 'ok',
    accepting: 'yes',
  },
  timestamp: TIMESTAMP,
};

/** By operationId. */
export const OPERATION_TEXTS: Readonly<Record<string, OperationTexts>> = {
  generate: {
    description: `One key, cut from a stream of its own after a reseed from the operating system.

- \`enable_nist_validation\`: the 15 tests judge the first 2^20 bits of the generator's output, before modulation. Four quick tests
  judge the same bits after modulation; they look for defects of the modulation and say nothing of the generator. The key is cut
  from later bits, and only if the gate over the tests of both passes.
- Read \`tests_passed\` of \`total_tests\` first. \`total_tests\` is 13 when the two random excursions tests do not apply to
  the sample, as to more than one in three sound ones. One test falls below 0.01 by chance in about one sound sample in eight: the key is
  no worse. \`"include": ["nist_report"]\` adds the gate's p-value, every p-value, and the stream that each is about.
- \`certification_status\`, \`compliance_level\`, \`nist_score\` and \`nist_grade\` are labels of this service that its interface
  requires. They restate these results and come together, with \`enable_nist_validation\`. NIST certifies nothing by SP 800-22.
- \`entropy_bits\` is what the sources are credited with, scaled by a screen for defects; a 384-bit key is credited no more
  than 256 bits by the operating system alone. 254.8 of 256 is the confidence bound of that screen and no loss of entropy. Compare
  \`security_strength_bits\` in a policy.
- \`quantum_hardware\` is the word of the provider of \`source\`: its output is in the reseed of this key, and this service cannot see what made it.
  By default it is credited 0 bits.
- \`latency_ms\` runs from acceptance to key and proof ready, with queues and without the network.
- \`security_strength_bits\` is \`security_level\`, or the strength of the generator, 256 bits, if that is less.
- The answer has the same fields whatever the source. The quantum simulator is credited no entropy.`,
    requests: {
      validated: {
        summary: '256 bits, the generator judged by 15 tests',
        value: { security_level: 256, enable_nist_validation: true },
      },
      plain: { summary: '128 bits', value: { security_level: 128 } },
      report: {
        summary: 'with the full report',
        value: {
          security_level: 256,
          enable_nist_validation: true,
          include: ['nist_report'],
        },
      },
      simulator: {
        summary: '384 bits, the quantum simulator mixed in',
        value: { security_level: 384, entropy_source: 'quantum-simulator' },
      },
    },
    answers: {
      validated: { summary: '256 bits; 15 of 15 tests passed, gate passed', value: VALIDATED_KEY },
      simulator: { summary: '384 bits, the quantum simulator mixed in', value: SIMULATOR_KEY },
    },
    links: {
      validate: {
        operationId: 'validate',
        description: 'Validates the key. The body takes `key` and `hash_proof` of this answer.',
      },
    },
  },
  validate: {
    description: `Whether this service made a key, and whether it looks like one.

- \`proof_verification\` asks the ledger, or with a \`hash_proof\` the proof alone. A good key from elsewhere fails it.
- A version of the service's master secret may be retired, after it leaked. A proof under that version no longer decides
  alone: \`retired_secret\` says what the ledger has of the key. Without a record from before the leak the proof is
  \`unconfirmed\`: the key may be forged, or its record may be gone.
- \`entropy_check\` is six exact tests that an honest key fails with a probability below 2^-50. It finds constant or
  repeating keys and says nothing about how a key was made.
- A malformed key is a verdict, 200 with \`valid: false\`, not an error.`,
    requests: {
      key: { summary: 'a key', value: { key: VALIDATED_KEY.key } },
      proof: {
        summary: 'a key and its proof',
        value: { key: SIMULATOR_KEY.key, hash_proof: SIMULATOR_KEY.hash_proof },
      },
    },
    answers: {
      valid: {
        summary: 'made here',
        value: {
          success: true,
          valid: true,
          validation_details: {
            key_format: 'valid',
            entropy_check: 'passed',
            proof_verification: 'passed',
          },
          timestamp: TIMESTAMP,
        },
      },
      unconfirmed: {
        summary: 'a proof of a retired version, no record',
        value: {
          success: true,
          valid: false,
          validation_details: {
            key_format: 'valid',
            entropy_check: 'passed',
            proof_verification: 'unconfirmed',
            retired_secret: 'no_record',
          },
          timestamp: TIMESTAMP,
        },
      },
      malformed: {
        summary: 'no key at all',
        value: {
          success: true,
          valid: false,
          validation_details: {
            key_format: 'invalid',
            entropy_check: 'skipped',
            proof_verification: 'skipped',
          },
          timestamp: TIMESTAMP,
        },
      },
    },
  },
  metrics: {
    description: `Sums over the last \`hours\`; the period starts on a whole minute.

- \`average_latency_ms\` is the mean of the keys' \`latency_ms\`.
- \`nist_compliance_rate\` is the share of judged streams that passed the gate; 1 without any.
- \`error_rate\` is generate calls answered 5xx over those answered 2xx or 5xx. 4xx do not count.
- \`total_usage\` is metered requests: generated keys and validations.`,
    answers: {
      account: {
        summary: 'four keys in an hour',
        value: {
          success: true,
          metrics: {
            performance: {
              total_keys_generated: 4,
              average_latency_ms: 64.492,
              nist_compliance_rate: 1,
              error_rate: 0,
            },
            usage: { api_key_count: 1, total_usage: 4 },
          },
          timestamp: TIMESTAMP,
        },
      },
    },
  },
  metricsSeries: {
    description: `The same sums in steps aligned to UTC; quiet steps are there, with zeros.

- Without \`step\` the answer has at most 300 steps, each as short as that allows.
- \`keys_per_second\` divides by the step's length, of the last step by what has passed of it.
- Percentiles come from a histogram, with a relative error that the schema states. \`null\` means that there was nothing to
  take them from.`,
    answers: {
      steps: {
        summary: 'one step of five minutes',
        value: {
          success: true,
          series: {
            step_minutes: 5,
            start: '2026-01-31T11:55:00.000+00:00',
            end: TIMESTAMP,
            points: [
              {
                start: '2026-01-31T11:55:00.000+00:00',
                keys: 12,
                keys_per_second: 0.04,
                requests: 15,
                latency_ms: { mean: 1.2, p50: 1.1, p90: 2, p99: 3.1 },
                streams: 3,
                nist_compliance_rate: 1,
                failures: 0,
                error_rate: 0,
              },
            ],
          },
          timestamp: TIMESTAMP,
        },
      },
    },
  },
  randomness: {
    description: `The p-values of the last validated keys, as SP 800-22 §4.2 looks at many sequences.

- Each row is one p-value of one \`stream\`: 188 of the generator's output before modulation, and four after modulation, which
  look for defects of the modulation and say nothing of the generator.
- A row has a histogram, says whether its p-values are spread evenly (\`uniformity_p\`), and whether as many passed as should
  (\`proportion\` between \`proportion_min\` and \`proportion_max\`).
- The interval is SP 800-22's, row by row: of 192 rows some lie outside by chance. \`verdict\` allows for all rows together: by
  chance there is a \`fail\` anywhere in at most one look in a hundred.
- Fewer than 55 samples are not judged: \`null\`.
- \`include=p_values\` adds the raw values, \`null\` where a test did not apply to a sample.`,
    answers: {
      row: {
        summary: 'the first of the rows',
        value: {
          success: true,
          randomness: {
            keys: 100,
            first: '2026-01-30T09:12:44.120+00:00',
            last: TIMESTAMP,
            significance_level: 0.01,
            rows: [
              {
                stream: 'carrier',
                test: 'frequency',
                label: '',
                samples: 100,
                histogram: [9, 11, 10, 8, 12, 10, 9, 11, 10, 10],
                uniformity_p: 0.9978,
                passed: 99,
                proportion: 0.99,
                proportion_min: 0.9602,
                proportion_max: 1,
                verdict: 'pass',
              },
            ],
          },
          timestamp: TIMESTAMP,
        },
      },
    },
  },
  livez: {
    description:
      '200 while the process answers. Restart it when this fails; nothing else is a reason.',
    answers: {
      alive: { summary: 'alive', value: { success: true, status: 'ok', timestamp: TIMESTAMP } },
    },
  },
  readyz: {
    description: `200 while keys can be made and recorded: generators in service, default source delivering, ledger usable, master
secret whole, and not on the way out. \`ok\` means that a part works and that its own tests found no defect; it measures no
entropy. Send no traffic to a replica that answers 503.`,
    answers: { ready: { summary: 'ready', value: READY } },
  },
  health: {
    description: 'The same answer as `/readyz`, by the name that many monitors expect.',
    answers: { ready: { summary: 'ready', value: READY } },
  },
};
