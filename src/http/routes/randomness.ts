/** GET /api/v2/metrics/randomness. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import {
  DEFAULT_KEYS,
  MAX_KEYS,
  MIN_KEYS,
  P_VALUES,
  RandomnessQuery,
  RandomnessResult,
} from '../wire/activity-schemas.ts';
import { takesQuery, wholeNumber, word } from '../wire/query.ts';
import { writeRandomness } from '../wire/randomness.ts';
import { KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';

const DOCS: OperationDocs = {
  description: `Returns the p-values of the last validated keys, judged together as SP 800-22 §4.2 judges many sequences.

- Each row is one p-value of one \`stream\`: 188 of the generator's output before modulation, and four after modulation, which
  look for defects of the modulation and say nothing about the generator.
- A row shows whether its p-values are spread evenly (\`histogram\`, \`uniformity_p\`), and whether as many passed as expected
  (\`proportion\` between \`proportion_min\` and \`proportion_max\`).
- The interval is SP 800-22's for a single row: of 192 rows, some lie outside by chance. \`verdict\` corrects for the number of
  rows: by chance at most one query in a hundred shows any \`fail\`.
- Below 55 samples the verdict is \`null\`.
- \`include=p_values\` adds the p-values themselves, \`null\` where a test did not apply to a sample.`,
  examples: () => ({
    query: { keys: 100 },
    answers: {
      row: {
        summary: 'the first of the rows',
        value: {
          success: true,
          randomness: {
            keys: 100,
            first: '2026-01-30T09:12:44.120+00:00',
            last: EXAMPLE_TIMESTAMP,
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
          timestamp: EXAMPLE_TIMESTAMP,
        },
      },
    },
  }),
};

/**
 * Keys that take one place of the rate limit: about as much processor time as one validated key. Each p-value that is
 * listed is also written and sent (measured: 171 ms for 1,000 keys with their p-values, 3 ms for a validated key).
 */
const JUDGED_PER_PLACE = 50;
const LISTED_PER_PLACE = 20;

export function randomnessRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: Static<typeof RandomnessQuery> }>(
    '/api/v2/metrics/randomness',
    {
      schema: {
        operationId: 'randomness',
        summary: "The p-values of the caller's last validated keys",
        tags: ['metrics'],
        querystring: RandomnessQuery,
        response: responses(RandomnessResult, [...KEYED_ERRORS, 'invalid_request']),
      },
      config: { scope: 'read', docs: DOCS },
      ...takesQuery({ keys: wholeNumber(MIN_KEYS, MAX_KEYS), include: word(P_VALUES) }),
    },
    async (request, reply) => {
      const { accountId } = authenticator.principal(request);
      const { keys = DEFAULT_KEYS, include } = request.query;
      const places = Math.ceil(keys / (include === P_VALUES ? LISTED_PER_PLACE : JUDGED_PER_PLACE));
      authenticator.takeMore(request, reply, places, `A judgement of ${keys} keys`);
      const randomness = await service.randomness({
        accountId,
        keys,
        withPValues: include === P_VALUES,
      });
      const rest = { timestamp: formatTimestamp(clock.nowMs()), ...warningsOf(request) };
      return reply
        .type('application/json; charset=utf-8')
        .send(await writeRandomness(randomness, rest));
    },
  );
}
