/**
 * Members of each response that callers rely on. The types promise them, but another server or a proxy that rewrites
 * bodies may break that promise. Any other members are allowed.
 */
import { DELIVERY_ID, deliveryIdsOf, KEY_ID } from './options.ts';
import type {
  FetchResult,
  GeneratedKey,
  GeneratedSealedKey,
  GeneratedSealedKeys,
  GenerateRequest,
  KeyInfo,
  Metrics,
  MetricsSeries,
  NistReport,
  Randomness,
  ReceiptResult,
  RemoveResult,
  SealTo,
  ValidationResult,
} from './types.ts';

/** ISO 8601 with a zone, as the service writes times. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Texts of a certain form, some of which may be null. */
const FORMS = {
  'key ID': KEY_ID,
  time: TIME,
  'time or null': TIME,
  'cursor or null': /^[\x21-\x7e]{1,1024}$/,
  'delivery ID': DELIVERY_ID,
} as const satisfies Record<string, RegExp>;

type Form = keyof typeof FORMS;

/**
 * Description of a value: a type, a form of a text, a certain number, a pattern of a string, a list of a certain or any length whose items
 * have a shape, or an object whose members have shapes.
 */
export type Shape =
  | 'string'
  | Form
  | 'number'
  | 'boolean'
  | number
  | RegExp
  | readonly [Shape, length?: number]
  | { readonly [member: string]: Shape };

/** Shapes that agree with the type `T`: the compiler finds misspelt members and wrong types. */
export type ShapeOf<T> = T extends string
  ? 'string' | Form | RegExp
  : T extends number
    ? 'number' | number
    : T extends boolean
      ? 'boolean'
      : T extends readonly (infer Item)[]
        ? readonly [ShapeOf<Item>, length?: number]
        : { readonly [Member in keyof T]?: ShapeOf<NonNullable<T[Member]>> };

const KEYS: ReadonlyMap<number, RegExp> = new Map([
  [128, /^[0-9a-f]{32}$/],
  [256, /^[0-9a-f]{64}$/],
  [384, /^[0-9a-f]{96}$/],
]);

const FACTS = {
  key_id: 'key ID',
  security_strength_bits: 'number',
  entropy_bits: 'number',
  latency_ms: 'number',
  source: 'string',
  quantum_hardware: 'boolean',
  timestamp: 'time',
} as const satisfies ShapeOf<GeneratedKey>;

const BASE64_URL = /^[A-Za-z0-9_-]+$/;

const SEALED = {
  suite: 'string',
  kem_id: 'number',
  kdf_id: 'number',
  aead_id: 'number',
  enc: BASE64_URL,
  ciphertext: BASE64_URL,
  header: BASE64_URL,
} as const satisfies ShapeOf<GeneratedSealedKey['sealed_key']>;

const VERDICT = {
  nist_validation: {
    certification_status: 'string',
    tests_passed: 'number',
    total_tests: 'number',
    compliance_level: 'string',
  },
  nist_score: 'number',
  nist_grade: 'string',
} as const satisfies ShapeOf<GeneratedKey>;

const TEST = {
  name: 'string',
  stream: 'string',
  applicable: 'boolean',
  parameters: {},
  labels: ['string'],
  p_values: ['number'],
  statistics: {},
} as const satisfies ShapeOf<NistReport['tests'][number]>;

const REPORT = {
  bits: 'number',
  constants: 'string',
  alpha: 'number',
  tests: [TEST],
  tests_passed: 'number',
  total_tests: 'number',
  modulation_tests: [TEST],
  gate: {
    p_value: 'number',
    alpha: 'number',
    tests: 'number',
    weakest: { stream: 'string', name: 'string' },
    verdict: 'string',
    streams_judged: 'number',
  },
} as const satisfies ShapeOf<NistReport>;

/** The opening is 32 bytes in base64. */
const OPENED = {
  opening: /^[A-Za-z0-9+/]{43}=$/,
} as const satisfies ShapeOf<GeneratedKey>;

const KEY_INFO = {
  key_id: 'key ID',
  status: 'string',
  created_at: 'time',
  security_level: 'number',
  api_key_id: 'string',
  labels: {},
  expires_at: 'time or null',
  revoked_at: 'time or null',
} as const satisfies ShapeOf<KeyInfo>;

/** Returns the shape of the key that `body` requests. */
export function keyShape(body: GenerateRequest): Shape {
  return {
    security_level: body.security_level,
    key: KEYS.get(body.security_level) ?? 'string',
    ...factsShape(body),
    hash_proof: 'string',
    ...(includes(body, 'receipt') ? OPENED : {}),
  } satisfies ShapeOf<GeneratedKey>;
}

type SealedRequest = { readonly seal_to: SealTo | readonly SealTo[] } & GenerateRequest;

/** Returns the shape of the sealed key that `body` requests. */
export function sealedKeyShape(body: SealedRequest): Shape {
  return { security_level: body.security_level, ...copiesShape(body), ...factsShape(body) };
}

/** A list of one recipient is the same as that one. The service refuses what is no list of recipients. */
function copiesShape(body: SealedRequest): { readonly [member: string]: Shape } {
  const { seal_to: to } = body;
  const recipients = Array.isArray(to) ? to.length : 1;
  const several = {
    sealed_keys: [SEALED, recipients],
  } as const satisfies ShapeOf<GeneratedSealedKeys>;
  if (deliveryIdsOf(body)) return { ...several, delivery: { id: 'delivery ID', until: 'time' } };
  return recipients > 1 ? several : { sealed_key: SEALED };
}

/** Returns the shape of a batch of `count` keys. */
export function batchShape(count: number, key: Shape): Shape {
  return { count, keys: [key, count], timestamp: 'time' };
}

/** Besides `receipt`, which may be null. */
function factsShape(body: GenerateRequest) {
  const { enable_nist_validation: isValidated } = body;
  return {
    ...FACTS,
    ...(isValidated ? VERDICT : {}),
    ...(isValidated && includes(body, 'nist_report') ? { nist_report: REPORT } : {}),
    ...(includes(body, 'receipt') ? { receipt_url: 'string' as const } : {}),
  };
}

function includes({ include }: GenerateRequest, value: string): boolean {
  return Array.isArray(include) && include.includes(value);
}

/** Shapes of responses that do not depend on the request. One of a few members, which one call has, stands at the call. */
export const SHAPES = {
  validate: {
    valid: 'boolean',
    validation_details: {
      key_format: 'string',
      entropy_check: 'string',
      proof_verification: 'string',
    },
    timestamp: 'time',
  } satisfies ShapeOf<ValidationResult>,
  // Without it, a list would begin again at its first page.
  keys: { keys: [KEY_INFO], next_cursor: 'cursor or null', timestamp: 'time' },
  key: { key: KEY_INFO, timestamp: 'time' },
  deliveries: {
    deliveries: [{ delivery_id: 'delivery ID', key_id: 'key ID', until: 'time' }],
    next_cursor: 'cursor or null',
    timestamp: 'time',
  },
  copies: {
    deliveries: [{ delivery_id: 'delivery ID', state: 'string' }],
    timestamp: 'time',
  } satisfies ShapeOf<RemoveResult>,
  // A copy that cannot be fetched has fewer members.
  fetched: {
    deliveries: [{ delivery_id: 'delivery ID', state: 'string' }],
    timestamp: 'time',
  } satisfies ShapeOf<FetchResult>,
  delivery: {
    delivery: {
      delivery_id: 'delivery ID',
      key_id: 'key ID',
      until: 'time',
      recipients: [{ recipient: 'string', state: 'string', received_at: 'time or null' }],
    },
    timestamp: 'time',
  },
  receipt: {
    receipt: {
      statement: {
        type: 'string',
        service: 'string',
        key_id: 'key ID',
        time: 'time',
        key_commitment: 'string',
        salt: 'string',
      },
      proof: 'string',
    },
    timestamp: 'time',
  } satisfies ShapeOf<ReceiptResult>,
  metrics: {
    metrics: {
      performance: {
        total_keys_generated: 'number',
        average_latency_ms: 'number',
        nist_compliance_rate: 'number',
        error_rate: 'number',
      },
      usage: { api_key_count: 'number', total_usage: 'number' },
    },
    timestamp: 'time',
  } satisfies ShapeOf<Metrics>,
  series: {
    series: {
      step_minutes: 'number',
      start: 'time',
      end: 'time',
      points: [
        {
          start: 'time',
          keys: 'number',
          keys_per_second: 'number',
          requests: 'number',
          streams: 'number',
          failures: 'number',
        },
      ],
    },
    timestamp: 'time',
  } satisfies ShapeOf<MetricsSeries>,
  randomness: {
    randomness: {
      keys: 'number',
      significance_level: 'number',
      rows: [
        {
          stream: 'string',
          test: 'string',
          label: 'string',
          samples: 'number',
          histogram: ['number'],
          passed: 'number',
        },
      ],
    },
    timestamp: 'time',
  } satisfies ShapeOf<Randomness>,
} as const;

/** Names the first member that is missing or has another shape; undefined if all fit. Quotes no value. */
export function findMismatch(value: unknown, shape: Shape, at = ''): string | undefined {
  if (value === undefined) return `${at} is missing`;
  if (!fits(value, shape)) return `${at} must be ${nameOf(shape)}, got ${kindOf(value)}`;
  if (typeof shape !== 'object' || shape instanceof RegExp) return undefined;
  const parts = isList(shape)
    ? (value as unknown[]).map((item, i) => [String(i), item, shape[0]] as const)
    : Object.entries(shape).map(
        ([name, part]) => [name, (value as Record<string, unknown>)[name], part] as const,
      );
  for (const [name, part, itsShape] of parts) {
    const mismatch = findMismatch(part, itsShape, `${at}/${name}`);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

/** Reports whether a value itself fits, without its items and members. */
function fits(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'number') return value === shape;
  if (isForm(shape)) {
    if (value === null) return shape.endsWith(' or null');
    return typeof value === 'string' && FORMS[shape].test(value);
  }
  // JSON can have a number that no double holds (RFC 8259 §6).
  if (shape === 'number') return Number.isFinite(value);
  if (typeof shape === 'string') return typeof value === shape;
  if (shape instanceof RegExp) return typeof value === 'string' && shape.test(value);
  if (!isList(shape)) return kindOf(value) === 'an object';
  const [, length] = shape;
  return Array.isArray(value) && (length === undefined || value.length === length);
}

function isForm(shape: Shape): shape is Form {
  return typeof shape === 'string' && Object.hasOwn(FORMS, shape);
}

function isList(shape: object): shape is readonly [Shape, length?: number] {
  return Array.isArray(shape);
}

function nameOf(shape: Shape): string {
  if (typeof shape === 'number') return String(shape);
  if (typeof shape === 'string') return `a ${shape}`;
  if (shape instanceof RegExp) return `a string that matches ${shape.source}`;
  if (!isList(shape)) return 'an object';
  return shape[1] === undefined ? 'a list' : `a list of ${shape[1]}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'one that is too large';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
