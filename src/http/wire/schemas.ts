/**
 * The wire, as schemas: what checks requests is what the OpenAPI document is generated from.
 * Field names and their order are the interface specification's.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors.ts';
import {
  LATCH_TESTS,
  type LatchCause,
  SECURITY_LEVELS,
  type SecurityLevel,
} from '../../keys/index.ts';
import {
  DEFAULT_MODULATION,
  MODULATION_TYPES,
  type ModulationType,
} from '../../modulation/index.ts';
import { NistReport } from './nist-report.ts';

/**
 * `nist_report` adds everything that the suite found, and needs `enable_nist_validation`. `hash_proof` is accepted because
 * clients send it; the proof is in every answer.
 */
export const INCLUDABLE = ['hash_proof', 'nist_report'] as const;
export type Includable = (typeof INCLUDABLE)[number];

export const MIN_HOURS = 1;
export const MAX_HOURS = 8_760;
export const DEFAULT_HOURS = 24;

/** Longest key or proof that is read at all; a key has at most 96 characters, a proof 88. */
const MAX_TEXT = 4_096;

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 date-time with UTC offset',
  examples: ['2026-01-31T12:00:00.000+00:00'],
});

export const Success = Type.Literal(true, { description: 'true: the call succeeded' });

export function oneOf<T extends string | number>(
  values: readonly T[],
  type: 'string' | 'integer',
  description: string,
  extra: Record<string, unknown> = {},
) {
  return Type.Unsafe<T>({ type, enum: [...values], description, ...extra });
}

/** Something that the service did not do as the request may have meant it. */
export const Warning = Type.Object(
  {
    code: oneOf(['unknown_field'], 'string', 'stable code of the warning'),
    pointer: Type.String({ description: '"#/field" in the body, "?name" in the query' }),
    detail: Type.String({ description: 'a sentence for people' }),
  },
  { title: 'Warning' },
);

/** Of every answer: a member that is there only when there is something to warn of. */
export const warnings = Type.Optional(
  Type.Array(Warning, {
    description:
      'fields of the request that this service does not know and ignored: eight, then one entry that counts the others',
  }),
);

/** A field that a body may leave out; null means the same. */
function leavable<T extends TSchema>(schema: T) {
  const { type, enum: values } = schema as { type?: unknown; enum?: readonly unknown[] };
  return Type.Optional(
    Type.Unsafe<Static<T> | null>({
      ...schema,
      type: [type, 'null'],
      ...(values && { enum: [...values, null] }),
    }),
  );
}

const BODY_RULES =
  'null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.';

const Level = oneOf<SecurityLevel>(SECURITY_LEVELS, 'integer', 'length of the key in bits', {
  title: 'SecurityLevel',
});

/**
 * A number of an answer that a request has chosen among a few. It is any number to clients: the one for Python
 * that openapi-python-client generates cannot read a choice of constants, only send it.
 */
export function chosen<T extends number>(values: readonly T[], description: string) {
  const range = { minimum: Math.min(...values), maximum: Math.max(...values) };
  return Type.Unsafe<T>({ type: 'integer', ...range, description });
}

/** The generate body; `sources` are the entropy sources that this server lets requests name. */
export function generateBody(sources: readonly string[], defaultSource: string) {
  return Type.Object(
    {
      security_level: Level,
      enable_nist_validation: leavable(
        Type.Boolean({
          default: false,
          description: "judge the generator's output before modulation by the SP 800-22 suite",
        }),
      ),
      modulation_type: leavable(
        oneOf<ModulationType>(MODULATION_TYPES, 'string', 'modulation algorithm type', {
          title: 'ModulationType',
          default: DEFAULT_MODULATION,
        }),
      ),
      entropy_source: leavable(
        oneOf(sources, 'string', 'entropy source mixed in beside the operating system', {
          title: 'EntropySource',
          default: defaultSource,
        }),
      ),
      include: leavable(
        Type.Array(oneOf<Includable>(INCLUDABLE, 'string', 'extra field'), {
          maxItems: 16,
          description:
            'extra fields to add to the response; nist_report needs enable_nist_validation',
        }),
      ),
    },
    { title: 'GenerateRequest', description: BODY_RULES },
  );
}

export type GenerateBody = Static<ReturnType<typeof generateBody>>;

/** Starts the description of a field that restates results and adds nothing to them. */
const LABEL = 'label of this service, required by its interface';

export const NistValidation = Type.Object(
  {
    certification_status: oneOf(
      ['PASS', 'FAIL'],
      'string',
      `${LABEL}: whether the gate passed. No key is released on FAIL`,
    ),
    tests_passed: Type.Integer({
      minimum: 0,
      maximum: 15,
      description: "tests that the generator's output before modulation passed",
    }),
    total_tests: Type.Integer({
      minimum: 13,
      maximum: 15,
      description: 'tests that applied to it',
    }),
    compliance_level: oneOf(
      ['CERTIFICATION_READY', 'REVIEW', 'NON_COMPLIANT'],
      'string',
      `${LABEL}: CERTIFICATION_READY if all tests passed, REVIEW if any fell below 0.01. NIST certifies nothing by SP 800-22`,
    ),
  },
  { title: 'NistValidation' },
);

export const GeneratedKey = Type.Object(
  {
    success: Success,
    key_id: Type.String({ pattern: '^phm_[0-9]+$', description: 'identifier of the key' }),
    key: Type.String({
      pattern: '^([0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{96})$',
      description: 'the key, lowercase hexadecimal; shown once and never stored',
    }),
    security_level: chosen(SECURITY_LEVELS, 'the requested level'),
    security_strength_bits: Type.Integer({
      minimum: 0,
      maximum: 256,
      description: "the requested level or the generator's security strength, whichever is less",
    }),
    entropy_bits: Type.Number({
      minimum: 0,
      maximum: 384,
      description:
        'min-entropy credited to the key, scaled by the 99 % bound of a defect screen: 254.8 of 256 is no loss; 0 where no source is credited',
    }),
    latency_ms: Type.Number({ minimum: 0, description: 'from acceptance to key and proof ready' }),
    timestamp: Timestamp,
    source: Type.String({
      description: 'entropy source of this key beside the operating system; os: no other',
    }),
    quantum_hardware: Type.Boolean({
      description:
        "whether source is quantum hardware, on its provider's word alone; credited 0 bits by default",
    }),
    entropy_job_id: Type.Union([Type.String(), Type.Null()], {
      description: 'job of the hardware that fed the key, or null',
    }),
    hash_proof: Type.String({
      pattern: '^proof_[1-9][0-9]{77,81}$',
      description: 'keyed proof that this service generated the key',
    }),
    nist_validation: Type.Optional(NistValidation),
    nist_score: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: `${LABEL}: share of the tests passed, in percent; with nist_validation`,
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
    warnings,
  },
  {
    title: 'GeneratedKey',
    description:
      'nist_validation, nist_score and nist_grade come together, with enable_nist_validation.',
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
        description: 'proof from generate; without it, or with an empty one, the ledger decides',
      }),
    ),
  },
  { title: 'ValidateRequest', description: BODY_RULES },
);

const check = (values: string[], description: string) => oneOf(values, 'string', description);

export const ValidationResult = Type.Object(
  {
    success: Success,
    valid: Type.Boolean({ description: 'overall verdict: all three checks are good' }),
    validation_details: Type.Object(
      {
        key_format: check(['valid', 'invalid'], '32, 64 or 96 lowercase hexadecimal digits'),
        entropy_check: check(['passed', 'failed', 'skipped'], 'six exact binomial tests'),
        proof_verification: check(
          ['passed', 'failed', 'skipped', 'unconfirmed'],
          'the proof, or without one the ledger, vouches for the key; "unconfirmed": the key is of a retired version ' +
            'of the master secret, and no record vouches for it',
        ),
        retired_secret: Type.Optional(
          check(
            ['record_found', 'record_too_late', 'no_record'],
            'only with a key of a retired version of the master secret: what the ledger, which then decides, has of it',
          ),
        ),
      },
      { title: 'ValidationDetails' },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'ValidationResult' },
);

export const MetricsQuery = Type.Object({
  hours: Type.Optional(
    Type.Integer({
      minimum: MIN_HOURS,
      maximum: MAX_HOURS,
      default: DEFAULT_HOURS,
      description: 'length of the period in hours: decimal digits, given once',
    }),
  ),
});

export const MetricsResult = Type.Object(
  {
    success: Success,
    metrics: Type.Object(
      {
        performance: Type.Object(
          {
            total_keys_generated: Type.Integer({ minimum: 0 }),
            average_latency_ms: Type.Number({ minimum: 0, description: '0 without keys' }),
            nist_compliance_rate: Type.Number({
              minimum: 0,
              maximum: 1,
              description: 'share of validated streams that passed the gate; 1 without any',
            }),
            error_rate: Type.Number({
              minimum: 0,
              maximum: 1,
              description: 'generate calls answered 5xx / (2xx + 5xx); 0 without any',
            }),
          },
          { title: 'PerformanceMetrics' },
        ),
        usage: Type.Object(
          {
            api_key_count: Type.Integer({ minimum: 0, description: 'active API keys' }),
            total_usage: Type.Integer({ minimum: 0, description: 'metered requests' }),
          },
          { title: 'UsageMetrics' },
        ),
      },
      { title: 'AccountMetrics', description: "The caller's account in the period." },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'Metrics' },
);

export const HealthResult = Type.Object(
  {
    success: Type.Boolean({ description: 'true when healthy' }),
    status: oneOf(['ok', 'unavailable', 'draining'], 'string', 'state of this replica'),
    checks: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'state of entropy (ok, starting or unavailable), each entropy source, generator (ok, starting, unjudged or latched), ledger, master_secret and accepting',
      }),
    ),
    latch: Type.Optional(
      Type.Object(
        {
          cause: oneOf(
            Object.keys(LATCH_TESTS) as LatchCause[],
            'string',
            'what showed the defect: a self-test, failures of the gate (two in a row, or three within 1,000 verdicts), a biased sample, an exact test that a key failed, or a repeated key',
          ),
          test: Type.String({ description: 'the test that showed it' }),
        },
        {
          title: 'Latch',
          description:
            'present once this process makes no more keys because a generator proved defective; a restart clears it',
        },
      ),
    ),
    timestamp: Timestamp,
  },
  { title: 'Health' },
);

/** Problem details (RFC 9457) with this service's members. */
export const Problem = Type.Object(
  {
    success: Type.Literal(false, { description: 'false: the call failed' }),
    type: Type.String({ description: 'urn:phm:error: and the code' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    instance: Type.String({ description: 'urn:phm:request: and the request id' }),
    code: oneOf(Object.keys(ERRORS) as ErrorCode[], 'string', 'stable code of the error', {
      title: 'ErrorCode',
    }),
    request_id: Type.String({ description: 'the X-Request-Id of this request' }),
    timestamp: Timestamp,
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({ description: '"#/field" in the body, "?name" in the query' }),
            message: Type.String(),
          },
          { title: 'FieldError' },
        ),
      ),
    ),
  },
  { title: 'Problem' },
);

export type ProblemBody = Static<typeof Problem>;

/** The responses of a route: its success and, by status, the problems it can answer. */
export function responses(success: TSchema, codes: readonly ErrorCode[]) {
  const byStatus: Record<string, unknown> = {
    200: { description: 'OK', content: { 'application/json': { schema: success } } },
  };
  for (const status of new Set(codes.map((code) => ERRORS[code].status))) {
    const named = codes.filter((code) => ERRORS[code].status === status);
    byStatus[status] = {
      description: named.map((code) => `${code}: ${ERRORS[code].title}`).join('; '),
      content: { 'application/problem+json': { schema: Problem } },
    };
  }
  return byStatus;
}

/** What any route can answer. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'unsupported_transfer_encoding',
  'headers_too_large',
  'internal_error',
];

/** What any route that needs an API key can answer. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  ...COMMON_ERRORS,
  'missing_api_key',
  'invalid_api_key',
  'rate_limited',
  'ledger_unavailable',
  'overloaded',
];

/** What any route with a body can answer beside them. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
];
