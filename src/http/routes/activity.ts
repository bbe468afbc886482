/** GET /api/v2/metrics. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp, HOUR_MS } from '../../clock.ts';
import type { AccountActivity } from '../../ledger/index.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import {
  ActivityQuery,
  ActivityResult,
  DEFAULT_HOURS,
  MAX_HOURS,
  MIN_HOURS,
} from '../wire/activity-schemas.ts';
import { takesQuery, wholeNumber } from '../wire/query.ts';
import { KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';

const DOCS: OperationDocs = {
  description: `Returns sums over the last \`hours\`. The period starts on a whole minute.

- \`average_latency_ms\` is the mean of the keys' \`latency_ms\`.
- \`nist_compliance_rate\` is the share of judged streams that passed the gate; 1 without any.
- \`error_rate\` is generate calls with a 5xx response divided by these calls plus the generated keys. A failed batch counts once,
  and a successful one by its keys. 4xx do not count.
- \`total_usage\` is metered requests: generated keys and validations.`,
  examples: () => ({
    query: { hours: 24 },
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
          timestamp: EXAMPLE_TIMESTAMP,
        },
      },
    },
  }),
};

export function activityRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: Static<typeof ActivityQuery> }>(
    '/api/v2/metrics',
    {
      schema: {
        operationId: 'metrics',
        summary: "Performance and usage of the caller's account",
        tags: ['metrics'],
        querystring: ActivityQuery,
        response: responses(ActivityResult, [...KEYED_ERRORS, 'invalid_request']),
      },
      config: { scope: 'read', docs: DOCS },
      ...takesQuery({ hours: wholeNumber(MIN_HOURS, MAX_HOURS) }),
    },
    async (request): Promise<Static<typeof ActivityResult>> => {
      const nowMs = clock.nowMs();
      const hours = request.query.hours ?? DEFAULT_HOURS;
      const { accountId } = authenticator.principal(request);
      const sums = await service.activity({ accountId, sinceMs: nowMs - hours * HOUR_MS });
      return {
        success: true,
        metrics: { performance: performance(sums), usage: usage(sums) },
        timestamp: formatTimestamp(nowMs),
        ...warningsOf(request),
      };
    },
  );
}

function performance(sums: AccountActivity) {
  const calls = sums.keys + sums.failures;
  return {
    total_keys_generated: sums.keys,
    average_latency_ms: sums.keys === 0 ? 0 : Math.round(sums.latencyUs / sums.keys) / 1000,
    nist_compliance_rate: sums.streams === 0 ? 1 : sums.streamsPassed / sums.streams,
    error_rate: calls === 0 ? 0 : sums.failures / calls,
  };
}

function usage(sums: AccountActivity) {
  return { api_key_count: sums.activeApiKeys, total_usage: sums.metered };
}
