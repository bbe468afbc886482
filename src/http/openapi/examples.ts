/** Examples of the OpenAPI document, by operation: request bodies, and bodies of 200. */

import type { ReceiptBody } from '../wire/receipt-schemas.ts';
import { CHECKPOINT, POLICY, RECEIPT, RECEIPTED_KEY } from './receipt-example.ts';
import { SEAL_TO, SEALED_KEY } from './sealed-example.ts';

interface Example {
  readonly summary: string;
  readonly value: unknown;
}

const TIMESTAMP = '2026-01-31T12:00:00.000+00:00';

const PLAIN_KEY = {
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
};

const VALIDATED_KEY = {
  ...PLAIN_KEY,
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

/** What the ledger knows of `VALIDATED_KEY`. */
const KEY_INFO = {
  key_id: VALIDATED_KEY.key_id,
  status: 'active',
  created_at: TIMESTAMP,
  security_level: 256,
  security_strength_bits: 256,
  modulation_type: 'phase',
  source: 'os',
  api_key_id: 'key_demo_research',
  evidence: { verdict: 'PASS', tests_passed: 15, total_tests: 15, gate_p_value: 0.331 },
  sealed_to: null,
  labels: { env: 'prod' },
  expires_at: '2027-01-31T12:00:00.000+00:00',
  revoked_at: null,
  revocation_reason: null,
  receipt_url: `/api/v2/keys/${VALIDATED_KEY.key_id}/receipt`,
};

const REVOKED_KEY = {
  ...KEY_INFO,
  status: 'compromised',
  revoked_at: TIMESTAMP,
  revocation_reason: 'key_compromise',
};

/** Returns the response to a batch with one key, in the form of its own response. */
function batchOf({ success, ...key }: { readonly success: boolean; readonly timestamp: string }) {
  return { success, timestamp: key.timestamp, count: 1, keys: [key] };
}

/** The file holds one. */
const SEALED_RECEIPT = SEALED_KEY.receipt as ReceiptBody;

const { receipt: _, receipt_url: __, ...WITHOUT_RECEIPT } = SEALED_KEY;

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

interface OperationExamples {
  /** Request bodies, by name. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Bodies of 200, by name. */
  readonly answers: Readonly<Record<string, Example>>;
}

/** By operationId. */
export const OPERATION_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  generate: {
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
      validated: { summary: '256 bits; 15 of 15 tests passed, gate passed', value: VALIDATED_KEY },
      simulator: { summary: '384 bits with the quantum simulator mixed in', value: SIMULATOR_KEY },
      receipt: { summary: '256 bits, validated, with a receipt', value: RECEIPTED_KEY },
    },
  },
  generateSealed: {
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
    },
    answers: {
      sealed: {
        summary: '256 bits, sealed with MLKEM768-X25519, with a receipt',
        value: SEALED_KEY,
      },
    },
  },
  generateBatch: {
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
  },
  generateSealedBatch: {
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
      one: { summary: 'a batch of one sealed key', value: batchOf(WITHOUT_RECEIPT) },
    },
  },
  validate: {
    requests: {
      key: { summary: 'a key', value: { key: VALIDATED_KEY.key } },
      proof: {
        summary: 'a key and its proof',
        value: { key: SIMULATOR_KEY.key, hash_proof: SIMULATOR_KEY.hash_proof },
      },
    },
    answers: {
      valid: {
        summary: 'generated by this service',
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
        summary: 'a proof under a retired version, without a record',
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
        summary: 'not a key',
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
  listKeys: {
    answers: {
      one: {
        summary: 'one key, and no further page',
        value: { success: true, keys: [KEY_INFO], next_cursor: null, timestamp: TIMESTAMP },
      },
    },
  },
  getKey: {
    answers: {
      key: {
        summary: 'a validated key of 256 bits',
        value: { success: true, key: KEY_INFO, timestamp: TIMESTAMP },
      },
    },
  },
  revokeKey: {
    requests: {
      compromise: { summary: 'others may have the key', value: { reason: 'key_compromise' } },
      superseded: { summary: 'another key replaces it', value: { reason: 'superseded' } },
    },
    answers: {
      key: {
        summary: 'a compromised key',
        value: { success: true, key: REVOKED_KEY, timestamp: TIMESTAMP },
      },
    },
  },
  receipt: {
    answers: {
      receipt: {
        summary: 'the receipt for a key of 256 bits',
        value: { success: true, receipt: RECEIPT, timestamp: TIMESTAMP },
      },
    },
  },
  receiptByCommitment: {
    requests: {
      sealed: {
        summary: 'the key_id and key_commitment of a sealed key',
        value: {
          key_id: SEALED_RECEIPT.statement.key_id,
          key_commitment: SEALED_RECEIPT.statement.key_commitment,
        },
      },
    },
    answers: {
      receipt: {
        summary: 'the receipt for a sealed key',
        value: { success: true, receipt: SEALED_RECEIPT, timestamp: TIMESTAMP },
      },
    },
  },
  logCheckpoint: {
    answers: {
      checkpoint: { summary: 'a checkpoint', value: CHECKPOINT },
    },
  },
  logPolicy: {
    answers: {
      policy: { summary: 'a log without witnesses', value: POLICY },
    },
  },
  metrics: {
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
    answers: {
      alive: { summary: 'alive', value: { success: true, status: 'ok', timestamp: TIMESTAMP } },
    },
  },
  readyz: {
    answers: { ready: { summary: 'ready', value: READY } },
  },
  health: {
    answers: { ready: { summary: 'ready', value: READY } },
  },
};
