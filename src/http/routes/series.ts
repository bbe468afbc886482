/** GET /api/v2/metrics/series. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp, HOUR_MS, MINUTE_MS } from '../../clock.ts';
import { type LatencyCounts, latencyPercentileUs, type PeriodSums } from '../../ledger/index.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import {
  DEFAULT_HOURS,
  DEFAULT_MAX_STEPS,
  MAX_HOURS,
  MAX_STEPS,
  MIN_HOURS,
  type SeriesBody,
  SeriesQuery,
  SeriesResult,
  STEP_MINUTES,
  type StepMinutes,
} from '../wire/activity-schemas.ts';
import { numberOutOf, refuseParameter, takesQuery, wholeNumber } from '../wire/query.ts';
import { KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';

type SeriesPoint = SeriesBody['series']['points'][number];

const DOCS: OperationDocs = {
  description: `Returns the same sums in steps aligned to UTC. Quiet steps are present, with zeros.

- Without \`step\` you get the shortest that gives at most 300 steps, or 1440.
- \`keys_per_second\` divides by the step's length, in the last step by the time that has passed.
- Percentiles come from a histogram; the schema states their relative error. \`null\` means that there are no data.`,
  examples: () => ({
    query: { hours: 1, step: 5 },
    answers: {
      steps: {
        summary: 'one step of five minutes',
        value: {
          success: true,
          series: {
            step_minutes: 5,
            start: '2026-01-31T11:55:00.000+00:00',
            end: EXAMPLE_TIMESTAMP,
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
          timestamp: EXAMPLE_TIMESTAMP,
        },
      },
    },
  }),
};

export function seriesRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: Static<typeof SeriesQuery> }>(
    '/api/v2/metrics/series',
    {
      schema: {
        operationId: 'metricsSeries',
        summary: "The caller's account over time",
        tags: ['metrics'],
        querystring: SeriesQuery,
        response: responses(SeriesResult, [...KEYED_ERRORS, 'invalid_request']),
      },
      config: { scope: 'read', docs: DOCS },
      ...takesQuery({ hours: wholeNumber(MIN_HOURS, MAX_HOURS), step: numberOutOf(STEP_MINUTES) }),
    },
    async (request): Promise<SeriesBody> => {
      const nowMs = clock.nowMs();
      const hours = request.query.hours ?? DEFAULT_HOURS;
      const stepMinutes = chooseStep(hours, request.query.step);
      const stepMs = stepMinutes * MINUTE_MS;
      const startMs = Math.floor((nowMs - hours * HOUR_MS) / stepMs) * stepMs;
      const steps = Math.floor(nowMs / stepMs) - startMs / stepMs + 1;
      const { accountId } = authenticator.principal(request);
      const sums = await service.series({ accountId, startMs, stepMinutes, steps });
      return {
        success: true,
        series: {
          step_minutes: stepMinutes,
          start: formatTimestamp(startMs),
          end: formatTimestamp(nowMs),
          points: sums.map((sum, i) => toPoint(sum, startMs + i * stepMs, stepMs, nowMs)),
        },
        timestamp: formatTimestamp(nowMs),
        ...warningsOf(request),
      };
    },
  );
}

/** Returns the maximum number of steps that a period can touch, whenever it begins. */
const maxSteps = (hours: number, step: StepMinutes) => Math.ceil((hours * 60) / step) + 1;

/** Returns the requested step, or without one the shortest with a short response. Throws if there are too many steps. */
function chooseStep(hours: number, asked: StepMinutes | undefined): StepMinutes {
  const smallest = (most: number) =>
    STEP_MINUTES.find((step) => maxSteps(hours, step) <= most) ?? 1_440;
  if (asked === undefined) return smallest(DEFAULT_MAX_STEPS);
  if (maxSteps(hours, asked) <= MAX_STEPS) return asked;
  throw refuseParameter(
    'step',
    `must be at least ${smallest(MAX_STEPS)} for ${hours} hours, because a response has at most ${MAX_STEPS} steps; got ${asked}`,
  );
}

function toPoint(sums: PeriodSums, startMs: number, stepMs: number, nowMs: number): SeriesPoint {
  const { keys, streams, failures } = sums;
  const lengthMs = Math.max(1_000, Math.min(stepMs, nowMs - startMs));
  const calls = keys + failures;
  return {
    start: formatTimestamp(startMs),
    keys,
    keys_per_second: (keys * 1_000) / lengthMs,
    requests: sums.metered,
    latency_ms: keys === 0 ? null : latency(sums),
    streams,
    nist_compliance_rate: streams === 0 ? null : sums.streamsPassed / streams,
    failures,
    error_rate: calls === 0 ? null : failures / calls,
  };
}

function latency({ keys, latencyUs, latencies }: PeriodSums): SeriesPoint['latency_ms'] {
  return {
    mean: Math.round(latencyUs / keys) / 1_000,
    p50: percentileMs(latencies, 0.5),
    p90: percentileMs(latencies, 0.9),
    p99: percentileMs(latencies, 0.99),
  };
}

function percentileMs(latencies: LatencyCounts | null, share: number): number | null {
  return latencies && Math.round(latencyPercentileUs(latencies, share)) / 1_000;
}
