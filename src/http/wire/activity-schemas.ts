/** Schemas of an account's activity, which the API calls metrics: sums, sums over time, and p-values. */
import type { Static, TSchema } from 'typebox';
import { ALPHA, SECOND_LEVEL_MINIMUM_SEQUENCES } from '#sp800-22';
import { StreamName, TestName } from './nist-report.ts';
import { chosen, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { Type } from './type.ts';

/** Hours of the period. */
export const MIN_HOURS = 1;
export const MAX_HOURS = 8_760;
export const DEFAULT_HOURS = 24;

/** Lengths of a step in minutes. Steps of 60 and more use the sums by hour. */
export const STEP_MINUTES = [1, 5, 15, 60, 360, 1_440] as const;
export type StepMinutes = (typeof STEP_MINUTES)[number];

/** Maximum number of steps in a response, and the maximum if the request names no step. */
export const MAX_STEPS = 1_500;
export const DEFAULT_MAX_STEPS = 300;

export const MIN_KEYS = 1;
export const MAX_KEYS = 1_000;
export const DEFAULT_KEYS = 100;

/** Value of `include` for randomness. */
export const P_VALUES = 'p_values';

export const ActivityQuery = Type.Object({
  hours: Type.Optional(
    Type.Integer({
      minimum: MIN_HOURS,
      maximum: MAX_HOURS,
      default: DEFAULT_HOURS,
      description: 'length of the period in hours, in decimal digits; at most once',
    }),
  ),
});

export const ActivityResult = Type.Object(
  {
    success: Success,
    metrics: Type.Object(
      {
        performance: Type.Object(
          {
            total_keys_generated: Type.Integer({ minimum: 0 }),
            average_latency_ms: Type.Number({
              minimum: 0,
              description: 'mean of latency_ms; 0 without keys',
            }),
            nist_compliance_rate: Type.Number({
              minimum: 0,
              maximum: 1,
              description: 'share of judged streams that passed the gate; 1 without any',
            }),
            error_rate: Type.Number({
              minimum: 0,
              maximum: 1,
              description:
                'generate calls with a 5xx response / these calls plus the generated keys; 0 without any',
            }),
          },
          { title: 'PerformanceMetrics' },
        ),
        usage: Type.Object(
          {
            api_key_count: Type.Integer({
              minimum: 0,
              description: 'API keys that are not revoked now',
            }),
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

const Step = oneOf<StepMinutes>(STEP_MINUTES, 'integer', 'length of a step in minutes', {
  title: 'StepMinutes',
});

export const SeriesQuery = Type.Object({
  hours: ActivityQuery.properties.hours,
  step: Type.Optional(Step),
});

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const count = (description: string) => Type.Integer({ minimum: 0, description });
const share = (description: string) => orNull(Type.Number({ minimum: 0, maximum: 1 }), description);
const percentile = (description: string) => orNull(Type.Number({ minimum: 0 }), description);

const SeriesPoint = Type.Object(
  {
    start: Timestamp,
    keys: count('generated keys'),
    keys_per_second: Type.Number({
      minimum: 0,
      description:
        'keys / length of the step; in the last step, the time that has passed, at least 1 s',
    }),
    requests: count('metered requests: generated keys and validations'),
    latency_ms: orNull(
      Type.Object(
        {
          mean: Type.Number({ minimum: 0, description: 'exact' }),
          p50: percentile(
            'from a histogram: off by at most 9.1 %; null if the histogram lacks keys',
          ),
          p90: percentile('as p50'),
          p99: percentile('as p50'),
        },
        { title: 'SeriesLatency' },
      ),
      'from acceptance of the request until key and proof are ready; null without keys',
    ),
    streams: count('streams judged by the statistical suite'),
    nist_compliance_rate: share('share of streams that passed the gate; null without any'),
    failures: count('generate calls with a 5xx response'),
    error_rate: share('failures / (keys + failures); null without calls'),
  },
  { title: 'SeriesPoint' },
);

export const SeriesResult = Type.Object(
  {
    success: Success,
    series: Type.Object(
      {
        step_minutes: chosen(STEP_MINUTES, 'length of a step'),
        start: Timestamp,
        end: Timestamp,
        points: Type.Array(SeriesPoint, {
          minItems: 1,
          maxItems: MAX_STEPS,
          description: 'every step from start to end, aligned to UTC, including quiet ones',
        }),
      },
      { title: 'Series', description: "The caller's account over the period." },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'MetricsSeries' },
);

export type SeriesBody = Static<typeof SeriesResult>;

export const RandomnessQuery = Type.Object({
  keys: Type.Optional(
    Type.Integer({
      minimum: MIN_KEYS,
      maximum: MAX_KEYS,
      default: DEFAULT_KEYS,
      description: 'number of the last validated keys, in decimal digits; at most once',
    }),
  ),
  include: Type.Optional(
    oneOf([P_VALUES], 'string', 'extra field of each row: its p-values; at most once'),
  ),
});

const unjudged = `null for fewer than ${SECOND_LEVEL_MINIMUM_SEQUENCES} samples`;

const PValue = Type.Number({ minimum: 0, maximum: 1 });

const RandomnessRow = Type.Object(
  {
    stream: StreamName,
    test: TestName,
    label: Type.String({
      maxLength: 16,
      description:
        'name of the p-value within its test, as in nist_report; empty if the test has only one',
    }),
    samples: count('keys to whose sample the test applied'),
    histogram: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: 10,
      maxItems: 10,
      description: 'p-values in [0, 0.1), [0.1, 0.2) … [0.9, 1]',
    }),
    uniformity_p: share(`P-value_T of SP 800-22 §4.2.2; ${unjudged}`),
    passed: count('samples with a p-value of at least significance_level'),
    proportion: share(`passed / samples; ${unjudged}`),
    proportion_min: share(`lower end of the interval of SP 800-22 §4.2.1; ${unjudged}`),
    proportion_max: share(`upper end of that interval; ${unjudged}`),
    verdict: orNull(
      oneOf(['pass', 'fail'], 'string', 'label of this service'),
      `fail if the histogram or the count of passed samples is less probable for a sound source than 0.01 divided by the number of all checks; ${unjudged}`,
    ),
    p_values: Type.Optional(
      Type.Array(orNull(PValue, 'rounded down to nine decimals; null if the test did not apply'), {
        maxItems: MAX_KEYS,
        description: 'with include=p_values: one per key, oldest first',
      }),
    ),
  },
  { title: 'RandomnessRow' },
);

export const RandomnessResult = Type.Object(
  {
    success: Success,
    randomness: Type.Object(
      {
        keys: Type.Integer({ minimum: 0, maximum: MAX_KEYS, description: 'keys found' }),
        first: orNull(Timestamp, 'when the oldest key was recorded; null without keys'),
        last: orNull(Timestamp, 'when the newest key was recorded; null without keys'),
        significance_level: Type.Number({
          description: `significance level of one test: ${ALPHA}`,
        }),
        rows: Type.Array(RandomnessRow, {
          description:
            'one for each p-value: the 188 of the suite on the carrier, then the 4 of the tests on the modulated stream',
        }),
      },
      {
        title: 'RandomnessSums',
        description:
          "The samples of the caller's last validated keys, judged together (SP 800-22 §4.2). Keys of old releases, which ran the whole suite on the modulated stream, are left out.",
      },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'Randomness' },
);
