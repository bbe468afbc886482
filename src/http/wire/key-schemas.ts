/** Schemas of generate and validate. The interface specification sets the names and the order of the fields. */
import type { Static } from 'typebox';
import { KEY_STATUSES, SECURITY_LEVELS, type SecurityLevel } from '../../keys/index.ts';
import {
  DEFAULT_MODULATION,
  MODULATION_TYPES,
  type ModulationType,
} from '../../modulation/index.ts';
import { END_FIELDS, Labels } from './key-end-schemas.ts';
import { NistReport } from './nist-report.ts';
import { Opening, Receipt, ReceiptUrl } from './receipt-schemas.ts';
import { BODY_RULES, chosen, leavable, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { Type } from './type.ts';

/**
 * Values of `include`. `nist_report` adds the full report and needs `enable_nist_validation`. `receipt` adds the receipt
 * and its opening, and needs a transparency log. `hash_proof` is accepted because clients send it; the proof is in every
 * response.
 */
export const INCLUDABLE = ['hash_proof', 'nist_report', 'receipt'] as const;
export type Includable = (typeof INCLUDABLE)[number];

/** Longest key or proof that a request may contain. A key has at most 96 characters, a proof 88. */
const MAX_TEXT = 4_096;

const Level = oneOf<SecurityLevel>(SECURITY_LEVELS, 'integer', 'length of the key in bits', {
  title: 'SecurityLevel',
});

/**
 * Returns the fields of every body that asks for keys. `sources` are the entropy sources that requests may name,
 * `includable` the extra fields of the response.
 */
export function orderFields<Extra extends Includable>(
  sources: readonly string[],
  defaultSource: string,
  includable: readonly Extra[],
) {
  return {
    security_level: Level,
    enable_nist_validation: leavable(
      Type.Boolean({
        default: false,
        description:
          "run the SP 800-22 suite on the generator's output before modulation; the key is no better and takes longer",
      }),
    ),
    modulation_type: leavable(
      oneOf<ModulationType>(
        MODULATION_TYPES,
        'string',
        'modulation type; changes neither strength nor entropy',
        {
          title: 'ModulationType',
          default: DEFAULT_MODULATION,
        },
      ),
    ),
    entropy_source: leavable(
      oneOf(sources, 'string', 'entropy source mixed in besides the operating system', {
        title: 'EntropySource',
        default: defaultSource,
      }),
    ),
    ...END_FIELDS,
    include: leavable(
      Type.Array(oneOf<Extra>(includable, 'string', 'extra field'), {
        maxItems: 16,
        description:
          'extra fields of the response; nist_report needs enable_nist_validation, receipt a server with a transparency log',
      }),
    ),
  };
}

/** Returns the schema of the generate body. */
export function generateBody(sources: readonly string[], defaultSource: string) {
  return Type.Object(orderFields(sources, defaultSource, INCLUDABLE), {
    title: 'GenerateRequest',
    description: BODY_RULES,
  });
}

export type GenerateBody = Static<ReturnType<typeof generateBody>>;

/** Start of the description of a field that only restates results. */
const LABEL = 'label for existing clients';

const NistValidation = Type.Object(
  {
    certification_status: oneOf(
      ['PASS', 'FAIL'],
      'string',
      `${LABEL}: PASS if the gate of this service passed on a sample. It certifies nothing. FAIL releases no key`,
    ),
    tests_passed: Type.Integer({
      minimum: 0,
      maximum: 15,
      description: "tests passed by the generator's output before modulation",
    }),
    total_tests: Type.Integer({
      minimum: 13,
      maximum: 15,
      description: 'tests that applied to it',
    }),
    compliance_level: oneOf(
      ['CERTIFICATION_READY', 'REVIEW', 'NON_COMPLIANT'],
      'string',
      `${LABEL}: CERTIFICATION_READY if every applicable test passed, REVIEW if a test failed, as in about one sound sample in eight. NIST certifies nothing by SP 800-22`,
    ),
  },
  { title: 'NistValidation' },
);

export const KeyIdField = Type.String({
  pattern: '^phm_[0-9]+$',
  description: 'identifier of the key',
});

/** What a response says about a key and its generation. */
export const FACTS = {
  security_level: chosen(SECURITY_LEVELS, 'the requested level'),
  security_strength_bits: Type.Integer({
    minimum: 0,
    maximum: 256,
    description: "the smaller of the requested level and the generator's security strength",
  }),
  entropy_bits: Type.Number({
    minimum: 0,
    maximum: 384,
    description:
      'computational credit to the sources, times the 99 % bound of a defect screen on the share of ones: not the entropy of the key. About 254.8 of 256 is typical and no loss; 0 if no source is credited',
  }),
  latency_ms: Type.Number({
    minimum: 0,
    description: 'from acceptance of the request until key and proof are ready',
  }),
  timestamp: Timestamp,
  source: Type.String({
    description: 'entropy source of this key besides the operating system; os: no other',
  }),
  quantum_hardware: Type.Boolean({
    description:
      'true if the provider of source says that it is quantum hardware; credited with 0 bits by default',
  }),
  entropy_job_id: Type.Union([Type.String(), Type.Null()], {
    description: 'IBM Quantum job whose output is in the reseed of this key, or null',
  }),
  labels: Type.Optional(Labels),
  expires_at: Type.Optional(Timestamp),
};

/** With `enable_nist_validation`. */
export const VERDICT = {
  nist_validation: Type.Optional(NistValidation),
  nist_score: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description: `${LABEL}: share of the tests passed, in per cent; with nist_validation`,
    }),
  ),
  nist_grade: Type.Optional(
    oneOf(
      ['A', 'B', 'C', 'D', 'F'],
      'string',
      `${LABEL}: grade of nist_score; with nist_validation`,
    ),
  ),
  nist_report: Type.Optional(NistReport),
};

/** With `receipt` in `include`. */
export const RECEIPT_FIELDS = {
  receipt: Type.Optional(
    Type.Union([Receipt, Type.Null()], {
      description:
        'receipt for the key; null if no checkpoint covered its record within 2 s: receipt_url then returns it later',
    }),
  ),
  receipt_url: Type.Optional(ReceiptUrl),
};

/** A key in plaintext. */
export const PLAIN_KEY = {
  key_id: KeyIdField,
  key: Type.String({
    pattern: '^([0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{96})$',
    description: 'the key in lowercase hexadecimal; shown once and never stored',
  }),
  ...FACTS,
  hash_proof: Type.String({
    pattern: '^proof_[1-9][0-9]{77,81}$',
    description: 'keyed proof that this service generated the key; does not reveal the key',
  }),
  ...VERDICT,
  ...RECEIPT_FIELDS,
  opening: Type.Optional(Opening),
};

export const GeneratedKey = Type.Object(
  { success: Success, ...PLAIN_KEY, warnings },
  {
    title: 'GeneratedKey',
    description:
      'With enable_nist_validation the response also has nist_validation, nist_score and nist_grade; with receipt in include, it has receipt, receipt_url and opening.',
  },
);

export type GeneratedKeyResponse = Static<typeof GeneratedKey>;

export const ValidateBody = Type.Object(
  {
    key: Type.String({
      maxLength: MAX_TEXT,
      description: 'the key to validate: 32, 64 or 96 lowercase hexadecimal digits',
    }),
    hash_proof: leavable(
      Type.String({
        maxLength: MAX_TEXT,
        description: 'proof from generate; if it is absent or empty, the ledger decides',
      }),
    ),
  },
  { title: 'ValidateRequest', description: BODY_RULES },
);

const check = (values: string[], description: string) => oneOf(values, 'string', description);

export const ValidationResult = Type.Object(
  {
    success: Success,
    valid: Type.Boolean({ description: 'overall verdict: true if all three checks are good' }),
    validation_details: Type.Object(
      {
        key_format: check(['valid', 'invalid'], '32, 64 or 96 lowercase hexadecimal digits'),
        entropy_check: check(
          ['passed', 'failed', 'skipped'],
          'six exact binomial tests, which bound the bias of the key and measure no entropy',
        ),
        proof_verification: check(
          ['passed', 'failed', 'skipped', 'unconfirmed'],
          'passed if the proof, or without one the ledger, confirms the key; "unconfirmed": the key belongs to a ' +
            'retired version of the master secret, and no record confirms it',
        ),
        key_status: Type.Optional(
          check([...KEY_STATUSES], 'state of a recognised key; valid is false unless it is active'),
        ),
        retired_secret: Type.Optional(
          check(
            ['record_found', 'record_too_late', 'no_record'],
            'only for a key of a retired version of the master secret: the record of the key in the ledger, which then decides',
          ),
        ),
        reason: Type.Optional(
          Type.String({
            description:
              'why the key is not valid, in one sentence for people; only if valid is false',
          }),
        ),
      },
      { title: 'ValidationDetails' },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'ValidationResult' },
);
